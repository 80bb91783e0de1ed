import { sql, type Kysely } from 'kysely';
import type { Logger } from '#shared/log/logger.ts';
import type { HistoryDatabase } from './history-database.ts';
import type { HistoryRow } from './history-record.ts';

/** Stores records, each a row of `coordinator.query_history` as JSON with its profile; no two of one statement. */
export type StoreRecords = (lines: readonly string[]) => Promise<void>;

/** The fields that may change while a statement runs, and those that never do. */
const CHANGING = [
  'status',
  'query_type',
  'resource_group',
  'priority',
  'sql',
  'started_at',
  'ended_at',
  'duration_ms',
  'rows_produced',
  'bytes_scanned',
  'fragments',
  'error_code',
  'error_message',
  'cu_consumed',
] as const satisfies readonly (keyof HistoryRow)[];
const FIXED = [
  'record_id',
  'query_id',
  'user_id',
  'username',
  'tenant_id',
  'source',
  'queued_at',
  'epoch',
] as const satisfies readonly (keyof HistoryRow)[];

const COLUMNS = sql.join([...FIXED, ...CHANGING].map((name) => sql.ref(name)));
const CHANGES = sql.join(CHANGING.map((name) => sql`${sql.ref(name)} = ${sql.ref(`excluded.${name}`)}`));

/** Classes of SQLSTATE that blame the data: no later attempt stores it. */
const DATA_ERRORS = /^2[23]/;

/**
 * Stores into `coordinator.query_history` and `coordinator.query_profiles`, in one SQL statement. A record of a statement that goes on never replaces that of its end. A
 * record that Postgres refuses is lost, and the others of its batch are not.
 */
export function storeRecords(db: Kysely<HistoryDatabase>, log: Logger): StoreRecords {
  const store: StoreRecords = async (lines) => {
    if (lines.length === 0) return;
    try {
      await sql`
        with given as materialized (
          select ${COLUMNS}, profile
          from json_populate_recordset(null::coordinator.query_history, ${`[${lines.join()}]`}::json)
        ), records as (
          insert into coordinator.query_history as stored (${COLUMNS})
          select ${COLUMNS} from given
          on conflict (record_id, queued_at) do update set ${CHANGES}
          where stored.status in ('queued', 'running') or excluded.status not in ('queued', 'running')
        )
        insert into coordinator.query_profiles (record_id, segment, profile)
        select record_id, (select max(segment) from coordinator.profile_segments), profile
        from given where profile is not null
        on conflict do nothing`.execute(db);
    } catch (error) {
      if (!DATA_ERRORS.test((error as { readonly code?: string }).code ?? '')) throw error;
      if (lines.length === 1) log.error({ err: error }, 'Postgres refuses a history record; it is lost');
      else for (const line of lines) await store([line]);
    }
  };
  return store;
}
