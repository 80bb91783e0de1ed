import { inThread } from '#shared/thread/work.ts';
import { readQueryBody } from './read-query-body.ts';

/** Reads a large request body in a worker thread. */
export const readLargeBody = inThread(readQueryBody);
