import { sql, type Kysely } from 'kysely';
import { SkeinError } from '#shared/error.ts';
import { FairGate } from '#shared/fair/fair-gate.ts';
import { managesPolicies, mayDo, type Caller } from '../auth/authenticate.ts';
import type { Pages } from '../catalog-client/pages.ts';
import type { HistoryDatabase, StoredRow } from './history-database.ts';
import { isOpen, type HistoryRow } from './history-record.ts';
import {
  RECORDS_MAX,
  SUMMARY_LINES_MAX,
  type HistoryEntry,
  type HistoryRequest,
  type SummaryLine,
  type SummaryRequest,
} from './history-request.ts';
import type { History } from './open-history.ts';
import { withoutPolicies } from './without-policies.ts';
import { profileIn } from './profile-batch.ts';

/** Reads at a time: they share the connections with the writer, which must not wait for them. */
const READS_AT_ONCE = 4;
const READS_WAITING_MAX = 100;
/** Time of one read, so that a filter that no index serves ends. */
const READ_TIMEOUT = '10s';
/** Time that a read waits for records that are not in Postgres yet. */
const STORED_WAIT_MS = 1_000;

type Profiled = { readonly row: StoredRow; readonly profile: string | null };

type ReaderOptions = {
  readonly retentionMs: number;
  /** How a statement that goes on has run so far, as JSON or null; undefined when it does not run in this process. */
  readonly live: (row: StoredRow) => string | null | undefined;
};

/**
 * Reads the history for those who may see it: a principal its own records, an administrator those of its tenant. What a caller was answered
 * before it asks is there.
 */
export class HistoryReader {
  readonly #db: Kysely<HistoryDatabase>;
  readonly #history: History;
  readonly #options: ReaderOptions;
  readonly #gate = new FairGate({ atOnce: READS_AT_ONCE, waitingMax: READS_WAITING_MAX, what: 'the history' });

  constructor(db: Kysely<HistoryDatabase>, history: History, options: ReaderOptions) {
    this.#db = db;
    this.#history = history;
    this.#options = options;
  }

  /** The records that match, the newest first. @throws QUEUE_FULL, QUERY_TIMEOUT, CATALOG_UNAVAILABLE */
  list(caller: Caller, asked: HistoryRequest): Promise<readonly HistoryEntry[]> {
    return this.#page(caller, asked, null).then((rows) => rows.map(asked.allFields ? wholeEntry : entryOf));
  }

  /** The same records page by page, each `RECORDS_MAX` of them at most. One that comes meanwhile is on no later page. @throws as `list` */
  async *pages(caller: Caller, asked: HistoryRequest): Pages<HistoryEntry> {
    let after: StoredRow | null = null;
    for (let left = asked.limit; left > 0;) {
      const limit = Math.min(left, RECORDS_MAX);
      const rows: readonly StoredRow[] = await this.#page(caller, { ...asked, limit }, after);
      yield rows.map(entryOf);
      if (rows.length < limit) return;
      left -= rows.length;
      after = rows.at(-1) ?? null;
    }
  }

