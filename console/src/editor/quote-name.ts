import { quoteIdentifier } from '#shared/sql/quote.ts';
import { RESERVED_WORDS } from '#shared/sql/reserved-words.ts';

const PLAIN = /^[a-z_][a-z0-9_]*$/;

/** A name as a statement may have it: with quotes where it needs them. */
export const quoteName = (name: string): string =>
  PLAIN.test(name) && !RESERVED_WORDS.has(name.toUpperCase()) ? name : quoteIdentifier(name);

/** @param schema its levels are joined by dots: a statement has them as one name, in quotes */
export const quotePath = (catalog: string | null, schema: string | null, name: string | null): string =>
  [catalog, schema, name]
    .filter((part) => part !== null)
    .map(quoteName)
    .join('.');
