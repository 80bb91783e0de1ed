import { onePage } from '../catalog-client/pages.ts';
import { RECORDS_MAX } from '../history/history-request.ts';
import type { LiveQuery } from '../operation/live-query.ts';
import { formPages, type RowForm } from '../operation/row-form.ts';
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
  rows: (_input, { records }) => Promise.resolve(formPages(COLUMNS, onePage(records.live(RECORDS_MAX)))),
});

const timeOf = (ms: number | null): string | null => (ms === null ? null : new Date(ms).toISOString());

const COLUMNS: RowForm<LiveQuery> = {
  query_id: ['VARCHAR', (one) => one.queryId],
  state: ['VARCHAR', (one) => one.state],
  user_id: ['VARCHAR', (one) => one.principal],
  username: ['VARCHAR', (one) => one.username],
  query_type: ['VARCHAR', (one) => one.queryType],
  source: ['VARCHAR', (one) => one.source],
  resource_group: ['VARCHAR', (one) => one.resourceGroup],
  priority: ['INTEGER', (one) => one.priority],
  workload_class: ['VARCHAR', (one) => one.classification?.workClass ?? null],
  queue_position: ['INTEGER', (one) => one.waiting?.position ?? null],
  reason: ['VARCHAR', (one) => one.waiting?.reason ?? null],
  queued_at: ['TIMESTAMP WITH TIME ZONE', (one) => timeOf(one.queuedAtMs)],
  started_at: ['TIMESTAMP WITH TIME ZONE', (one) => timeOf(one.startedAtMs)],
  elapsed_ms: ['BIGINT', (one) => Math.round(one.elapsedMs)],
  rows_produced: ['BIGINT', (one) => one.rowsProduced],
  bytes_scanned: ['BIGINT', (one) => one.progress.bytesScanned],
  tasks: ['INTEGER', (one) => one.progress.tasks],
  tasks_running: ['INTEGER', (one) => one.progress.tasksRunning],
  tasks_done: ['INTEGER', (one) => one.progress.tasksDone],
  sql: ['VARCHAR', (one) => one.sql],
};
