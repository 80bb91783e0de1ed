import { randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { ALL_ROLES, TestCertificates } from '#test/support/certificates.ts';
import { startCluster, type StartedCluster } from '#test/support/cluster.ts';
import { startEtcd } from '#test/support/etcd.ts';
import { NamespacedWorker, readPage, WORKER_ENVIRONMENT } from '#test/support/namespaced-worker.ts';
import { WorkerNetwork, type NetworkMember } from '#test/support/network-namespaces.ts';
import { startTestPostgres } from '#test/support/postgres.ts';

/**
 * Workers on hosts of their own, each a network namespace, that cannot reach each other although all else is connected. Packets vanish, as
 * behind a broken switch. It needs root.
 */

const FAR = 2;
/** A read stands still for 5 s, then the query starts over. */
const FIRST_MS_MAX = 25_000;
const LATER_MS_MAX = 5_000;
const MENDED_MS_MAX = 20_000;
/** Rows of both tables go from worker to worker. */
const JOIN =
  'SELECT o_orderpriority, count(*), sum(l_quantity) FROM lake.tpch.orders JOIN lake.tpch.lineitem ON o_orderkey = l_orderkey GROUP BY ALL ORDER BY ALL';

const stack = new AsyncDisposableStack();
const hosts: NetworkMember[] = [];
let cluster: StartedCluster;
let expected: unknown;
const sessionId = randomUUID();

const isRoot = process.getuid?.() === 0;

beforeAll(async () => {
  if (!isRoot) return;
  const network = await WorkerNetwork.create();
  if (network === null) throw new Error('network namespaces cannot be made');
  stack.use(network);
  const dataDir = await mkdtemp(join(tmpdir(), 'skein-cut-'));
  stack.defer(() => rm(dataDir, { recursive: true, force: true, maxRetries: 3 }));
  const postgres = stack.use(await startTestPostgres());
  const certificates = stack.use(await TestCertificates.make());
  const host = network.hostAddress;
  const tls = await certificates.issue('cluster', ALL_ROLES);
  const server = await certificates.issue('etcd', ['etcd'], ['127.0.0.1', host]);
  const etcd = stack.use(await startEtcd({ listenHost: '0.0.0.0', tls: { server, client: tls } }));
  cluster = await startCluster({
    dataDir,
    tls,
    workers: 1,
    env: {
      ...WORKER_ENVIRONMENT,
      DATABASE_URL: postgres.url,
      ETCD_ENDPOINTS: etcd.endpoint,
      SKEIN_HOST: '0.0.0.0',
      SKEIN_INTERNAL_HOST: host,
    },
  });
  stack.defer(async () => void (await cluster.stop()));
  for (let i = 0; i < FAR; i++) {
    const member = await network.add();
    hosts.push(member);
    const issued = await certificates.issue(`far-${i}`, ['worker']);
    const worker = stack.use(new NamespacedWorker(`far-${i}`, member, { etcd, host, dataDir, tls: issued }));
    await worker.start();
  }
  await cluster.load(['tpch', '--scale', '0.01']);
  await vi.waitFor(async () => expect(await gauge('skein_workers_live')).toBe(1 + FAR), {
    timeout: 30_000,
    interval: 200,
  });
  await cluster.sql("SET skein.distribution = 'force'", { sessionId });
  await cluster.sql("SET skein.join_distribution = 'partitioned'", { sessionId });
  await cluster.sql('SET skein.partitions = 6', { sessionId });
  expected = await cluster.sql(JOIN, { sessionId });
}, 240_000);

afterAll(() => stack.disposeAsync());

async function gauge(name: string): Promise<number> {
  const page = (await readPage(`${cluster.queryUrl}/metrics`)) ?? '';
  return Number(new RegExp(`^${name}(?:\\{[^}]*\\})? (\\S+)$`, 'm').exec(page)?.[1]);
}

/** @returns milliseconds until the right answer */
async function timed(): Promise<number> {
  const start = performance.now();
  expect(await cluster.sql(JOIN, { sessionId })).toEqual(expected);
  return performance.now() - start;
}

test.skipIf(!isRoot).each([
  ['neither reaches the other', true],
  ['one reaches the other, but has no answer', false],
])(
  'two workers that are cut off from each other hang no query: %s',
  async (_name, isMutual) => {
    const [one, other] = hosts;
    if (one === undefined || other === undefined) throw new Error('invariant: two hosts');
    await one.cut(other, true);
    if (isMutual) await other.cut(one, true);
    expect(await timed()).toBeLessThan(FIRST_MS_MAX);
    expect(await gauge('skein_worker_pairs_apart')).toBeGreaterThan(0);
    for (let i = 0; i < 3; i++) expect(await timed()).toBeLessThan(LATER_MS_MAX);
    expect(await gauge('skein_workers_live')).toBe(1 + FAR);
    await one.cut(other, false);
    if (isMutual) await other.cut(one, false);
    await expect.poll(() => gauge('skein_worker_pairs_apart'), { timeout: MENDED_MS_MAX }).toBe(0);
    expect(await timed()).toBeLessThan(LATER_MS_MAX);
  },
  120_000,
);
