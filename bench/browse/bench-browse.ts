import { existsSync } from 'node:fs';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { must } from '#shared/must.ts';
import { projectRoot, startCluster, type Cluster } from '#test/support/cluster.ts';
import { CatalogClients } from '../catalog/catalog-clients.ts';
import { load, type LoadFigures } from '../latency/load.ts';
import { printTable } from '../report/print-table.ts';
import { servicesOf } from '../report/process-cpu.ts';
import { quantile } from '../report/statistics.ts';
import { writeResult } from '../report/write-result.ts';
import { benchTools, type ToolFigures } from './bench-tools.ts';

/** Schemas, tables of each, and columns of each of these. */
const SCHEMAS = 100;
const TABLES = 100;
const COLUMNS = 30;
const CREATING_CLIENTS = 16;
/** Counts behind a commit each. */
const COMMITS = 9;
const BROWSERS = 50;
const MIB = 1_048_576;

type Case = { readonly name: string } & LoadFigures;
type Memory = Readonly<Record<'coordinator' | 'catalog', number>>;

/** Measures INFORMATION_SCHEMA over 10,000 tables of 30 columns: what a browsing client asks for, and what its questions cost others. */
export async function benchBrowse({ seconds }: { readonly seconds: number }): Promise<void> {
  const dataDir = join(projectRoot, '.cache/bench/browse');
  await mkdir(dataDir, { recursive: true });
  const cluster = await startCluster({ dataDir, workers: 1 });
  try {
    await makeTables(cluster, dataDir);
    const cases: Case[] = [];
    const add = async (name: string, clients: number, sql: () => string): Promise<Case> => {
      const figures = await load(clients, seconds, async () => void (await cluster.sql(sql())));
      const one = { name, ...figures };
      cases.push(one);
      process.stderr.write(`${name}, ${clients}: ${figures.p50Ms.toFixed(1)} ms, p99 ${figures.p99Ms.toFixed(1)} ms\n`);
      return one;
    };
    await add('SELECT 1', 1, () => 'SELECT 1');
    const before = await memoryOf(cluster);
    const first = await timed(cluster, COUNT);
    await add('columns of one table', 1, columnsOfOne);
    await add('count of all columns', 1, () => COUNT);
    const behindCommits = await behind(cluster);
    const after = await memoryOf(cluster);
    const alone = await probe(cluster, seconds);
    const busy = new AbortController();
    const browsing = Array.from({ length: BROWSERS }, () => browse(cluster, busy.signal));
    const beside = await probe(cluster, seconds);
    busy.abort();
    await Promise.all(browsing);
    const tools = await benchTools(cluster, seconds);
    const grown = { coordinator: after.coordinator - before.coordinator, catalog: after.catalog - before.catalog };
    await report({ cases, first, behindCommits, grown, alone, beside, tools });
  } finally {
    await cluster.stop();
  }
}

const COUNT = 'SELECT count(*) FROM lake.information_schema.columns';
const draw = (n: number): number => Math.floor(Math.random() * n);
const columnsOfOne = (): string =>
  `SELECT * FROM lake.information_schema.columns WHERE table_schema = 'ns${draw(SCHEMAS)}' AND table_name = 't${draw(TABLES)}'`;

async function makeTables(cluster: Cluster, dataDir: string): Promise<void> {
  const done = join(dataDir, 'tables.done');
  if (existsSync(done)) return;
  const clients = new CatalogClients(cluster.catalogUrl, await cluster.token({ ttlMs: 3_600_000 }));
  const fields = Array.from({ length: COLUMNS }, (_, i) => ({
    id: i + 1,
    name: `column_${i}`,
    required: i === 0,
    type: i === 0 ? 'long' : i % 3 === 0 ? 'decimal(18,4)' : 'string',
  }));
  const schema = { type: 'struct', fields };
  for (let i = 0; i < SCHEMAS; i += 1) {
    await clients.request(0, 'POST', '/v1/lake/namespaces', { namespace: [`ns${i}`] }, { expected: [200, 409] });
  }
  const left = Array.from({ length: SCHEMAS * TABLES }, (_, i) => i);
  const create = async (client: number): Promise<void> => {
    for (let i = left.pop(); i !== undefined; i = left.pop()) {
      const path = `/v1/lake/namespaces/ns${Math.floor(i / TABLES)}/tables`;
      await clients.request(client, 'POST', path, { name: `t${i % TABLES}`, schema }, { expected: [200, 409] });
    }
  };
  await Promise.all(Array.from({ length: CREATING_CLIENTS }, (_, client) => create(client)));
  clients.close();
  await writeFile(done, '');
}

