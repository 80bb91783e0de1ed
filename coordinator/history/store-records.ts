import { sql, type Kysely } from 'kysely';
import type { Logger } from '#shared/log/logger.ts';
import type { HistoryDatabase } from './history-database.ts';
import type { HistoryRow } from './history-record.ts';
import { packProfiles } from './profile-batch.ts';
import type { PrintedRecord } from './record-line.ts';

/** Stores records, no two of one statement. */
export type StoreRecords = (records: readonly PrintedRecord[]) => Promise<void>;

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
 * Stores into `coordinator.query_history`, and the profiles of all of them into one row of `coordinator.query_profiles`, in one SQL statement. A
 * record of a statement that goes on never replaces that of its end, nor one of an earlier term the end that a later one has found, and none without a profile takes the profile away. A record that Postgres refuses is lost, and the others of its batch are
 * not.
 */
export function storeRecords(db: Kysely<HistoryDatabase>, log: Logger): StoreRecords {
  // Made once: to print it takes longer than to send a few records.
  const statement = sql`
    with profiles as (
      select ${''}::uuid as id, ${Buffer.of()}::bytea as batch
    ), records as (
      insert into coordinator.query_history as stored (${COLUMNS}, profile_batch)
      select ${COLUMNS}, (select id from profiles)
      from json_populate_recordset(null::coordinator.query_history, ${Buffer.of()}::json)
      on conflict (record_id, queued_at) do update set ${CHANGES},
        profile_batch = coalesce(excluded.profile_batch, stored.profile_batch)
      where stored.status in ('queued', 'running')
        or (excluded.status not in ('queued', 'running') and excluded.epoch >= stored.epoch)
    )
    insert into coordinator.query_profiles (record_id, segment, batch)
    select id, (select max(segment) from coordinator.profile_segments), batch from profiles where id is not null`.compile(
    db,
  );
  const store: StoreRecords = async (records) => {
    if (records.length === 0) return;
    const profiles = packProfiles(records);
    try {
      const parameters = [profiles?.id ?? null, profiles?.bytes ?? null, jsonList(records)];
      await db.executeQuery({ ...statement, parameters });
    } catch (error) {
      if (!DATA_ERRORS.test((error as { readonly code?: string }).code ?? '')) throw error;
      if (records.length === 1) log.error({ err: error }, 'Postgres refuses a history record; it is lost');
      else for (const one of records) await store([one]);
    }
  };
  return store;
}

const [OPEN, COMMA, CLOSE] = [Buffer.from('['), Buffer.from(','), Buffer.from(']')];

/** The rows as one JSON array. Postgres gets it as it is, because the binary form of `json` is its text. */
function jsonList(records: readonly PrintedRecord[]): Buffer {
  const parts = records.flatMap(({ row }) => [COMMA, row]);
  return Buffer.concat([OPEN, ...parts.slice(1), CLOSE]);
}
