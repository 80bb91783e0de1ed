import type { PostgresPart } from '../../binding/planner.ts';

/** A text that is written anew from the tree of a statement. */
export type Sql = readonly PostgresPart[];

/** Joins texts of our own and parts of the statement. */
export function form(strings: TemplateStringsArray, ...values: readonly (Sql | string)[]): Sql {
  const parts: PostgresPart[] = [];
  for (const [i, text] of strings.entries()) {
    if (text !== '') parts.push({ text, at: null });
    const value = values[i];
    if (typeof value === 'string') parts.push({ text: value, at: null });
    // One by one: a list of names has more parts than a call takes arguments.
    else for (const part of value ?? []) parts.push(part);
  }
  return parts;
}

export const words = (of: string, at: number | null = null): Sql => [{ text: of, at }];

export const join = (all: readonly Sql[], separator: string): Sql =>
  all.flatMap((one, i) => (i === 0 ? one : [{ text: separator, at: null }, ...one]));

/** The same, as made of a place: errors that DuckDB finds in it are told there. */
export const at = (place: number | undefined, of: Sql): Sql =>
  place === undefined || place < 0 ? of : [{ text: '', at: place }, ...of];
