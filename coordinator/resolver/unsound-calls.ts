import type { JsonObject } from '#shared/json.ts';

/**
 * Aggregates of two arguments whose answers are wrong where DuckDB 1.5.5 combines states, as it does for groups and windows: a state whose
 * least key is NULL counts as one with the key zero. Each has a spelling of the same meaning that is right (`docs/duckdb.md`).
 */
const INSTEAD: Readonly<Record<string, string>> = {
  arg_min_nulls_last: 'arg_min_null(value, [key])',
  arg_max_nulls_last: 'arg_max_null(value, list_distinct([key]))',
};

/** Returns how a call that DuckDB answers wrongly is to be written; undefined for any other. `call` is a node of the syntax tree. */
export function spellingInstead(name: string, call: JsonObject): string | undefined {
  if (!Object.hasOwn(INSTEAD, name)) return undefined;
  // Those with a number of rows keep all of them in a state, and are right.
  return (call['children'] as readonly unknown[]).length === 2 ? INSTEAD[name] : undefined;
}
