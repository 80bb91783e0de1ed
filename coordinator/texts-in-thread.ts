import { inThread } from '#shared/thread/work.ts';
import { readQueryBody } from './api/http/read-query-body.ts';
import { readStatement } from './prepare/read-statement.ts';

/** Worker-thread versions of the functions that read large texts of clients. */

export const readLargeBody = inThread(readQueryBody);
export const readLargeStatement = inThread(readStatement);