async function timed(cluster: Cluster, sql: string): Promise<number> {
  const started = performance.now();
  await cluster.sql(sql);
  return performance.now() - started;
}

/** Times of the count right behind a commit. */
async function behind(cluster: Cluster): Promise<readonly number[]> {
  const times: number[] = [];
  for (let i = 0; i < COMMITS; i += 1) {
    await cluster.sql(`ALTER TABLE lake.ns${i}.t0 SET PROPERTIES ('bench.commit' = '${Date.now()}')`);
    times.push(await timed(cluster, COUNT));
  }
  return times;
}

/** 95th percentile of `SELECT 1`, one after another, in ms. */
async function probe(cluster: Cluster, seconds: number): Promise<number> {
  const times: number[] = [];
  const end = performance.now() + seconds * 1_000;
  while (performance.now() < end) times.push(await timed(cluster, 'SELECT 1'));
  return quantile(times, 0.95);
}

/** A client that looks around: schemas, tables of one, columns of one, and a moment of reading. */
async function browse(cluster: Cluster, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    const schema = `ns${draw(SCHEMAS)}`;
    await cluster.sql('SELECT schema_name FROM lake.information_schema.schemata');
    await cluster.sql(`SELECT table_name FROM lake.information_schema.tables WHERE table_schema = '${schema}'`);
    await cluster.sql(columnsOfOne());
    await new Promise((resolve) => setTimeout(resolve, READING_MS));
  }
}

const READING_MS = 1_000;

async function memoryOf(cluster: Cluster): Promise<Memory> {
  const services = await servicesOf(cluster);
  const resident = async (kind: keyof Memory): Promise<number> => {
    const { pid } = must(
      services.find((service) => service.kind === kind),
      kind,
    );
    const status = await readFile(`/proc/${pid}/status`, 'utf8');
    return (Number(/VmRSS:\s+(\d+) kB/.exec(status)?.[1] ?? 0) * 1_024) / MIB;
  };
  return { coordinator: await resident('coordinator'), catalog: await resident('catalog') };
}

type Measured = {
  readonly cases: readonly Case[];
  readonly first: number;
  readonly behindCommits: readonly number[];
  readonly grown: Memory;
  readonly alone: number;
  readonly beside: number;
  readonly tools: ToolFigures;
};

async function report({ cases, first, behindCommits, grown, alone, beside, tools }: Measured): Promise<void> {
  const behindMs = quantile(behindCommits, 0.5);
  const lines = [
    printTable(
      ['', 'p50 ms', 'p99 ms'],
      cases.map(({ name, p50Ms, p99Ms }) => [name, p50Ms.toFixed(1), p99Ms.toFixed(1)]),
    ),
    '',
    `the first count: ${first.toFixed(0)} ms; right behind a commit: ${behindMs.toFixed(0)} ms`,
    `grown: coordinator ${grown.coordinator.toFixed(0)} MiB, catalog ${grown.catalog.toFixed(0)} MiB`,
    `SELECT 1, 95th percentile: ${alone.toFixed(1)} ms alone, ${beside.toFixed(1)} ms beside ${BROWSERS} browsing clients`,
    '',
    printTable(
      ['Postgres wire', 'first ms', 'p50 ms'],
      tools.questions.map(({ name, firstMs, p50Ms }) => [name, firstMs.toFixed(0), p50Ms.toFixed(0)]),
    ),
    '',
    `statements of tools, median: ${tools.allMs.toFixed(0)} ms; SELECT 1: ${tools.selectOneMs.toFixed(1)} ms; the count behind a commit: ${tools.behindMs.toFixed(0)} ms`,
    `SELECT 1, 95th percentile: ${tools.browsing.alone.toFixed(1)} ms alone, ${tools.browsing.beside.toFixed(1)} ms beside ${BROWSERS} clients that browse pg_catalog`,
  ];
  const figures = { cases, firstMs: first, behindMs, grown, browsing: { alone, beside, ratio: beside / alone }, tools };
  await writeResult('browse', {
    table: lines.join('\n'),
    figures,
    chart: {
      title: `INFORMATION_SCHEMA over ${SCHEMAS * TABLES} tables of ${COLUMNS} columns, median`,
      unit: 'ms',
      labels: [...cases.map(({ name }) => name), 'count behind a commit'],
      series: [{ name: 'p50', color: '#2563eb', values: [...cases.map(({ p50Ms }) => p50Ms), behindMs] }],
    },
  });
}