  /** The records that match: without the first `offset`, or those that come after a record of the list. */
  #page(caller: Caller, asked: HistoryRequest, after: StoredRow | null): Promise<readonly StoredRow[]> {
    if (hasNul(asked)) return Promise.resolve([]);
    return this.#read(caller, async (db) => {
      const sort = asked.sort ?? '-queued_at';
      const direction = sort.startsWith('-') ? 'desc' : 'asc';
      const column = sort.replace('-', '') as SortedColumn;
      const query = this.#filtered(db, caller, asked)
        .orderBy(column, (order) => (direction === 'desc' ? order.desc() : order.asc()).nullsLast())
        .orderBy('record_id', direction);
      if (after === null) return query.selectAll().limit(asked.limit).offset(asked.offset).execute();
      const { queued_at: last, record_id: id } = after;
      const isLater = query
        .where('queued_at', '<=', last)
        .where((eb) => eb.or([eb('queued_at', '<', last), eb('record_id', '<', id)]));
      return isLater.selectAll().limit(asked.limit).execute();
    });
  }

  /** The last record under this id; undefined when the caller can see none. @throws as `list` */
  async find(caller: Caller, queryId: string): Promise<HistoryEntry | undefined> {
    const row = await this.#read(caller, (db) => this.#lastOf(db, caller, queryId));
    return row === undefined ? undefined : entryOf(row);
  }

  /** How the query of this id ran, as JSON; undefined when the caller can see none. @throws as `list` */
  async profile(caller: Caller, queryId: string): Promise<string | undefined> {
    const found = await this.#profile(caller, queryId);
    if (found === undefined) return undefined;
    const { row } = found;
    const profile = found.profile === null || managesPolicies(caller) ? found.profile : withoutPolicies(found.profile);
    const times = JSON.stringify({
      queryId: row.query_id,
      status: row.status,
      queuedAt: row.queued_at.toISOString(),
      startedAt: row.started_at?.toISOString() ?? null,
      endedAt: row.ended_at?.toISOString() ?? null,
    });
    // Both are objects, and neither is parsed again.
    return profile === null ? times : `${times.slice(0, -1)},${profile.slice(1)}`;
  }

  /** A record and what is known of how its statement ran: by this process, while it goes on, else what is stored. */
  async #profile(caller: Caller, queryId: string): Promise<Profiled | undefined> {
    const stored = await this.#stored(caller, queryId);
    if (stored === undefined || !isOpen(stored.row.status)) return stored;
    const profile = this.#options.live(stored.row);
    // It may have ended since its record was read.
    return profile === undefined ? this.#stored(caller, queryId) : { row: stored.row, profile };
  }

  #stored(caller: Caller, queryId: string): Promise<Profiled | undefined> {
    return this.#read(caller, async (db) => {
      const row = await this.#lastOf(db, caller, queryId);
      if (row === undefined) return undefined;
      const found = await db
        .selectFrom('query_profiles')
        .where('record_id', '=', row.profile_batch ?? row.record_id)
        .select(['profile', 'batch'])
        .limit(1)
        .executeTakeFirst();
      const batch = found?.batch ?? null;
      return { row, profile: batch === null ? (found?.profile ?? null) : profileIn(batch, row.record_id) };
    });
  }

  #lastOf(db: Kysely<HistoryDatabase>, caller: Caller, queryId: string): Promise<StoredRow | undefined> {
    return this.#visible(db, caller)
      .where('query_id', '=', queryId)
      .orderBy('queued_at', 'desc')
      .orderBy('record_id', 'desc')
      .selectAll()
      .limit(1)
      .executeTakeFirst();
  }

  #visible(db: Kysely<HistoryDatabase>, caller: Caller) {
    const { tenant, sub } = caller.claims;
    const own = db
      .selectFrom('query_history')
      .where('tenant_id', '=', tenant)
      .where('queued_at', '>=', new Date(Date.now() - this.#options.retentionMs));
    return mayDo(caller, 'query.list') ? own : own.where('user_id', '=', sub);
  }

  /** The records that match, in numbers, the latest first; more than `SUMMARY_LINES_MAX` lines are cut. @throws as `list` */
  async summary(
    caller: Caller,
    asked: HistoryRequest,
    { by, bucketSeconds }: SummaryRequest,
  ): Promise<{ readonly lines: readonly SummaryLine[]; readonly isCut: boolean }> {
    if (hasNul(asked)) return { lines: [], isCut: false };
    const bucket =
      bucketSeconds === null
        ? sql<Date | null>`cast(null as timestamptz)`
        : sql<Date | null>`date_bin(make_interval(secs => ${bucketSeconds}), queued_at, timestamptz 'epoch')`;
    const value =
      by === null ? sql<string | null>`cast(null as text)` : sql<string | null>`cast(${sql.ref(by)} as text)`;
    const rows = await this.#read(caller, (db) =>
      this.#filtered(db, caller, asked)
        .select(({ fn }) => [
          bucket.as('bucket'),
          value.as('value'),
          fn.countAll<string>().as('count'),
          fn.sum<string | null>('duration_ms').as('duration'),
          fn.sum<string>('rows_produced').as('rows'),
          fn.sum<string>('bytes_scanned').as('bytes'),
          fn.sum<string>('cu_consumed').as('units'),
        ])
        .groupBy([sql`1`, sql`2`])
        .orderBy(sql`1 desc nulls last, 3 desc, 2`)
        .limit(SUMMARY_LINES_MAX + 1)
        .execute(),
    );
    const lines = rows.slice(0, SUMMARY_LINES_MAX).map((row) => ({
      bucket: row.bucket?.toISOString() ?? null,
      value: row.value,
      count: Number(row.count),
      durationMs: Number(row.duration ?? 0),
      rowsProduced: Number(row.rows),
      bytesScanned: Number(row.bytes),
      cuConsumed: Number(row.units),
    }));
    return { lines, isCut: rows.length > SUMMARY_LINES_MAX };
  }

  /** The records that the caller may see and that the filters leave. */
  #filtered(db: Kysely<HistoryDatabase>, caller: Caller, asked: HistoryRequest) {
    const { status, user, queryType, resourceGroup, minDurationMs, text, like, from, to } = asked;
    let query = this.#visible(db, caller);
    if (status !== null) query = query.where('status', '=', status as HistoryRow['status']);
    if (user !== null) query = query.where((eb) => eb.or([eb('user_id', '=', user), eb('username', '=', user)]));
    if (queryType !== null) query = query.where('query_type', '=', queryType);
    if (resourceGroup !== null) query = query.where('resource_group', '=', resourceGroup);
    if (minDurationMs !== null) query = query.where('duration_ms', '>=', minDurationMs);
    if (text !== null) query = query.where('sql', 'ilike', `%${text.replaceAll(/[\\%_]/g, '\\$&')}%`);
    if (like !== null) query = query.where('sql', 'like', wholePattern(like));
    if (from !== null) query = query.where('queued_at', '>=', from);
    if (to !== null) query = query.where('queued_at', '<', to);
    return query;
  }

  async #read<T>({ claims }: Caller, work: (db: Kysely<HistoryDatabase>) => Promise<T>): Promise<T> {
    const asker = { tenant: claims.tenant, principal: claims.sub };
    return this.#gate.run(asker, async () => {
      await this.#history.stored(STORED_WAIT_MS);
      try {
        return await this.#db.transaction().execute(async (transaction) => {
          await sql`set local statement_timeout = ${sql.lit(READ_TIMEOUT)}`.execute(transaction);
          return await work(transaction);
        });
      } catch (cause) {
        throw readError(cause);
      }
    });
  }
}

