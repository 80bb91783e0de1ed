import { Kysely, PostgresDialect, sql } from 'kysely';
import pg from 'pg';
import { endSilent } from '#shared/database/end-silent.ts';
import { migrateSchema, type OwnSchema } from '#shared/database/own-schema.ts';
import { untilAnswers } from '#shared/database/until-answers.ts';
import { preparingPool } from '#shared/database/preparing-pool.ts';
import type { Logger } from '#shared/log/logger.ts';
import type { HistoryRow } from './history-record.ts';
import { createHistory } from './migrations/001-create-history.ts';
import { createQuarantine } from './migrations/002-create-quarantine.ts';
import { createWriteIntents } from './migrations/003-create-write-intents.ts';
import { historyByMonth } from './migrations/004-history-by-month.ts';
import { createOpenTransactions } from './migrations/005-create-open-transactions.ts';
import { createQueryProfiles } from './migrations/006-create-query-profiles.ts';
import { createUnloadIntents } from './migrations/007-create-unload-intents.ts';
import { filesOfWrites } from './migrations/008-files-of-writes.ts';
import { profilesInBatches } from './migrations/009-profiles-in-batches.ts';
import { createLead } from './migrations/010-create-lead.ts';
import { fenceCommits } from './migrations/011-fence-commits.ts';
import { createUsedCodes } from './migrations/012-create-used-codes.ts';
import { createConsoleSignIns } from './migrations/013-create-console-sign-ins.ts';

/** The coordinator's own schema. */
export type HistoryDatabase = {
  readonly query_history: StoredRow;
  readonly query_profiles: ProfileRow;
  readonly quarantine: QuarantineRow;
  readonly write_intents: WriteIntentRow;
  readonly open_transactions: OpenTransactionRow;
  readonly unload_intents: UnloadIntentRow;
  /** Codes that work once and were used (`used-codes.ts`). */
  readonly used_codes: { readonly id: string; readonly until: Date };
  /** People's sign-ins to the console, with sealed tokens (`console-sign-ins.ts`). */
  readonly console_sign_ins: { readonly id: string; readonly sealed: string; readonly ends_at: Date };
};

/**
 * A record as it is stored. `profile_batch` is the id of the row of `query_profiles` that has its profile; null = it has none, or an earlier
 * release has stored it under the record's own id.
 */
export type StoredRow = HistoryRow & { readonly profile_batch: string | null };

/**
 * How statements' queries ran, as JSON (`coordinator/profile/statement-profile.ts`): those of a batch of records (`profile-batch.ts`), under its
 * id, or, stored by an earlier release, that of one record, under the record's.
 */
type ProfileRow = {
  readonly record_id: string;
  readonly segment: number;
  readonly profile: string | null;
  readonly batch: Buffer | null;
};

/** A statement that is refused for a while (`coordinator/quarantine`). */
type QuarantineRow = {
  readonly id: string;
  readonly tenant_id: string;
  readonly user_id: string;
  readonly username: string;
  readonly fingerprint: string;
  readonly sql: string;
  readonly reason: string;
  readonly killed_at: Date;
  readonly until: Date;
};

/** A write that has begun (`coordinator/write/write-intents.ts`); `principal`, `places` and `files` are JSON. */
type WriteIntentRow = {
  readonly write_id: string;
  readonly record_id: string;
  readonly principal: string;
  readonly commit_key: string;
  readonly places: string;
  readonly files: string | null;
  readonly epoch: number;
  readonly begun_at: Date;
};

/** An unload that has begun (`coordinator/unload/unload-intents.ts`); `names` is JSON. */
type UnloadIntentRow = {
  readonly upload_id: string;
  readonly record_id: string;
  readonly stage: string;
  readonly names: string | null;
  readonly epoch: number;
  readonly begun_at: Date;
};

/** A session that is in a transaction (`coordinator/transaction/transaction-store.ts`). */
type OpenTransactionRow = { readonly session: string; readonly epoch: number; readonly begun_at: Date };

