import { setTimeout as sleep } from 'node:timers/promises';
import { Client } from 'pg';
import type { Config } from '#shared/config/config-schema.ts';
import type { Logger } from '#shared/log/logger.ts';
import { clientConfig, untilAccepted } from './connect.ts';

/** A follower of one channel. */
type Follower = {
  readonly channel: string;
  /** Takes the payload of a notification. */
  readonly notified: (payload: string) => void;
  /** Catches up with what it may have missed: at the start, each time the connection is back, and at every attempt to get it back. */
  readonly catchUp: () => Promise<void>;
};

/**
 * Heartbeat interval and timeout of the listening connection. A silently broken one is detected after their sum; then a change is known
 * within a second.
 */
const HEARTBEAT_INTERVAL_MS = 300;
const HEARTBEAT_TIMEOUT_MS = 600;
const RECONNECT_INTERVAL_MS = 300;
const CONNECT_TIMEOUT_MS = 1_000;

/** Follows notifications of Postgres on one connection, which is opened again when it breaks. */
export class Notifications {
  readonly #config: Config;
  readonly #log: Logger;
  readonly #followers: Follower[] = [];
  readonly #stop = new AbortController();
  #client: Client | undefined;
  #isFollowing = false;

  constructor(config: Config, log: Logger) {
    this.#config = config;
    this.#log = log;
  }

  /** Whether notifications arrive, as far as is known. */
  get isFollowing(): boolean {
    return this.#isFollowing;
  }

  /** Adds a follower, before the start. */
  follow(follower: Follower): void {
    this.#followers.push(follower);
  }

  /** Resolves when every follower has caught up and notifications arrive. */
  async start(): Promise<void> {
    await untilAccepted(this.#log, () => this.#listen());
  }

  async close(): Promise<void> {
    this.#stop.abort();
    this.#isFollowing = false;
    await this.#client?.end().catch(() => undefined);
  }

  async #listen(): Promise<void> {
    const client = new Client({
      ...clientConfig(this.#config),
      application_name: 'skein-catalog-notifications',
      connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
      query_timeout: HEARTBEAT_TIMEOUT_MS,
    });
    const state = { isEnded: false, isFollowing: false };
    client.on('error', () => undefined);
    client.on('end', () => {
      state.isEnded = true;
      if (state.isFollowing) void this.#reconnect();
    });
    client.on('notification', ({ channel, payload }) => this.#notified(channel, payload ?? ''));
    try {
      await client.connect();
      this.#client = client;
      for (const { channel } of this.#followers) await client.query(`listen ${channel}`);
      // After LISTEN, so that no change falls between.
      await this.#catchUp();
    } catch (error) {
      cut(client);
      throw error;
    }
    state.isFollowing = true;
    if (state.isEnded) void this.#reconnect();
    else {
      this.#isFollowing = true;
      void this.#beat(client);
    }
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
    this.#isFollowing = false;
    while (!this.#stop.signal.aborted) {
      try {
        await this.#listen();
        return;
      } catch (error) {
        if (this.#stop.signal.aborted) return;
        this.#log.warn({ err: error }, 'notifications of Postgres cannot be followed; trying again');
      }
      // The pool may still have connections when Postgres takes no new one.
      await this.#catchUp().catch(() => undefined);
      await sleep(RECONNECT_INTERVAL_MS, undefined, { signal: this.#stop.signal, ref: false }).catch(() => undefined);
    }
  }

  async #catchUp(): Promise<void> {
    await Promise.all(this.#followers.map(({ catchUp }) => catchUp()));
  }

  #notified(channel: string, payload: string): void {
    for (const follower of this.#followers) if (follower.channel === channel) follower.notified(payload);
  }
}

/** Ends a connection without waiting for the other side. */
function cut(client: Client): void {
  const { stream } = (client as unknown as { connection: { stream: { destroy: () => void } } }).connection;
  stream.destroy();
}
