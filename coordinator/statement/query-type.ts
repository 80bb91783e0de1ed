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

const READING: ReadonlySet<string> = new Set<QueryType>(['select', 'show', 'set', 'explain', 'unknown']);

/** Whether statements of this type change nothing that outlives their session. */
export const onlyReads = (type: string): boolean => READING.has(type);
