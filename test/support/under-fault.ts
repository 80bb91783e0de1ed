import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { expect } from 'vitest';
import type { HostCluster } from './host-cluster.ts';
import type { HostFault } from './host-faults.ts';
import type { HostClient, NumberedLoad } from './numbered-load.ts';

/** Time for reads and writes to go on after a fault has ended. */
const BACK_MS_MAX = 20_000;
const SETTLED_MS = 2_000;
/** Time for the records of the history to be in Postgres. */
const RECORDED_MS = 15_000;

/** Errors that a fault may cause: each says truly what happened, and that another attempt may go well. */
const TOLD: ReadonlySet<string> = new Set([
  'NOT_ACTIVE',
  'NOBODY_LEADS',
  'NO_ANSWER',
  'CATALOG_UNAVAILABLE',
  'COMMIT_NOT_APPLIED',
  'COMMIT_STATE_UNKNOWN',
  'WORKER_LOST',
  'NO_WORKERS',
  'QUERY_TIMEOUT',
]);

type Tried = { readonly cluster: HostCluster; readonly client: HostClient; readonly load: NumberedLoad };

/** Lets a fault come and go under the load, and requires what holds for all of them. */
export async function underFault({ cluster, client, load }: Tried, fault: HostFault): Promise<void> {
  await expect.poll(() => client.ask('SELECT 1'), { timeout: BACK_MS_MAX }).toEqual({ rows: [[1]] });
  await sleep(SETTLED_MS);
  load.measure();
  const mend = await fault.hurt(cluster);
  try {
    await sleep(fault.holdMs);
    if (fault.outageMsMax !== undefined) expect(load.outageMsMax).toBeLessThan(fault.outageMsMax);
  } finally {
    await mend();
  }
  const [mendedMs, writes] = [performance.now(), load.writes];
  await expect.poll(() => client.ask('SELECT 2'), { timeout: BACK_MS_MAX }).toEqual({ rows: [[2]] });
  await expect.poll(() => load.writes, { timeout: BACK_MS_MAX }).toBeGreaterThan(writes);
  expect(performance.now() - mendedMs).toBeLessThan(BACK_MS_MAX);
  expect([...load.errors.keys()].filter((code) => !TOLD.has(code))).toEqual([]);
  await requireOneTermAfterTheOther(cluster, load.order);
}

/** Requires that no term has committed after a later one had, by the order in which writes were acknowledged. */
async function requireOneTermAfterTheOther(cluster: HostCluster, order: readonly number[]): Promise<void> {
  const client = new pg.Client({ connectionString: cluster.postgres.url });
  await client.connect();
  try {
    const epochs = new Map<number, number>();
    const read = async (): Promise<readonly number[]> => {
      const { rows } = await client.query<{ n: string; epoch: string }>(
        `select substring(sql from '\\((\\d+)\\)') as n, epoch from coordinator.query_history
         where status = 'completed' and sql like 'INSERT INTO %numbered%'`,
      );
      for (const { n, epoch } of rows) epochs.set(Number(n), Number(epoch));
      return order.filter((n) => !epochs.has(n));
    };
    await expect.poll(read, { timeout: RECORDED_MS, interval: 500 }).toEqual([]);
    const terms = order.map((n) => epochs.get(n) ?? 0);
    expect(terms).toEqual(terms.toSorted((a, b) => a - b));
  } finally {
    await client.end();
  }
}
