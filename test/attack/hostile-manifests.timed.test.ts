import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { StartedCluster } from '#test/support/cluster.ts';
import { avroContainer, bomb, exponentialSchema, recordOf } from '#test/support/hostile-avro.ts';
import { catalogPost, createHostileTable, createRival, type CatalogPost } from '#test/support/hostile-table.ts';
import { startOwnCluster } from '#test/support/resources.ts';
import { machineSlowness } from '#test/support/run/machine-speed.ts';
import { patience } from '#test/support/run/slowness.ts';

/** One tenant has manifests that are expensive to read; another tenant must not be slowed down. */

/** Longest that any answer to the other tenant may take on the reference machine. */
const ANSWER_MS_MAX = 1_000;
/** Warm-up before the attack, because the first requests of a cluster take longer. */
const WARM_MS = 1_000;
const MIB = 2 ** 20;
const ATTACKS_AT_ONCE = 8;

/** 910 bytes with a schema of 7^8 types for a reader that compiles a named type at every reference. */
const EXPONENTIAL = avroContainer(exponentialSchema(8, 6), [{ count: 1, bytes: new Uint8Array(20) }]);
/** Half a megabyte that claims a hundred million records. */
const BOMB = avroContainer(recordOf('int'), [{ count: 100_000_000, bytes: bomb('deflate', 511 * MIB) }], 'deflate');

let cluster: StartedCluster;
let rival: string;
let post: CatalogPost;

beforeAll(async () => {
  cluster = await startOwnCluster({
    args: ['--worker-cores', '1', '--worker-memory', '512MB'],
    // Long waits, so that a plan's request is answered with its refusal.
    env: {
      SKEIN_CATALOG_BACKGROUND_INTERVAL: '100ms',
      SKEIN_CATALOG_JOB_RETRY_WAIT: '100ms',
      SKEIN_CATALOG_PLAN_WAIT: '60s',
    },
  });
  await cluster.load(['tpch', '--scale', '0.01']);
  ({ token: rival, post } = await createRival(cluster));
}, 180_000);
afterAll(() => cluster?.stop());

async function parkedPurges(): Promise<number> {
  const text = await (await fetch(`${cluster.catalogUrl}/metrics`)).text();
  return Number(/^skein_catalog_jobs_parked\{job="purge"\} (\d+)$/m.exec(text)?.[1]);
}
let parked = 0;

/** Works for the other tenant until `until` aborts; returns the longest time that anything took. */
async function victim(until: AbortSignal): Promise<{ readonly rounds: number; readonly longestMs: number }> {
  const token = await cluster.token();
  const plan = catalogPost(cluster.catalogUrl, 'lake', token);
  const timed = async (work: () => Promise<void>): Promise<void> => {
    const start = performance.now();
    await work();
    longestMs = Math.max(longestMs, performance.now() - start);
  };
  let longestMs = 0;
  let rounds = 0;
  while (!until.aborted) {
    await timed(async () => {
      expect((await cluster.catalog('GET', '/v1/lake/namespaces/tpch/tables')).status).toBe(200);
    });
    await timed(async () => {
      expect((await cluster.catalog('GET', '/v1/lake/namespaces/tpch/tables/orders')).status).toBe(200);
    });
    await timed(async () => {
      expect((await plan('/namespaces/tpch/tables/orders/plan', {}))['status']).toBe('completed');
    });
    await timed(async () => {
      const { status, body } = await cluster.query('SELECT count(*) FROM lake.tpch.nation', { token });
      expect([status, body.rows]).toEqual([200, [[25]]]);
    });
    rounds += 1;
    await sleep(50);
  }
  return { rounds, longestMs };
}

test.each([
  ['schemas that multiply', 'exponential', EXPONENTIAL],
  ['deflate bombs, eight in a table', 'bombs', BOMB],
])(
  '%s',
  async (_what, name, manifest) => {
    await createHostileTable(
      post,
      name,
      Array.from({ length: 8 }, () => manifest),
    );
    const before = await cluster.services();
    await victim(AbortSignal.timeout(WARM_MS));
    const over = new AbortController();
    const answered = victim(over.signal);
    const attacks = Array.from({ length: ATTACKS_AT_ONCE }, async (_, i) => {
      const sql = `SELECT count(*) FROM rival_lake.default.${name} WHERE a > ${i}`;
      const { status, body } = await cluster.query(sql, { token: rival });
      expect([status, body.error]).toEqual([400, 'TABLE_DATA_TOO_COMPLEX']);
      expect(body.message).toContain('/metadata/m');
      const scan = post(`/namespaces/default/tables/${name}/plan`, { select: ['a'], 'case-sensitive': i % 2 === 0 });
      await expect(scan).rejects.toThrow('406');
      const truncated = await cluster.query(`TRUNCATE TABLE rival_lake.default.${name}`, { token: rival });
      expect([truncated.status, truncated.body.error]).toEqual([400, 'TABLE_DATA_TOO_COMPLEX']);
    });
    await Promise.all(attacks);
    const url = `${cluster.catalogUrl}/v1/rival_lake/namespaces/default/tables/${name}?purgeRequested=true`;
    const dropped = await fetch(url, { method: 'DELETE', headers: { authorization: `Bearer ${rival}` } });
    expect(dropped.status).toBe(204);
    await expect.poll(parkedPurges, { timeout: patience(60_000) }).toBe(++parked);
    over.abort();
    const { rounds, longestMs } = await answered;
    expect(rounds).toBeGreaterThan(5);
    expect(longestMs).toBeLessThan(ANSWER_MS_MAX * machineSlowness());
    expect(await cluster.services()).toEqual(before);
    expect(await cluster.cliOk(['status'])).toContain(`rival_lake.default.${name}`);
  },
  180_000,
);

test('the operator sees the purges that are parked, with their reasons, and has them tried again', async () => {
  const { jobs } = JSON.parse(await cluster.cliOk(['admin', 'job', 'list', '--json'])) as {
    jobs: readonly { readonly id: string; readonly tenant: string; readonly reason: string }[];
  };
  expect(jobs).toHaveLength(2);
  for (const { tenant, reason } of jobs) {
    expect(tenant).toBe('rival');
    expect(reason).toMatch(/m0\.avro: .*(steps|bytes)/);
  }
  expect(await cluster.cliOk(['status'])).toContain('2 background jobs are parked');
  expect(JSON.parse(await cluster.cliOk(['admin', 'job', 'retry', jobs[0]?.id ?? '']))).toEqual({ retried: 1 });
  expect((await cluster.cli(['admin', 'job', 'retry'])).code).toBe(2);
  expect((await cluster.cli(['admin', 'job', 'retry', 'none'])).code).toBe(1);
  expect(JSON.parse(await cluster.cliOk(['admin', 'job', 'retry', '--all']))).toMatchObject({
    retried: expect.any(Number) as number,
  });
});
