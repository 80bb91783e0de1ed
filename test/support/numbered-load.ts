import { setTimeout as sleep } from 'node:timers/promises';
import { expect, vi } from 'vitest';
import { urlOf, type HostCluster } from './host-cluster.ts';
import type { NamespacedService } from './namespaced-service.ts';
import { patience } from '#test/support/run/slowness.ts';

type Answer = { readonly rows: readonly (readonly unknown[])[] };
/** How a statement ended: its rows, the code of its error, or no answer at all. */
export type End = Answer | { readonly code: string };

/** A client gives a statement up after so long; the statement itself has less. */
const STATEMENT_MS = 15_000;
const GIVE_UP_MS = STATEMENT_MS + 10_000;
const NO_ANSWER = 'NO_ANSWER';
/** No answer within the time of a statement and 10 s more, of a coordinator that answers else. */
const LATE = 'LATE';
/** Pause between two writes at a coordinator that may not lead. */
const STUBBORN_PAUSE_MS = 200;
/** Time for a connection to begin: hosts that are silent refuse nothing. */
const LOOK_MS = 1_000;

/** A client of a cluster of hosts: it asks the coordinator that leads, as a balancer in front of them would. */
export class HostClient {
  readonly #cluster: HostCluster;
  readonly #token: string;
  #at: NamespacedService | undefined;

  private constructor(cluster: HostCluster, token: string) {
    this.#cluster = cluster;
    this.#token = token;
  }

  static async open(cluster: HostCluster): Promise<HostClient> {
    return new HostClient(cluster, await cluster.token());
  }

  /** Asks once. A host that is silent is left as a balancer does it: when another one is ready. */
  async ask(sql: string): Promise<End> {
    const at = (this.#at ??= await this.#cluster.leader());
    if (at === undefined) {
      await sleep(100);
      return { code: 'NOBODY_LEADS' };
    }
    const gone = new AbortController();
    const done = new AbortController();
    const watching = this.#leaveWhenReplaced(at, gone, done.signal);
    try {
      const end = await this.#askAt(at, sql, gone.signal);
      if ('code' in end && (end.code === 'NOT_ACTIVE' || end.code === NO_ANSWER)) this.#at = undefined;
      return end;
    } finally {
      done.abort();
      await watching;
    }
  }

  /** For each coordinator a client that never leaves it. */
  staying(): readonly ((sql: string) => Promise<End>)[] {
    return this.#cluster.coordinators.map((at) => (sql) => this.#askAt(at, sql));
  }

  /** Asks one coordinator, whether it leads or not. */
  async #askAt(at: NamespacedService, sql: string, left?: AbortSignal): Promise<End> {
    const late = AbortSignal.timeout(GIVE_UP_MS);
    try {
      const response = await fetch(`${urlOf(at)}/api/query`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', authorization: `Bearer ${this.#token}` },
        body: JSON.stringify({ sql, timeout_ms: STATEMENT_MS }),
        signal: left === undefined ? late : AbortSignal.any([left, late]),
      });
      const body = (await response.json()) as { readonly rows?: Answer['rows']; readonly error?: string };
      return body.rows === undefined ? { code: body.error ?? NO_ANSWER } : { rows: body.rows };
    } catch {
      return { code: late.aborted && (await lives(at)) ? LATE : NO_ANSWER };
    }
  }

  async #leaveWhenReplaced(at: NamespacedService, gone: AbortController, done: AbortSignal): Promise<void> {
    while (!done.aborted) {
      await sleep(LOOK_MS, undefined, { signal: done }).catch(() => undefined);
      if (done.aborted) return;
      const leader = await this.#cluster.leader();
      const isStill = leader === undefined || leader === at;
      if (isStill) continue;
      // One that has handed over ends its statements: only one that is silent is left.
      if (!(await lives(at))) gone.abort();
    }
  }
}

const lives = (at: NamespacedService): Promise<boolean> =>
  fetch(`${urlOf(at)}/health`, { signal: AbortSignal.timeout(LOOK_MS) }).then(
    () => true,
    () => false,
  );

/** Errors of a write that may have happened. */
const UNKNOWN: ReadonlySet<string> = new Set(['COMMIT_STATE_UNKNOWN', NO_ANSWER, LATE]);

/**
 * Reads and writes that go on while hosts fall silent: each write inserts another number. Beside a client that goes where the lead goes,
 * others may stay at a coordinator each, to find two that both commit.
 */
