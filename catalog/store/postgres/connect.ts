import { Kysely, sql } from 'kysely';
import { Client, type ClientConfig, type Pool } from 'pg';
import type { Config } from '#shared/config/config-schema.ts';
import type { Logger } from '#shared/log/logger.ts';
import { endSilent } from '#shared/database/end-silent.ts';
import { STARTUP_WAIT_MS, untilAnswers } from '#shared/database/until-answers.ts';
import { retried } from '#shared/retry.ts';
import { preparingPool } from '#shared/database/preparing-pool.ts';
import { FairPool } from './fair-pool.ts';
import { forEverybody } from './on-behalf-of.ts';
import { SettlingDialect } from './settling-dialect.ts';
import type { Database, Tables } from './tables.ts';

export type Store = {
  readonly db: Database;
  /** For the hot path only, whose statement is prepared under a name. */
  readonly pool: Pool;
  /** Resolves when no coordinator relies on an answer from before what is committed by now: nothing has been said of that until then. */
  settle(): Promise<void>;
  /** Gives `settle` its work; until then there is none. */
  settleBy(settle: () => Promise<void>): void;
  close(): Promise<void>;
};

/** Timeout of getting a connection, pooled or new. */
const CONNECT_TIMEOUT_MS = 5_000;
/** Statement timeout. Statements of the catalog read or write a few rows; one that takes this long is stuck. */
const STATEMENT_TIMEOUT_MS = 30_000;
/**
 * Time after which Postgres ends a transaction whose catalog sends nothing more: it is silent, and others wait for the rows that it has
 * changed.
 */
const IDLE_IN_TRANSACTION_MS = 5_000;

export const clientConfig = (config: Config): ClientConfig => ({
  connectionString: config['database.url'],
  connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
  application_name: 'skein-catalog',
  // Statements touch a few rows: compiling them, or planning a prepared one for its parameters, costs more than running it.
  options: '-c jit=off -c plan_cache_mode=force_generic_plan',
  keepAlive: true,
});

/** @throws when Postgres does not answer */
export async function askPostgres(db: Database): Promise<void> {
  await sql`select 1`.execute(db);
}

/** Connects to Postgres and returns the pool once it has answered. @throws START_FAILED when it does not answer within `STARTUP_WAIT_MS` */
export async function connectStore(config: Config, log: Logger): Promise<Store> {
  await untilAnswers(
    () => withClient(config, (client) => client.query('select 1')),
    (error) => log.info({ err: error }, 'waiting for Postgres'),
  );
  const pool = new FairPool({
    ...clientConfig(config),
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    max: config['database.pool_max'],
    statement_timeout: STATEMENT_TIMEOUT_MS,
    idle_in_transaction_session_timeout: IDLE_IN_TRANSACTION_MS,
  });
  // An idle connection that breaks is replaced at its next use; without a handler the process would end.
  pool.on('error', (error) => log.warn({ err: error }, 'an idle Postgres connection broke'));
  // A connection that breaks between two statements reports it only here; the next statement fails.
  pool.on('connect', (client) => {
    client.on('error', (error) => log.debug({ err: error }, 'a Postgres connection broke'));
    endSilent(client, { statementMsMax: STATEMENT_TIMEOUT_MS });
  });
  let settleNow = (): Promise<void> => Promise.resolve();
  // Changes of many tenants settle together.
  const settle = (): Promise<void> => forEverybody(settleNow);
  const dialect = new SettlingDialect({ pool: preparingPool(pool) }, settle);
  const db = new Kysely<Tables>({ dialect }).withSchema('catalog');
  return { db, pool, settle, settleBy: (work) => (settleNow = work), close: () => db.destroy() };
}

/**
 * Repeats `work` for up to `STARTUP_WAIT_MS` while Postgres takes too long to accept a connection: just after its recovery, and on a busy
 * machine, it may have answered the first one and keep the next waiting. `work` may begin again after it has done a part.
 */
export async function untilAccepted<T>(log: Logger, work: () => Promise<T>): Promise<T> {
  const deadline = performance.now() + STARTUP_WAIT_MS;
  const again = (error: unknown): boolean => {
    if (!isConnectTimeout(error) || performance.now() > deadline) return false;
    log.info({ err: error }, 'Postgres does not accept a connection in time');
    return true;
  };
  return await retried(work, { again, pauseMs: 0 });
}

/** Messages of `pg` when it has given up connecting: of a client; of a pool; of a pool whose connections are all taken. */
const CONNECT_TIMEOUTS: readonly string[] = [
  'timeout expired',
  'Connection terminated due to connection timeout',
  'timeout exceeded when trying to connect',
];

export const isConnectTimeout = (error: unknown): boolean =>
  error instanceof Error && CONNECT_TIMEOUTS.includes(error.message);

/** Runs `work` on a connection of its own, outside of the pool. */
export async function withClient<T>(config: Config, work: (client: Client) => Promise<T>): Promise<T> {
  const client = new Client(clientConfig(config));
  // A query or `connect` reports the failure as well; the handler only keeps the process alive.
  client.on('error', () => undefined);
  try {
    await client.connect();
    return await work(client);
  } finally {
    await client.end().catch(() => undefined);
  }
}
