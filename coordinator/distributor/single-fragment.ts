import type { PreparedQuery } from '../binding/prepared-query.ts';
import type { TaskWidth, WholeFragment } from './fragment.ts';

/** The whole query as the one fragment of one task: what a cluster of one, a small query and a query without a plan run as. */
export const singleFragment = (query: PreparedQuery, width: TaskWidth): WholeFragment => ({
  stage: 0,
  plan: null,
  partitions: 1,
  sql: query.workerSql,
  scans: query.scans.map((_, scan) => ({ scan, read: 'all' })),
  inputs: [],
  tasks: { kind: 'single' },
  width,
  collected: query.features.selective,
  repeatable: false,
});
