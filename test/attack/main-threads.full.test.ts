import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { beforeAll, expect, test } from 'vitest';
import { must } from '#shared/must.ts';
import type { Cluster } from '#test/support/cluster.ts';
import { catalogPost, createHostileTable } from '#test/support/hostile-table.ts';
import { turnsIn, type Turns } from '#test/support/main-thread-turns.ts';
import { sharedCluster } from '#test/support/resources.ts';
import { manifestOfMany } from '#test/support/table-snapshot.ts';
import { LARGE_COMMITS } from './corpus/large-commits.ts';
import { LARGE_STATEMENTS } from './corpus/large-statements.ts';

/**
 * Measures the turns of each service's main thread under large statements and large commits: it answers all clients, so no turn may be
 * long.
 */

const STATEMENT_CLIENTS = 40;
const COMMIT_CLIENTS = 24;
const FILES = 40_000;
const ATTACK_MS = 15_000;
/** A client disconnects after waiting this long. */
const PATIENCE_MS = 4_000;
/** Above the size at which threads take over, what most people would call large, and the largest that is taken. */
const STATEMENT_BYTES = [40_000, 1_000_000, 8 * 2 ** 20];
const COMMIT_BYTES = [60_000, 1_000_000, 30_000_000];
/** The law, in CPU time of the thread; of a thousand turns one may take longer than the second. */
const LONGEST_SECONDS = 0.25;
const LONG_SECONDS = 0.05;
const LONG_SHARE = 0.001;

let cluster: Cluster;
let token: string;

beforeAll(async () => {
  ({ cluster } = await sharedCluster());
  token = await cluster.token();
});

/** Sends one request and reads the answer, whatever it is. */
async function send(url: string, body: string): Promise<void> {
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
  try {
    const response = await fetch(url, { method: 'POST', headers, body, signal: AbortSignal.timeout(PATIENCE_MS) });
    await response.arrayBuffer();
  } catch (error) {
    // A client that leaves, or whose body was refused before it had sent it all.
    if (!(error instanceof Error)) throw error;
  }
}

type Job = () => Promise<void>;

/** Lets clients do the jobs in turn: all jobs once, then again from the first until the time is over. */
async function attack(clients: number, jobs: readonly Job[], untilMs: number): Promise<void> {
  let next = 0;
  const client = async (): Promise<void> => {
    while (next < jobs.length || performance.now() < untilMs) {
      const job = must(jobs[next % jobs.length], 'a job');
      next += 1;
      await job();
    }
  };
  await Promise.all(Array.from({ length: clients }, client));
}

/** The turns of every service since the start. */
async function turns(): Promise<ReadonlyMap<string, Turns>> {
  const pages: readonly (readonly [string, string])[] = [
    ['coordinator', `${cluster.queryUrl}/metrics`],
    ['catalog', `${cluster.catalogUrl}/metrics`],
    ...cluster.workers().map(({ name, metricsUrl }) => [name, metricsUrl] as const),
  ];
  return new Map(
    await Promise.all(pages.map(async ([name, url]) => [name, turnsIn(await (await fetch(url)).text())] as const)),
  );
}

const statements = (): readonly Job[] =>
  STATEMENT_BYTES.flatMap((bytes) =>
    LARGE_STATEMENTS.map(
      ({ of }) =>
        () =>
          send(`${cluster.queryUrl}/api/query`, JSON.stringify({ sql: of(bytes) })),
    ),
  );

/** Each on a table of its own. */
async function commits(): Promise<readonly Job[]> {
  const namespace = `turns_${randomUUID().slice(0, 8)}`;
  const prefix = '/v1/lake';
  await cluster.catalog('POST', `${prefix}/namespaces`, { namespace: [namespace] });
  const schema = { type: 'struct', fields: [{ id: 1, name: 'a', required: false, type: 'long' }] };
  const jobs = LARGE_COMMITS.map(async ({ path, of }, i) => {
    const name = `t${i}`;
    await cluster.catalog('POST', `${prefix}/namespaces/${namespace}/tables`, { name, schema });
    const placed = (text: string): string => text.replaceAll('{namespace}', namespace).replaceAll('{table}', name);
    return COMMIT_BYTES.map((bytes) => () => send(cluster.catalogUrl + prefix + placed(path), placed(of(bytes))));
  });
  return (await Promise.all(jobs)).flat();
}

/** A table with so many files that the description of its task is as long as the largest statement. */
async function manyFiles(): Promise<Job> {
  const name = `many_${randomUUID().slice(0, 8)}`;
  const manifest = manifestOfMany(FILES, `file://${cluster.dataDir}/warehouse/default/${name}`);
  await createHostileTable(catalogPost(cluster.catalogUrl, 'lake', token), name, [manifest]);
  const sql = `SELECT count(a) FROM lake.default.${name}`;
  return () => send(`${cluster.queryUrl}/api/query`, JSON.stringify({ sql }));
}

test('no service is kept from its other clients by large statements and commits of 64', async () => {
  const scan = await manyFiles();
  // One of them between any ten statements.
  const asked = statements().flatMap((job, i) => (i % 10 === 0 ? [scan, job] : [job]));
  const jobs = { statements: asked, commits: await commits() };
  const before = await turns();
  const untilMs = performance.now() + ATTACK_MS;
  await Promise.all([
    attack(STATEMENT_CLIENTS, jobs.statements, untilMs),
    attack(COMMIT_CLIENTS, jobs.commits, untilMs),
  ]);
  // A turn is counted when it has ended.
  await sleep(100);
  for (const [name, now] of await turns()) {
    const { count, longerThan } = now.since(must(before.get(name), `${name} before`));
    const said = `${name}: of ${count} turns ${longerThan(LONG_SECONDS)} are longer than ${LONG_SECONDS} s`;
    expect(count, said).toBeGreaterThan(500);
    expect.soft(longerThan(LONGEST_SECONDS), `${said}, and of these so many than ${LONGEST_SECONDS} s`).toBe(0);
    expect.soft(longerThan(LONG_SECONDS), said).toBeLessThanOrEqual(Math.ceil(count * LONG_SHARE));
  }
  expect(await cluster.sql('SELECT 1')).toEqual([[1]]);
}, 120_000);
