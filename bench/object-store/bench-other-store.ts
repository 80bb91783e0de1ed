import { randomUUID } from 'node:crypto';
import { TPCH_TABLES } from '#cli/load/tpch.ts';
import { must } from '#shared/must.ts';
import { startAnyStore } from '#test/support/any-store.ts';
import { startCluster, type StartedCluster } from '#test/support/cluster.ts';
import { pythonBin } from '#test/support/python.ts';
import { startStoreProxy, type StoreProxy } from '#test/support/store-proxy.ts';
import { TPCH_QUERIES } from '#test/tpch/tpch-queries.ts';
import { printTable } from '../report/print-table.ts';
import { writeResult } from '../report/write-result.ts';
import { warmUp } from '../warm-up.ts';
import { timeInTurns, type Timed } from './time-in-turns.ts';

type OtherStoreOptions = { readonly scale: string; readonly runs: number; readonly store: string };

const QUERY_TIMEOUT_MS = 600_000;

/**
 * TPC-H over an emulator of Google's or Azure's store, or over MinIO, warm, beside the same cluster over local files: two workers of one core,
 * behind a proxy that counts. Emulators are slow, so that times with an empty cache would be theirs. @throws for another store
 */
export async function benchOtherStore({ scale, runs, store: kind }: OtherStoreOptions): Promise<void> {
  await using store = await startAnyStore(kind === 's3' ? '' : kind);
  const endpoint = must(store.credential.endpoint, 'an emulator has an address');
  await using proxy = await startStoreProxy(endpoint);
  const cluster = await startCluster({ workers: 2, args: ['--worker-cores', '1'], env: store.env });
  try {
    const flags = store.flags.map((flag) => (flag === endpoint ? proxy.endpoint : flag));
    await cluster.cliOk(['admin', 'catalog', 'create', 'cloud', '--storage', `${store.root}/lake`, ...flags]);
    const ctasMs = await fill(cluster, scale);
    const figures = { ctasMs, ...(await measure(cluster, proxy, runs)) };
    await report({ scale, runs, store: kind }, figures);
  } finally {
    await cluster.stop();
  }
}

async function asked(cluster: StartedCluster, schema: string): Promise<Timed> {
  const sessionId = randomUUID();
  await cluster.sql(`USE ${schema}`, { sessionId });
  return async (sql) => {
    const begunMs = performance.now();
    await cluster.sql(sql, { sessionId, timeoutMs: QUERY_TIMEOUT_MS });
    return performance.now() - begunMs;
  };
}

/** Loads the tables into local files and copies them into the store. @returns the time of `lineitem` */
async function fill(cluster: StartedCluster, scale: string): Promise<number> {
  const tools = { PATH: `${await pythonBin()}:/usr/local/bin:/usr/bin:/bin` };
  await cluster.cliOk(['load', 'tpch', '--scale', scale], scale === '0.01' ? {} : tools);
  const run = await asked(cluster, 'lake.tpch');
  await run('CREATE SCHEMA cloud.tpch');
  let ms = 0;
  for (const table of TPCH_TABLES) {
    const tableMs = await run(`CREATE TABLE cloud.tpch.${table} AS SELECT * FROM ${table}`);
    if (table === 'lineitem') ms = tableMs;
  }
  return ms;
}

async function measure(cluster: StartedCluster, proxy: StoreProxy, runs: number) {
  const [local, cloud] = [await asked(cluster, 'lake.tpch'), await asked(cluster, 'cloud.tpch')];
  proxy.takeCounts();
  for (const { sql } of TPCH_QUERIES) await cloud(sql);
  const firstBytes = proxy.takeCounts().readBytes;
  await warmUp(cluster, async () => {
    for (const run of [local, cloud]) for (const { sql } of TPCH_QUERIES) await run(sql);
  });
  proxy.takeCounts();
  const warm = await timeInTurns({ local, cloud }, runs);
  const warmShare = proxy.takeCounts().readBytes / runs / firstBytes;
  const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0);
  const [localMs, cloudMs] = [sum(warm.map((one) => one.localMs)), sum(warm.map((one) => one.cloudMs))];
  return { firstBytes, warm, localMs, cloudMs, warmRatio: cloudMs / localMs, warmShare };
}

type Figures = Awaited<ReturnType<typeof measure>> & { readonly ctasMs: number };

async function report(options: OtherStoreOptions, figures: Figures): Promise<void> {
  const { warm, localMs, cloudMs, warmRatio, warmShare, ctasMs } = figures;
  const { store, scale, runs } = options;
  const rows = [...warm, { name: 'total', localMs, cloudMs }].map((one) => [
    one.name,
    one.localMs.toFixed(0),
    one.cloudMs.toFixed(0),
  ]);
  const facts = [
    `warm: ${warmRatio.toFixed(3)} of file:, ${(warmShare * 100).toFixed(1)} % of the bytes of the first round`,
    `CREATE TABLE AS of lineitem: ${ctasMs.toFixed(0)} ms, of which the emulator takes an unknown part`,
  ];
  await writeResult(`object-store-${store}-sf${scale}`, {
    table: `${printTable(['TPC-H', 'warm file: ms', `warm ${store}: ms`], rows)}\n\n${facts.join('\n')}`,
    figures: { ...options, ...figures },
    chart: {
      title: `TPC-H at scale ${scale} over an emulator (${store}), warm median of ${runs}`,
      unit: 'ms',
      labels: warm.map(({ name }) => name),
      series: [
        { name: 'file:', color: '#64748b', values: warm.map((one) => one.localMs) },
        { name: `${store}:`, color: '#2563eb', values: warm.map((one) => one.cloudMs) },
      ],
    },
  });
}