export class NumberedLoad {
  readonly #client: Pick<HostClient, 'ask'>;
  readonly #table: string;
  readonly #stop = new AbortController();
  readonly #running: Promise<unknown>;
  #order: number[] = [];
  #next = 0;
  readonly #acknowledged = new Set<number>();
  readonly #unknown = new Set<number>();
  /** Codes of errors, and how often each came. */
  readonly errors = new Map<string, number>();
  /** Longest time that one statement took, and longest time without an answer to a read, in ms. */
  statementMsMax = 0;
  #answeredMs = performance.now();
  #outageMsMax = 0;

  /** @param stays clients that never leave their coordinator, whether it leads or not */
  constructor(client: Pick<HostClient, 'ask'>, table: string, stays: readonly ((sql: string) => Promise<End>)[] = []) {
    this.#client = client;
    this.#table = table;
    this.#running = Promise.all([
      this.#read(),
      this.#write((sql) => this.#timed(sql), 50),
      ...stays.map((ask) => this.#write(ask, STUBBORN_PAUSE_MS)),
    ]);
  }

  /** Numbers that were acknowledged since `measure`, in the order of that. */
  get order(): readonly number[] {
    return this.#order;
  }

  get outageMsMax(): number {
    return Math.max(this.#outageMsMax, performance.now() - this.#answeredMs);
  }

  get writes(): number {
    return this.#acknowledged.size;
  }

  /** Forgets what was measured so far. */
  measure(): void {
    this.errors.clear();
    this.#order = [];
    this.statementMsMax = 0;
    this.#outageMsMax = 0;
    this.#answeredMs = performance.now();
  }

  async stop(): Promise<void> {
    this.#stop.abort();
    await this.#running;
  }

  /** Compares the table with what was acknowledged. @returns faults: numbers that are lost, double or invented */
  async faults(): Promise<readonly string[]> {
    const end = await this.#client.ask(`SELECT n, count(*) FROM ${this.#table} GROUP BY n`);
    if (!('rows' in end)) return [`the table cannot be read: ${end.code}`];
    const found = new Map(end.rows.map(([n, count]) => [Number(n), Number(count)]));
    const lost = [...this.#acknowledged].filter((n) => !found.has(n)).map((n) => `${n} is lost`);
    const odd = [...found].flatMap(([n, count]) => {
      if (count !== 1) return [`${n} is there ${count} times`];
      return this.#acknowledged.has(n) || this.#unknown.has(n) ? [] : [`${n} is there, and was never written`];
    });
    return [...lost, ...odd];
  }

  async #timed(sql: string): Promise<End> {
    const startMs = performance.now();
    const end = await this.#client.ask(sql);
    this.statementMsMax = Math.max(this.statementMsMax, performance.now() - startMs);
    if (!('rows' in end)) this.errors.set(end.code, (this.errors.get(end.code) ?? 0) + 1);
    return end;
  }

  async #read(): Promise<void> {
    while (!this.#stop.signal.aborted) {
      const end = await this.#timed(`SELECT count(*) FROM ${this.#table}`);
      if ('rows' in end) {
        this.#outageMsMax = Math.max(this.#outageMsMax, performance.now() - this.#answeredMs);
        this.#answeredMs = performance.now();
      }
      await sleep(50);
    }
  }

  async #write(ask: (sql: string) => Promise<End>, pauseMs: number): Promise<void> {
    while (!this.#stop.signal.aborted) {
      const n = this.#next++;
      const end = await ask(`INSERT INTO ${this.#table} VALUES (${n})`);
      if ('rows' in end) {
        this.#acknowledged.add(n);
        this.#order.push(n);
      }
      // Only these leave open whether it happened; after any other error it has not.
      else if (UNKNOWN.has(end.code)) this.#unknown.add(n);
      if ('code' in end && end.code === LATE) this.errors.set(LATE, (this.errors.get(LATE) ?? 0) + 1);
      await sleep(pauseMs);
    }
  }
}

/** Makes the table, once the cluster answers, and lets clients read and write it: one that follows the lead, and one at each coordinator. */
export async function startLoad(
  cluster: HostCluster,
  table: string,
): Promise<{ readonly client: HostClient; readonly load: NumberedLoad }> {
  const client = await HostClient.open(cluster);
  await vi.waitFor(async () => expect(await client.ask('SELECT 1')).toEqual({ rows: [[1]] }), {
    timeout: patience(30_000),
  });
  expect(await client.ask(`CREATE TABLE ${table} (n BIGINT)`)).toMatchObject({ rows: expect.anything() });
  return { client, load: new NumberedLoad(client, table, client.staying()) };
}
