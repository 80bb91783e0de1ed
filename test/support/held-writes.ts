import { setTimeout as sleep } from 'node:timers/promises';
import { Client } from 'pg';
import { expect } from 'vitest';
import type { StartedCluster } from './cluster.ts';
import { killService, RESTARTS_SOON, type Killed } from './kill-service.ts';
import { createTestDatabase, startOwnCluster } from './resources.ts';
import { waitingLocks } from './waiting-locks.ts';
import { patience } from '#test/support/run/slowness.ts';

/** Locks that hold every write at a point until they are released. */
const LOCKS = {
  'before the intent': 'LOCK TABLE coordinator.write_intents IN SHARE MODE',
  'after the files, before the commit': 'LOCK TABLE catalog.idempotency_key IN SHARE MODE',
  'in the commit, before the compare-and-swap': 'LOCK TABLE catalog.iceberg_table IN SHARE MODE',
} as const;
const COMMITTED = 'committed, before the answer';

/**
 * The points of a write at which a test kills a process:
 * ```
 *   intent ─▶ data files, manifests ─▶ the catalog's transaction: key, compare-and-swap, metadata file, COMMIT ─▶ answer
 *   ▲                                                              ▲    ▲                              ▲
 *   before the intent                      after the files and before the commit    in it    committed, not answered
 * ```
 */
export type WritePoint = keyof typeof LOCKS | typeof COMMITTED;
export const WRITE_POINTS: readonly WritePoint[] = [...(Object.keys(LOCKS) as (keyof typeof LOCKS)[]), COMMITTED];

/** Key of the advisory lock that a COMMIT waits for. */
const LOCK = 15;
const HELD_WITHIN = { timeout: patience(20_000), interval: 10 };
/** Time in which the other processes notice a death, and those who start again find the write held. */
const NOTICED_MS = 200;

/** A cluster of a suite's own on a database of its own, whose locks hold its writes. */
export class HeldWrites implements AsyncDisposable {
  readonly cluster: StartedCluster;
  readonly database: Client;
  readonly #holder: Client;
  readonly #stack: AsyncDisposableStack;

  private constructor(cluster: StartedCluster, database: Client, holder: Client, stack: AsyncDisposableStack) {
    this.cluster = cluster;
    this.database = database;
    this.#holder = holder;
    this.#stack = stack;
  }

  static async start(): Promise<HeldWrites> {
    await using stack = new AsyncDisposableStack();
    const { url } = stack.use(await createTestDatabase());
    const cluster = stack.use(await startOwnCluster({ env: { DATABASE_URL: url, ...RESTARTS_SOON } }));
    const connect = async (): Promise<Client> => {
      const client = stack.adopt(new Client(url), (open) => open.end());
      await client.connect();
      return client;
    };
    const [database, holder] = [await connect(), await connect()];
    await database.query(`CREATE FUNCTION wait_for_test() RETURNS trigger LANGUAGE plpgsql
      AS 'BEGIN PERFORM pg_advisory_xact_lock(${LOCK}); RETURN NULL; END'`);
    return new HeldWrites(cluster, database, holder, stack.move());
  }

  /** Keeps every write from passing a point. @returns lets them go on */
  async hold(point: WritePoint): Promise<() => Promise<unknown>> {
    if (point === COMMITTED) return this.holdCommits('true');
    await this.#holder.query('BEGIN');
    await this.#holder.query(LOCKS[point]);
    return () => this.#holder.query('ROLLBACK');
  }

  /** Holds the COMMIT of each transaction that changes a table where `condition` of OLD and NEW holds. @returns lets them go on */
  async holdCommits(condition: string): Promise<() => Promise<unknown>> {
    await this.database.query('SELECT pg_advisory_lock($1)', [LOCK]);
    await this.database.query(`CREATE CONSTRAINT TRIGGER hold AFTER UPDATE ON catalog.iceberg_table
      DEFERRABLE INITIALLY DEFERRED FOR EACH ROW WHEN (${condition}) EXECUTE FUNCTION wait_for_test()`);
    return async () => {
      await this.database.query('SELECT pg_advisory_unlock($1)', [LOCK]);
      await this.database.query('DROP TRIGGER hold ON catalog.iceberg_table');
    };
  }

  /** Waits until writes are held. @param count how many */
  async held(count = 1): Promise<void> {
    await expect.poll(() => waitingLocks(this.database), HELD_WITHIN).toBeGreaterThanOrEqual(count);
  }

  kill(kind: Killed): Promise<void> {
    return killService(kind, { cluster: this.cluster, own: [this.database, this.#holder] });
  }

  /**
   * Sends what is held at a point, kills a process there, and lets the others go on. @param count of the writes that are held
   * @returns what `send` gives
   */
  async killed<T>(point: WritePoint, kind: Killed, send: () => Promise<T>, count = 1): Promise<T> {
    const release = await this.hold(point);
    const sent = send();
    try {
      await this.held(count);
      await this.kill(kind);
      await sleep(NOTICED_MS);
    } finally {
      await release();
    }
    return sent;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#stack.disposeAsync();
  }
}
