import { onePage } from '../catalog-client/pages.ts';
import { RECORDS_MAX } from '../history/history-request.ts';
import type { LiveQuery } from '../operation/live-query.ts';
import { pagedTextResult } from '../operation/answer.ts';
import { rowsCommand } from './rows-command.ts';

/** `SHOW QUERIES`: the statements that wait, and why, or run now and that the caller may see, the oldest first; this one is among them. */
export const showQueries = rowsCommand<null>({
  words: ['SHOW QUERIES', 'SHOW PROCESSLIST'],
  queryType: 'show',
  timeout: 'session',
  parse(reader) {
    reader.words(2);
    reader.end();
    return null;
  },
  action: () => 'query.read',
  rows(_input, { records }) {
    const rows = records.live(RECORDS_MAX).map((query) => Object.values(COLUMNS).map((of) => of(query)));
    return Promise.resolve(pagedTextResult(Object.keys(COLUMNS), onePage(rows)));
  },
});

const timeOf = (ms: number | null): string | null => (ms === null ? null : new Date(ms).toISOString());

const COLUMNS = {
  query_id: (one) => one.queryId,
  state: (one) => one.state,
  user_id: (one) => one.principal,
  username: (one) => one.username,
  query_type: (one) => one.queryType,
  source: (one) => one.source,
  resource_group: (one) => one.resourceGroup,
  priority: (one) => String(one.priority),
  workload_class: (one) => one.classification?.workClass ?? null,
  queue_position: (one) => (one.waiting === null ? null : String(one.waiting.position)),
  reason: (one) => one.waiting?.reason ?? null,
  queued_at: (one) => timeOf(one.queuedAtMs),
  started_at: (one) => timeOf(one.startedAtMs),
  elapsed_ms: (one) => String(Math.round(one.elapsedMs)),
  rows_produced: (one) => String(one.rowsProduced),
  bytes_scanned: (one) => String(one.progress.bytesScanned),
  tasks: (one) => String(one.progress.tasks),
  tasks_running: (one) => String(one.progress.tasksRunning),
  tasks_done: (one) => String(one.progress.tasksDone),
  sql: (one) => one.sql,
} as const satisfies Readonly<Record<string, (query: LiveQuery) => string | null>>;
