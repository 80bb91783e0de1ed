import type { StatementReader } from '../statement/statement-reader.ts';
import type { Pages } from '../catalog-client/pages.ts';
import { ALL_RECORDS, RECORDS_DEFAULT, SHOWN_RECORDS_MAX, type HistoryEntry } from '../history/history-request.ts';
import { pagedTextResult } from '../operation/answer.ts';
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
    Promise.resolve(pagedTextResult(Object.keys(COLUMNS), rowsOf(records.history({ ...ALL_RECORDS, limit, like })))),
});

async function* rowsOf(pages: Pages<HistoryEntry>): Pages<readonly (string | null)[]> {
  for await (const page of pages) yield page.map((one) => Object.values(COLUMNS).map((of) => of(one)));
}

/** A column for each field of the record (service specification, Query history record). */
const COLUMNS = {
  query_id: (one) => one.queryId,
  status: (one) => one.status,
  sql: (one) => one.sql,
  user_id: (one) => one.userId,
  tenant_id: (one) => one.tenantId,
  query_type: (one) => one.queryType,
  resource_group: (one) => one.resourceGroup,
  priority: (one) => String(one.priority),
  queued_at: (one) => one.queuedAt,
  started_at: (one) => one.startedAt,
  ended_at: (one) => one.endedAt,
  duration_ms: (one) => (one.durationMs === null ? null : String(one.durationMs)),
  rows_produced: (one) => String(one.rowsProduced),
  bytes_scanned: (one) => String(one.bytesScanned),
  fragments: (one) => String(one.fragments),
  error_message: (one) => one.errorMessage,
  cu_consumed: (one) => String(one.cuConsumed),
} as const satisfies Readonly<Record<string, (entry: HistoryEntry) => string | null>>;

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
