import { randomUUID } from 'node:crypto';
import { TPCH_TABLES } from '#cli/load/tpch.ts';
import { openStorage } from '#shared/storage/open-storage.ts';
import { makeBucketCatalog } from '#test/support/bucket-catalog.ts';
import { startCluster, type StartedCluster } from '#test/support/cluster.ts';
import { duckdbExtension } from '#test/support/duckdb-extension.ts';
import { startMinio, type Minio } from '#test/support/minio.ts';
import { pythonBin } from '#test/support/python.ts';
import { startStoreProxy, type StoreProxy } from '#test/support/store-proxy.ts';
import { TPCH_QUERIES } from '#test/tpch/tpch-queries.ts';
import { printTable } from '../report/print-table.ts';
import { median } from '../report/statistics.ts';
import { writeResult } from '../report/write-result.ts';
import { DuckDbPeer } from '../tpch/duckdb-peer.ts';
import { warmUp } from '../warm-up.ts';
import { timeInTurns, type Timed } from './time-in-turns.ts';
import { fetchPlainly, sizesOf, uploadPlainly } from './plain-client.ts';

export type ObjectStoreOptions = { readonly scale: string; readonly runs: number };

const QUERY_TIMEOUT_MS = 600_000;
/** Connections of the plain client. */
const CONNECTIONS = 8;
/** A line as between a rented machine and a store in its region. */
const LINE = { delayMs: 20, bytesPerSecond: 25e6 };
/** Statements that are measured over the slow line: two that read much of one table, and a join. */
const LINE_QUERIES: ReadonlySet<string> = new Set(['q01', 'q06', 'q14']);

type Parts = { readonly cluster: StartedCluster; readonly minio: Minio; readonly proxy: StoreProxy };

/**
 * TPC-H over a bucket: two workers of one core, MinIO behind a proxy that counts. Beside it the same cluster over local files, plain DuckDB
 * with its httpfs over the same objects, and a client that only fetches.
 */