const STATEMENT_TIMEOUT = '57014';

function readError(cause: unknown): SkeinError {
  if ((cause as { readonly code?: string }).code === STATEMENT_TIMEOUT) {
    return new SkeinError('QUERY_TIMEOUT', `the history was not read within ${READ_TIMEOUT}: narrow it by from and to`);
  }
  return new SkeinError('CATALOG_UNAVAILABLE', 'the history cannot be read now', { cause });
}

/** A pattern of LIKE whose last character escapes nothing: Postgres refuses such a one. */
function wholePattern(like: string): string {
  let at = like.length;
  while (at > 0 && like[at - 1] === '\\') at -= 1;
  return (like.length - at) % 2 === 1 ? `${like}\\` : like;
}

type SortedColumn = 'queued_at' | 'duration_ms' | 'rows_produced' | 'bytes_scanned' | 'cu_consumed';

/** Whether a filter has a NUL: Postgres takes none, and no record has one. */
const hasNul = (asked: HistoryRequest): boolean =>
  [asked.status, asked.user, asked.queryType, asked.resourceGroup, asked.text, asked.like].some((text) =>
    text?.includes('\0'),
  );

const wholeEntry = (row: StoredRow): HistoryEntry => ({
  ...entryOf(row),
  username: row.username,
  source: row.source,
  errorCode: row.error_code,
});

function entryOf(row: StoredRow): HistoryEntry {
  return {
    queryId: row.query_id,
    status: row.status,
    sql: row.sql,
    userId: row.user_id,
    tenantId: row.tenant_id,
    queryType: row.query_type,
    resourceGroup: row.resource_group,
    priority: row.priority,
    queuedAt: row.queued_at.toISOString(),
    startedAt: row.started_at?.toISOString() ?? null,
    endedAt: row.ended_at?.toISOString() ?? null,
    durationMs: row.duration_ms === null ? null : ofBigint(row.duration_ms),
    rowsProduced: ofBigint(row.rows_produced),
    bytesScanned: ofBigint(row.bytes_scanned),
    fragments: row.fragments,
    errorMessage: row.error_message,
    cuConsumed: row.cu_consumed,
  };
}

/** Columns of type bigint come as text. */
const ofBigint = (value: number | string): number => Number(value);
