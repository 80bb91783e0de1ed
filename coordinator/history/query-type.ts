/** The kinds of statements, as history and routing rules name them. */
export const QUERY_TYPES = [
  'select',
  'insert',
  'update',
  'delete',
  'merge',
  'copy',
  'ctas',
  'ddl',
  'maintenance',
  'show',
  'set',
  'transaction',
  'explain',
  'unknown',
] as const;

export type QueryType = (typeof QUERY_TYPES)[number];
