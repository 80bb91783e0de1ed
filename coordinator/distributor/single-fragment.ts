import type { SqlText } from '#proto/task.ts';
import type { PreparedQuery } from '../planner/prepared-query.ts';

/** The whole query as the one fragment of one worker: what a cluster of one, a small query and a query without a plan run as. */
export const singleFragment = (query: PreparedQuery): SqlText => query.workerSql;
