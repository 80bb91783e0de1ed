import type { ApiError } from '../api/call.ts';

/** Advice to a person about an error, by its code. */
const ADVICE: Readonly<Record<string, string>> = {
  OFFLINE: 'Is the coordinator up, and the network? The statement goes on if it has reached the coordinator.',
  SYNTAX_ERROR: 'The place is marked in the text.',
  COLUMN_NOT_FOUND: 'The place is marked in the text; the tree has the names.',
  TABLE_NOT_FOUND: 'The tree has the names; the pickers choose catalog and schema.',
  FORBIDDEN: 'You have no right to this: an administrator can grant it.',
  QUEUE_FULL: 'Too much waits already: run it again in a moment.',
  QUERY_TIMEOUT: 'Choose a longer timeout, or ask for less.',
  QUERY_CANCELLED: 'It was cancelled. Nothing of it goes on.',
  RESULT_TOO_LARGE: 'Ask for fewer rows, or export all rows into a file.',
  OUT_OF_MEMORY: 'Ask for less at once, or for class batch.',
  MEMORY_EXHAUSTED: 'Ask for less at once, or for class batch.',
  NOT_ACTIVE: 'This coordinator stands by: another one leads. Sign in there.',
  NO_WORKERS: 'No worker is ready: the page Cluster shows them.',
  WORKER_LOST: 'A worker was lost: run it again.',
  TRANSACTION_FAILED: 'ROLLBACK ends the transaction.',
  INTERRUPTED: 'The connection broke: the statement may have ended. The history says.',
};

export const adviceFor = ({ code }: ApiError): string => ADVICE[code] ?? '';
