import { inThread } from '#shared/thread/work.ts';
import { readStatement } from './read-statement.ts';

/** Reads a large statement in a worker thread. */
export const readLargeStatement = inThread(readStatement);
