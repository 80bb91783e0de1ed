import { randomUUID } from 'node:crypto';
import { availableParallelism } from 'node:os';
import type { Cluster } from '#test/support/cluster.ts';
import { HUNDRED_FILES, hundredFiles, tenGroups } from './hundred-files.ts';

export type LatencyCase = {
  readonly name: string;
  readonly clients: number;
  /** A long query runs on every slot. */
  readonly isBusy: boolean;
  readonly request: () => Promise<void>;
};

type Asked = { readonly cluster: Cluster; readonly ask: (sql: string) => Promise<void>; readonly scale: number };

/** Numbers of clients that ask at once. */
export const LATENCY_CLIENTS = [1, 16] as const;
export const GROUPS = 'ten groups, 100 files';
/** TPC-H order keys are the first 8 of every 32 integers. */
const ORDER_KEYS_PER_SCALE = 6_000_000;
const COMMITS = 'lake.bench.commits';
const LONG_QUERY = 'SELECT max(hash(n)) FROM range(1000000000000) AS r(n)';

/**
 * Small statements: SELECT 1, one order by its key, ten groups out of a table of 100 files, and a commit, whose latency is the price of reads
 * that are always fresh; the first two again while a long query runs on every slot. Makes the tables that they need beside TPC-H.
 */
export async function latencyCases({ cluster, ask, scale }: Asked): Promise<readonly LatencyCase[]> {
  await hundredFiles(cluster);
  for (const sql of [`DROP TABLE IF EXISTS ${COMMITS} PURGE`, `CREATE TABLE ${COMMITS} (id BIGINT)`]) await ask(sql);
  const point = pointQuery(scale);
  const one = (): Promise<void> => ask('SELECT 1');
  const byKey = (): Promise<void> => ask(point('lake.tpch.orders'));
  return [
    ...LATENCY_CLIENTS.map((clients) => ({ name: 'SELECT 1', clients, isBusy: false, request: one })),
    ...LATENCY_CLIENTS.map((clients) => ({ name: 'point query', clients, isBusy: false, request: byKey })),
    { name: GROUPS, clients: 1, isBusy: false, request: () => ask(tenGroups(HUNDRED_FILES)) },
    {
      name: 'commit: INSERT of a row',
      clients: 1,
      isBusy: false,
      request: () => ask(`INSERT INTO ${COMMITS} VALUES (1)`),
    },
    { name: 'SELECT 1, slots busy', clients: 1, isBusy: true, request: one },
    { name: 'point query, slots busy', clients: 1, isBusy: true, request: byKey },
  ];
}

/** `SELECT 1` and the query by key in turns, as statements that warm the services up. */
export function warmUpStatement({ ask, scale }: Omit<Asked, 'cluster'>): () => Promise<void> {
  const point = pointQuery(scale);
  let asked = 0;
  return () => ask(asked++ % 2 === 0 ? 'SELECT 1' : point('lake.tpch.orders'));
}

/** Draws keys in a fixed order, so that every system is asked for the same rows. */
export function pointQuery(scale: number): (table: string) => string {
  let state = 42;
  return (table) => {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648;
    const block = Math.floor((state / 2_147_483_648) * ((ORDER_KEYS_PER_SCALE * scale) / 32));
    return `SELECT o_orderkey, o_totalprice, o_orderdate FROM ${table} WHERE o_orderkey = ${block * 32 + 1 + (state % 7)}`;
  };
}

/** Starts one endless query per slot of the cluster; the answer cancels them and waits until they are gone. */
export async function occupyEverySlot(cluster: Cluster): Promise<() => Promise<void>> {
  const ids = Array.from({ length: cluster.ready.workers * availableParallelism() }, () => randomUUID());
  const running = ids.map((queryId) =>
    cluster.query(LONG_QUERY, { queryId, timeoutMs: 600_000 }).catch(() => undefined),
  );
  await new Promise((resolve) => setTimeout(resolve, 2_000));
  return async () => {
    const authorization = `Bearer ${await cluster.token()}`;
    await Promise.all(
      ids.map((id) => fetch(`${cluster.queryUrl}/api/query/${id}`, { method: 'DELETE', headers: { authorization } })),
    );
    await Promise.all(running);
  };
}