/** A migration that was released never changes. */
export const COORDINATOR_SCHEMA: OwnSchema = {
  name: 'coordinator',
  migrations: {
    '001-create-history': createHistory,
    '002-create-quarantine': createQuarantine,
    '003-create-write-intents': createWriteIntents,
    '004-history-by-month': historyByMonth,
    '005-create-open-transactions': createOpenTransactions,
    '006-create-query-profiles': createQueryProfiles,
    '007-create-unload-intents': createUnloadIntents,
    '008-files-of-writes': filesOfWrites,
    '009-profiles-in-batches': profilesInBatches,
    '010-create-lead': createLead,
    '011-fence-commits': fenceCommits,
    '012-create-used-codes': createUsedCodes,
    '013-create-console-sign-ins': createConsoleSignIns,
  },
};

export type DatabaseOptions = {
  readonly url: string;
  readonly poolMax: number;
  readonly log: Logger;
  /** Longest time of one statement; absent = none, for migrations. */
  readonly statementMsMax?: number;
};

/** Longest time of a statement while a coordinator serves; most touch a few rows. */
export const STATEMENT_MS_MAX = 30_000;
/** Time after which Postgres ends a transaction whose coordinator sends nothing more. */
const IDLE_IN_TRANSACTION_MS = 5_000;

export function openHistoryDatabase(options: DatabaseOptions): Kysely<HistoryDatabase> {
  const pool = new pg.Pool({
    connectionString: options.url,
    max: options.poolMax,
    connectionTimeoutMillis: 5_000,
    keepAlive: true,
    idle_in_transaction_session_timeout: IDLE_IN_TRANSACTION_MS,
    ...(options.statementMsMax === undefined ? {} : { statement_timeout: options.statementMsMax }),
    // Statements touch a few rows: to compile one costs more than to run it.
    options: '-c jit=off',
  });
  // An idle connection that breaks (Postgres restarted) is replaced at the next use.
  pool.on('error', (error) => options.log.warn({ err: error }, 'a Postgres connection broke'));
  // One that breaks while a statement uses it says so here, too, beside that statement's error; without a handler the process would end.
  pool.on('connect', (client) => {
    client.on('error', (error) => options.log.debug({ err: error }, 'a Postgres connection broke'));
    endSilent(client, { statementMsMax: options.statementMsMax });
  });
  return new Kysely<HistoryDatabase>({ dialect: new PostgresDialect({ pool: preparingPool(pool) }) }).withSchema(
    COORDINATOR_SCHEMA.name,
  );
}

/** Brings the schema up to date, as soon as Postgres answers. @throws START_FAILED, NEWER_DATA */
export async function migrateHistory(db: Kysely<HistoryDatabase>): Promise<void> {
  await untilAnswers(
    () => sql`select 1`.execute(db),
    () => undefined,
  );
  await migrateSchema(db, COORDINATOR_SCHEMA);
}

/** The next epoch: greater than that of every coordinator that started before. */
export async function nextEpoch(db: Kysely<HistoryDatabase>): Promise<number> {
  const { rows } = await sql<{ epoch: string }>`select nextval('coordinator.epoch') as epoch`.execute(db);
  return Number(rows[0]?.epoch);
}

/**
 * Marks the statements that an earlier coordinator was running when it died as failed, but for those that write: their end is that of their
 * commit, which the catalog is asked for (`coordinator/write`), or of their unload (`coordinator/unload`). Those of terms that go on
 * (`ending`) are left alone. Returns their number.
 */
export async function failOrphans(
  db: Kysely<HistoryDatabase>,
  epoch: number,
  ending: readonly number[] = [],
): Promise<number> {
  let update = db
    .updateTable('query_history')
    .set({
      status: 'failed',
      ended_at: new Date(),
      error_code: 'NOT_ACTIVE',
      error_message: 'the coordinator ended or lost the lead while the statement ran',
    })
    .where('status', 'in', ['queued', 'running'])
    .where('epoch', '<', epoch)
    .where('record_id', 'not in', db.selectFrom('write_intents').select('record_id'))
    .where('record_id', 'not in', db.selectFrom('unload_intents').select('record_id'));
  if (ending.length > 0) update = update.where('epoch', 'not in', ending);
  const result = await update.executeTakeFirst();
  return Number(result.numUpdatedRows);
}
