import { inPages } from '../catalog-client/pages.ts';
import type { GroupSnapshot } from '../workload/group-snapshot.ts';
import { formPages, type RowForm } from '../operation/row-form.ts';
import { rowsCommand } from './rows-command.ts';

/** Rows that are made in one turn: a group made from a template stands there for each of thousands of users. */
const PAGE_ROWS = 500;

/** `SHOW RESOURCE GROUPS`: the groups that statements of the caller's tenant can reach, each before the groups below it. */
export const showResourceGroups = rowsCommand<null>({
  words: ['SHOW RESOURCE GROUPS'],
  queryType: 'show',
  timeout: 'session',
  parse(reader) {
    reader.words(3);
    reader.end();
    return null;
  },
  action: () => 'stats.read',
  rows: (_input, { records }) => Promise.resolve(formPages(COLUMNS, inPages(records.groups(), PAGE_ROWS))),
});

/** The columns that the service specification names (SQL statements, Session and monitoring). */
const COLUMNS: RowForm<GroupSnapshot> = {
  path: ['VARCHAR', (one) => one.path],
  running: ['INTEGER', (one) => one.running],
  queued: ['INTEGER', (one) => one.queued],
  hard_concurrency_limit: ['INTEGER', (one) => one.hardConcurrencyLimit],
  soft_concurrency_limit: ['INTEGER', (one) => one.softConcurrencyLimit],
  scheduling_policy: ['VARCHAR', (one) => one.schedulingPolicy],
  cpu_time_ms: ['BIGINT', (one) => Math.round(one.cpuTimeMs)],
};