export async function benchObjectStore({ scale, runs }: ObjectStoreOptions): Promise<void> {
  await using minio = await startMinio();
  await minio.makeBucket('warehouse');
  await using proxy = await startStoreProxy(minio.endpoint);
  const cluster = await startCluster({ workers: 2, args: ['--worker-cores', '1'] });
  try {
    const parts = { cluster, minio, proxy };
    const writes = await fill(parts, scale);
    const [local, cloud] = [await asked(cluster, 'lake.tpch'), await asked(cluster, 'cloud.tpch')];
    const cold = await measureCold(parts, cloud);
    const line = await measureLine(parts, cloud);
    const warm = await measureWarm(parts, { local, cloud }, runs);
    const duckdb = await measureDuckDb(parts, runs);
    await report({ scale, runs }, { ...writes, ...cold, line, ...warm, ...duckdb });
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

type WriteFigures = Readonly<Record<'localCtasMs' | 'ctasMs' | 'uploadMs' | 'ctasRatio', number>>;
type ColdFigures = { readonly name: string; readonly bytes: number; readonly requests: number; readonly ms: number };
type LineFigures = ColdFigures & { readonly plainMs: number; readonly ratio: number };
type PeerFigures = Omit<ColdFigures, 'ms'> & { readonly coldMs: number; readonly warmMs: number };

/** Loads the tables into local files and copies them into the bucket; `lineitem` last, with the times that it takes. */
async function fill({ cluster, minio, proxy }: Parts, scale: string): Promise<WriteFigures> {
  const tools = { PATH: `${await pythonBin()}:/usr/local/bin:/usr/bin:/bin` };
  await cluster.cliOk(['load', 'tpch', '--scale', scale], scale === '0.01' ? {} : tools);
  const throughProxy = { ...minio, endpoint: proxy.endpoint };
  await makeBucketCatalog(cluster, throughProxy, { name: 'cloud', location: 's3://warehouse/lake' });
  const run = await asked(cluster, 'lake.tpch');
  await run('CREATE SCHEMA cloud.tpch');
  for (const table of TPCH_TABLES) {
    if (table !== 'lineitem') await run(`CREATE TABLE cloud.tpch.${table} AS SELECT * FROM ${table}`);
  }
  const localCtasMs = await run('CREATE TABLE lake.tpch.copy AS SELECT * FROM lineitem');
  const ctasMs = await run('CREATE TABLE cloud.tpch.lineitem AS SELECT * FROM lineitem');
  await run('DROP TABLE lake.tpch.copy PURGE');
  const location = await locationOf(cluster);
  const uploadMs = await uploadPlainly(openStorage(location, minio.key), location, 's3://warehouse/plain');
  return { localCtasMs, ctasMs, uploadMs, ctasRatio: ctasMs / Math.max(localCtasMs, uploadMs) };
}

async function locationOf(cluster: StartedCluster, table = 'lineitem'): Promise<string> {
  const { body } = await cluster.catalog('GET', `/v1/cloud/namespaces/tpch/tables/${table}`);
  return (body as { readonly metadata: { readonly location: string } }).metadata.location;
}

const clear = (cluster: StartedCluster): Promise<string> => cluster.cliOk(['worker', 'cache', 'clear']);

/** Every statement with nothing in the cache: bytes and requests, and the column chunks that it says it has read. */
async function measureCold(
  { cluster, proxy }: Parts,
  cloud: Timed,
): Promise<{
  readonly cold: readonly ColdFigures[];
  readonly coldMs: number;
  readonly limitBytes: number;
}> {
  const queries: ColdFigures[] = [];
  for (const { name, sql } of TPCH_QUERIES) {
    await clear(cluster);
    proxy.takeCounts();
    const ms = await cloud(sql);
    const { readBytes: bytes, reads: requests } = proxy.takeCounts();
    queries.push({ name, bytes, requests, ms });
    process.stderr.write(`${name} ${(bytes / 1e6).toFixed(1)} MB ${requests}\n`);
  }
  await clear(cluster);
  proxy.takeCounts();
  await cloud('SELECT * FROM lineitem LIMIT 10');
  const limitBytes = proxy.takeCounts().readBytes;
  return { cold: queries, coldMs: sum(queries.map(({ ms }) => ms)), limitBytes };
}

/** The same over a slow line, beside a client that fetches as many bytes in as many requests. */
async function measureLine({ cluster, minio, proxy }: Parts, cloud: Timed): Promise<readonly LineFigures[]> {
  const measured: LineFigures[] = [];
  const objects = await sizesOf(openStorage('s3://warehouse/lake', minio.key), await locationOf(cluster));
  const plain = openStorage('s3://warehouse/lake', { ...minio.key, endpoint: proxy.endpoint });
  for (const { name, sql } of TPCH_QUERIES.filter((query) => LINE_QUERIES.has(query.name))) {
    await clear(cluster);
    proxy.set(LINE);
    proxy.takeCounts();
    const ms = await cloud(sql);
    const { readBytes, reads } = proxy.takeCounts();
    const plainMs = await fetchPlainly(plain, objects, { bytes: readBytes, requests: reads, connections: CONNECTIONS });
    proxy.set({});
    measured.push({ name, ms, plainMs, bytes: readBytes, requests: reads, ratio: ms / plainMs });
  }
  return measured;
}

async function measureWarm(
  { cluster, proxy }: Parts,
  { local, cloud }: { readonly local: Timed; readonly cloud: Timed },
  runs: number,
) {
  await clear(cluster);
  proxy.takeCounts();
  for (const { sql } of TPCH_QUERIES) await cloud(sql);
  const firstBytes = proxy.takeCounts().readBytes;
  await warmUp(cluster, async () => {
    for (const run of [local, cloud]) for (const { sql } of TPCH_QUERIES) await run(sql);
  });
  proxy.takeCounts();
  const queries = await timeInTurns({ local, cloud }, runs);
  const warmBytes = proxy.takeCounts().readBytes / runs;
  for (const { pid } of cluster.workers()) process.kill(pid, 'SIGKILL');
  await new Promise((resolve) => setTimeout(resolve, RESTART_MS));
  proxy.takeCounts();
  for (const { sql } of TPCH_QUERIES) await cloud(sql);
  const restartBytes = proxy.takeCounts().readBytes;
  const [localMs, cloudMs] = [sum(queries.map((one) => one.localMs)), sum(queries.map((one) => one.cloudMs))];
  const shares = { warmShare: warmBytes / firstBytes, restartShare: restartBytes / firstBytes };
  return { firstBytes, warm: queries, localMs, cloudMs, warmRatio: cloudMs / localMs, ...shares };
}

/** Workers that were killed are back. */
const RESTART_MS = 5_000;

/** DuckDB over the same objects: without what it remembers of them, and with it. */
async function measureDuckDb({ cluster, minio, proxy }: Parts, runs: number) {
  using peer = new DuckDbPeer({ loads: true });
  await peer.ask(`LOAD '${await duckdbExtension('httpfs')}'`);
  const { accessKeyId, secretAccessKey } = minio.key;
  await peer.ask(`CREATE SECRET (TYPE s3, KEY_ID '${accessKeyId}', SECRET '${secretAccessKey}', REGION 'us-east-1',
    ENDPOINT '${proxy.endpoint.replace('http://', '')}', URL_STYLE 'path', USE_SSL false)`);
  for (const table of TPCH_TABLES) {
    const location = await locationOf(cluster, table);
    const files = await sizesOf(openStorage(location, minio.key), location);
    const list = files.map((file) => `'${file.location}'`).join(', ');
    await peer.ask(`CREATE VIEW ${table} AS SELECT * FROM read_parquet([${list}])`);
  }
  const queries: PeerFigures[] = [];
  for (const { name, sql } of TPCH_QUERIES) {
    await peer.ask('SET enable_external_file_cache = false; SET enable_external_file_cache = true');
    proxy.takeCounts();
    const { elapsedMs: coldMs } = await peer.ask(sql);
    const { readBytes: bytes, reads: requests } = proxy.takeCounts();
    const warm: number[] = [];
    for (let i = 0; i < runs; i++) warm.push((await peer.ask(sql)).elapsedMs);
    queries.push({ name, bytes, requests, coldMs, warmMs: median(warm) });
  }
  return { duckdb: queries, duckdbWarmMs: sum(queries.map(({ warmMs }) => warmMs)) };
}

const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0);

type Figures = Awaited<ReturnType<typeof fill>> &
  Awaited<ReturnType<typeof measureCold>> &
  Awaited<ReturnType<typeof measureWarm>> &
  Awaited<ReturnType<typeof measureDuckDb>> & { readonly line: readonly LineFigures[] };

async function report(options: ObjectStoreOptions, figures: Figures): Promise<void> {
  const { cold, warm, duckdb, line } = figures;
  const mb = (bytes: number): string => (bytes / 1e6).toFixed(1);
  const rows = cold.map((one, i) => {
    const [own, peer] = [warm[i], duckdb[i]];
    const texts = [one.name, mb(one.bytes), one.requests, mb(peer?.bytes ?? 0), peer?.requests ?? 0];
    const times = [one.ms, peer?.coldMs ?? 0, own?.localMs ?? 0, own?.cloudMs ?? 0, peer?.warmMs ?? 0];
    return [...texts.map(String), ...times.map((ms) => ms.toFixed(0))];
  });
  const totals = ['total', '', '', '', '', figures.coldMs, '', figures.localMs, figures.cloudMs, figures.duckdbWarmMs];
  const header = ['TPC-H', 'cold MB', 'requests', 'DuckDB MB', 'requests', 'cold ms', 'DuckDB cold', 'warm file: ms'];
  const facts = [
    `warm: ${figures.warmRatio.toFixed(3)} of file:, ${(figures.warmShare * 100).toFixed(1)} % of the bytes; after a restart ${(figures.restartShare * 100).toFixed(1)} %`,
    `LIMIT 10 of lineitem: ${mb(figures.limitBytes)} MB`,
    `CREATE TABLE AS of lineitem: ${figures.ctasMs.toFixed(0)} ms; local ${figures.localCtasMs.toFixed(0)}, plain upload ${figures.uploadMs.toFixed(0)}: ${figures.ctasRatio.toFixed(2)}`,
    ...line.map(
      (one) =>
        `line, ${one.name}: ${one.ms.toFixed(0)} ms, ${mb(one.bytes)} MB in ${one.requests}; plain client ${one.plainMs.toFixed(0)}: ${one.ratio.toFixed(2)}`,
    ),
  ];
  await writeResult(`object-store-sf${options.scale}`, {
    table: `${printTable(
      [...header, 'warm s3: ms', 'DuckDB warm'],
      [...rows, totals.map((one) => (typeof one === 'number' ? one.toFixed(0) : one))],
    )}\n\n${facts.join('\n')}`,
    figures: { ...options, ...figures },
    chart: {
      title: `TPC-H at scale ${options.scale} over a bucket, warm median of ${options.runs}`,
      unit: 'ms',
      labels: warm.map(({ name }) => name),
      series: [
        { name: 'file:', color: '#64748b', values: warm.map(({ localMs }) => localMs) },
        { name: 's3:', color: '#2563eb', values: warm.map(({ cloudMs }) => cloudMs) },
        { name: 'DuckDB httpfs', color: '#f59e0b', values: duckdb.map(({ warmMs }) => warmMs) },
      ],
    },
  });
}
