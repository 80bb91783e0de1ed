import { inPages } from '../catalog-client/pages.ts';
import type { GroupSnapshot } from '../workload/group-snapshot.ts';
import { pagedTextResult } from '../operation/answer.ts';
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
  rows(_input, { records }) {
    const rows = records.groups().map((group) => Object.values(COLUMNS).map((of) => of(group)));
    return Promise.resolve(pagedTextResult(Object.keys(COLUMNS), inPages(rows, PAGE_ROWS)));
  },
});

/** The columns that the service specification names (SQL statements, Session and monitoring). */
const COLUMNS = {
  path: (one) => one.path,
  running: (one) => String(one.running),
  queued: (one) => String(one.queued),
  hard_concurrency_limit: (one) => String(one.hardConcurrencyLimit),
  soft_concurrency_limit: (one) => String(one.softConcurrencyLimit),
  scheduling_policy: (one) => one.schedulingPolicy,
  cpu_time_ms: (one) => String(Math.round(one.cpuTimeMs)),
} as const satisfies Readonly<Record<string, (group: GroupSnapshot) => string>>;
