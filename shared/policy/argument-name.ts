import { quoteIdentifier } from '#shared/sql/quote.ts';

/**
 * How a completed body spells an argument, by its place from 0: no column that a table gets later is called so, and so none can come in its
 * place.
 */
export const argumentName = (i: number): string => `policy argument ${i + 1}`;

/** A completed body with the arguments as their maker has called them, for people. */
export const shownBody = (body: string, shown: readonly string[]): string =>
  shown.reduce((text, name, i) => text.replaceAll(quoteIdentifier(argumentName(i)), quoteIdentifier(name)), body);
