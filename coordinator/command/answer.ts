import type { Json } from '#shared/json.ts';
import type { OutputColumn } from '../query/result-sink.ts';

/** The result of a statement that the coordinator answers by itself: a few rows, in memory. */
export type Answer = { readonly columns: readonly OutputColumn[]; readonly rows: readonly (readonly Json[])[] };

/** A result whose columns are all VARCHAR. */
export const textResult = (columns: readonly string[], rows: readonly (readonly Json[])[]): Answer => ({
  columns: columns.map((name) => ({ name, typeName: 'VARCHAR' })),
  rows,
});

/** What statements without rows answer. */
export const statusResult = (status: string): Answer => textResult(['status'], [[status]]);
