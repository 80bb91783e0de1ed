import { setTimeout as sleep } from 'node:timers/promises';
import { Client } from 'pg';
import type { Config } from '#shared/config/config-schema.ts';
import { principalId, type PrincipalId } from '#shared/id.ts';
import type { Logger } from '#shared/log/logger.ts';
import { clientConfig, untilAccepted } from '../store/postgres/connect.ts';
import { sessionEpochs } from '../store/postgres/principal-store.ts';
import type { Database } from '../store/postgres/tables.ts';

export type EpochChange = { readonly principal: PrincipalId; readonly epoch: number };
type Listener = (changes: readonly EpochChange[]) => void;

const CHANNEL = 'skein_session_epoch';
/**
 * Heartbeat interval and timeout of the listening connection. A silently broken one is detected after their sum; then a change is known
 * within a second.
 */
const HEARTBEAT_INTERVAL_MS = 300;
const HEARTBEAT_TIMEOUT_MS = 600;
const RECONNECT_INTERVAL_MS = 300;
const CONNECT_TIMEOUT_MS = 1_000;

/**
 * Caches the session epochs of all principals in memory; every request compares its token's epoch with them. Postgres notifies every
 * process of each change. While the connection is lost, and once after it is back, all epochs are read again.
 */
export class SessionEpochs {
  readonly #config: Config;
  readonly #db: Database;
  readonly #log: Logger;
  readonly #epochs = new Map<PrincipalId, number>();
  readonly #listeners = new Set<Listener>();
  readonly #stop = new AbortController();
  #client: Client | undefined;

  constructor(config: Config, db: Database, log: Logger) {
    this.#config = config;
    this.#db = db;
    this.#log = log;
  }

  /** Resolves when all epochs are known and changes arrive. */
  async start(): Promise<void> {
    await untilAccepted(this.#log, () => this.#listen());
  }

  of(principal: PrincipalId): number {
    return this.#epochs.get(principal) ?? 0;
  }

  /** Calls `listener` with all epochs above 0 at once, then with every change, until the returned function is called. */
  watch(listener: Listener): () => void {
    listener([...this.#epochs].map(([principal, epoch]) => ({ principal, epoch })));
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  async close(): Promise<void> {
    this.#stop.abort();
    this.#listeners.clear();
    await this.#client?.end().catch(() => undefined);
  }

  async #listen(): Promise<void> {
    const client = new Client({
      ...clientConfig(this.#config),
      application_name: 'skein-catalog-epochs',
      connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
      query_timeout: HEARTBEAT_TIMEOUT_MS,
    });
    let ended = false;
    let following = false;
    client.on('error', () => undefined);
    client.on('end', () => {
      ended = true;
      if (following) void this.#reconnect();
    });
    client.on('notification', ({ payload }) => this.#notified(payload ?? '{}'));
    try {
      await client.connect();
      this.#client = client;
      await client.query(`listen ${CHANNEL}`);
      // After LISTEN, so that no change falls between.
      await this.#readAll();
    } catch (error) {
      cut(client);
      throw error;
    }
    following = true;
    if (ended) void this.#reconnect();
    else void this.#beat(client);
  }

  /** Sends a heartbeat and drops the connection when no answer comes; the content of the answer does not matter. */
  async #beat(client: Client): Promise<void> {
    try {
      for (;;) {
        await sleep(HEARTBEAT_INTERVAL_MS, undefined, { signal: this.#stop.signal, ref: false });
        await client.query('select 1');
      }
    } catch {
      if (!this.#stop.signal.aborted) cut(client);
    }
  }

  async #reconnect(): Promise<void> {
    while (!this.#stop.signal.aborted) {
      try {
        await this.#listen();
        return;
      } catch (error) {
        if (this.#stop.signal.aborted) return;
        this.#log.warn({ err: error }, 'session epochs cannot be followed; trying again');
      }
      // The pool may still have connections when Postgres takes no new one.
      await this.#readAll().catch(() => undefined);
      await sleep(RECONNECT_INTERVAL_MS, undefined, { signal: this.#stop.signal, ref: false }).catch(() => undefined);
    }
  }

  async #readAll(): Promise<void> {
    this.#apply([...(await sessionEpochs(this.#db))].map(([principal, epoch]) => ({ principal, epoch })));
  }

  #notified(payload: string): void {
    const { principal, epoch } = JSON.parse(payload) as { principal: string; epoch: number };
    this.#apply([{ principal: principalId(principal), epoch }]);
  }

  #apply(changes: readonly EpochChange[]): void {
    const news = changes.filter(({ principal, epoch }) => epoch > this.of(principal));
    for (const { principal, epoch } of news) this.#epochs.set(principal, epoch);
    if (news.length > 0) for (const listener of this.#listeners) listener(news);
  }
}

/** Ends a connection without waiting for the other side. */
function cut(client: Client): void {
  const { stream } = (client as unknown as { connection: { stream: { destroy: () => void } } }).connection;
  stream.destroy();
}
