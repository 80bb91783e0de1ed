import type { StatementReader } from '../statement/statement-reader.ts';
import { ALL_RECORDS, RECORDS_DEFAULT, SHOWN_RECORDS_MAX, type HistoryEntry } from '../history/history-request.ts';
import { formPages, type RowForm } from '../operation/row-form.ts';
import { takeLike } from './like.ts';
import { rowsCommand } from './rows-command.ts';

/** `SHOW QUERY HISTORY [LIMIT n] [LIKE 'pattern']`: the newest first; LIKE is about the statement's text. */
export const showQueryHistory = rowsCommand<{ readonly limit: number; readonly like: string | null }>({
  words: ['SHOW QUERY HISTORY'],
  queryType: 'show',
  timeout: 'session',
  parse(reader) {
    reader.words(3);
    const limit = takeLimit(reader);
    const like = takeLike(reader);
    reader.end();
    return { limit: limit ?? RECORDS_DEFAULT, like };
  },
  action: () => 'query.read',
  rows: ({ limit, like }, { records }) =>
    Promise.resolve(formPages(COLUMNS, records.history({ ...ALL_RECORDS, limit, like }))),
});

/** A column for each field of the record (service specification, Query history record). */
const COLUMNS: RowForm<HistoryEntry> = {
  query_id: ['VARCHAR', (one) => one.queryId],
  status: ['VARCHAR', (one) => one.status],
  sql: ['VARCHAR', (one) => one.sql],
  user_id: ['VARCHAR', (one) => one.userId],
  tenant_id: ['VARCHAR', (one) => one.tenantId],
  query_type: ['VARCHAR', (one) => one.queryType],
  resource_group: ['VARCHAR', (one) => one.resourceGroup],
  priority: ['INTEGER', (one) => one.priority],
  queued_at: ['TIMESTAMP WITH TIME ZONE', (one) => one.queuedAt],
  started_at: ['TIMESTAMP WITH TIME ZONE', (one) => one.startedAt],
  ended_at: ['TIMESTAMP WITH TIME ZONE', (one) => one.endedAt],
  duration_ms: ['BIGINT', (one) => one.durationMs],
  rows_produced: ['BIGINT', (one) => one.rowsProduced],
  bytes_scanned: ['BIGINT', (one) => one.bytesScanned],
  fragments: ['INTEGER', (one) => one.fragments],
  error_message: ['VARCHAR', (one) => one.errorMessage],
  cu_consumed: ['DOUBLE', (one) => one.cuConsumed],
};

/** `LIMIT n`; null without it. @throws SYNTAX_ERROR, INVALID_REQUEST */
function takeLimit(reader: StatementReader): number | null {
  if (!reader.takeWord('LIMIT')) return null;
  const error = reader.error('INVALID_REQUEST', `LIMIT takes a whole number from 1 to ${SHOWN_RECORDS_MAX}`);
  const text = reader.takeNumber();
  if (text === null) throw reader.expected('a number');
  const limit = Number(text);
  if (!Number.isInteger(limit) || limit < 1 || limit > SHOWN_RECORDS_MAX) throw error;
  return limit;
}
