import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { must } from '#shared/must.ts';
import { projectRoot, startCluster } from '#test/support/cluster.ts';
import { load, type LoadFigures } from '../latency/load.ts';
import { printTable } from '../report/print-table.ts';
import { writeResult } from '../report/write-result.ts';
import { CatalogClients } from './catalog-clients.ts';
import { append, newTable, ownTable, setProperty, type AppendedTable } from './commits.ts';
import { BIG, BIG_TABLES, makeDataSet, NAMESPACES, namespacePath, tableOf, TABLES_PER_NAMESPACE } from './data-set.ts';
import { Processes, type CpuShares } from './processes.ts';

type Case = { readonly name: string; readonly cpu: CpuShares } & LoadFigures;
type Memory = { readonly requests: number; readonly residentBytes: number };

const CLIENTS = 16;
const WRITERS = 60;
const PAGE_SIZE = 1_000;
const SNAPSHOTS = [1, 10, 100, 1_000];
/** Samples of the catalog's memory over the long run. */
const MEMORY_SAMPLES = 10;
const MIB = 1_048_576;

/**
 * Measures the catalog alone, with authorisation: loads of 10,000 tables, lists of a namespace that holds 10,000, commits to one table and
 * to sixty, loads of a table as its snapshots grow, and the catalog's memory over `requests` requests. The client is this process; each
 * figure is printed with the CPU shares of the client, the catalog and Postgres.
 */
export async function benchCatalog(options: { readonly seconds: number; readonly requests: number }): Promise<void> {
  const dataDir = join(projectRoot, '.cache/bench/catalog');
  await mkdir(dataDir, { recursive: true });
  const cluster = await startCluster({ dataDir, workers: 1 });
  const clients = new CatalogClients(cluster.catalogUrl, await cluster.token({ ttlMs: 12 * 3_600_000 }));
  try {
    const processes = await Processes.of(cluster);
    const created = await makeDataSet(clients, dataDir);
    const cases: Case[] = [];
    const add = async (name: string, n: number, request: (client: number) => Promise<unknown>): Promise<void> => {
      const { result, cpu } = await processes.during(() =>
        load(n, options.seconds, async (id) => void (await request(id))),
      );
      cases.push({ name, cpu, ...result });
      process.stderr.write(`${name}, ${n}: ${result.p50Ms.toFixed(2)} ms, ${result.perSecond.toFixed(0)} a second\n`);
    };
    await addReads(clients, add);
    await addLists(clients, add);
    await addCommits(clients, add);
    await addGrowth(clients, add);
    const memory = await memoryOver(options.requests, clients, processes);
    await report({ created, cases, memory });
  } finally {
    clients.close();
    await cluster.stop();
  }
}

type Add = (name: string, clients: number, request: (client: number) => Promise<unknown>) => Promise<void>;

async function addReads(clients: CatalogClients, add: Add): Promise<void> {
  const draw = drawTable();
  for (const n of [1, CLIENTS]) await add('loadTable', n, (id) => clients.request(id, 'GET', draw()));
  await add('tableExists', CLIENTS, (id) => clients.request(id, 'HEAD', draw(), undefined, { expected: [204] }));
  const path = tableOf(0);
  const etag = /\r\netag: ([^\r]+)/i.exec((await clients.request(0, 'GET', path)).head)?.[1] ?? '';
  const known = { expected: [304], headers: `if-none-match: ${etag}\r\n` };
  await add('loadTable, not changed', CLIENTS, (id) => clients.request(id, 'GET', path, undefined, known));
}

async function addLists(clients: CatalogClients, add: Add): Promise<void> {
  const tables = `${namespacePath(BIG)}/tables`;
  await add(`list ${BIG_TABLES} tables`, 1, () => clients.request(0, 'GET', tables));
  await add(`list them by pages of ${PAGE_SIZE}`, 1, async () => {
    let token: string | null = '';
    while (token !== null) {
      const page = `${tables}?pageSize=${PAGE_SIZE}&pageToken=${encodeURIComponent(token)}`;
      const { body } = await clients.request(0, 'GET', page);
      token = (JSON.parse(body.toString()) as { 'next-page-token': string | null })['next-page-token'];
    }
  });
}

async function addCommits(clients: CatalogClients, add: Add): Promise<void> {
  const tables: AppendedTable[] = [];
  for (let i = 0; i < WRITERS; i += 1) tables.push(await newTable(clients, `commits_${i}`));
  await add('appends to one table', 1, () => append(clients, 0, ownTable(tables, 0)));
  await add('commits to one table', CLIENTS, (id) => setProperty(clients, id, ownTable(tables, 1)));
  await add(`appends to ${WRITERS} tables`, WRITERS, (id) => append(clients, id, ownTable(tables, id)));
}

async function addGrowth(clients: CatalogClients, add: Add): Promise<void> {
  const table = await newTable(clients, 'growth');
  for (const snapshots of SNAPSHOTS) {
    while (table.snapshots < snapshots) await append(clients, 0, table);
    await add(`loadTable, ${snapshots} snapshots`, 1, () => clients.request(0, 'GET', table.path));
  }
}

/** The catalog's resident memory as `requests` requests go by: loads, one commit in twenty. */
async function memoryOver(requests: number, clients: CatalogClients, processes: Processes): Promise<readonly Memory[]> {
  const table = await newTable(clients, 'memory');
  const draw = drawTable();
  const samples: Memory[] = [];
  let sent = 0;
  for (let sample = 1; sample <= MEMORY_SAMPLES; sample += 1) {
    const end = (requests * sample) / MEMORY_SAMPLES;
    const client = async (id: number): Promise<void> => {
      while (sent < end) {
        sent += 1;
        if (sent % 20 === 0) await setProperty(clients, id, table);
        else await clients.request(id, 'GET', draw());
      }
    };
    await Promise.all(Array.from({ length: CLIENTS }, (_, id) => client(id)));
    const residentBytes = await processes.residentBytes();
    samples.push({ requests: sent, residentBytes });
    process.stderr.write(`${sent} requests: ${(residentBytes / MIB).toFixed(0)} MiB\n`);
  }
  return samples;
}

/** Tables in an order that no cache can guess and every run repeats. */
function drawTable(): () => string {
  let state = 42;
  return () => {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648;
    return tableOf(Math.floor((state / 2_147_483_648) * NAMESPACES * TABLES_PER_NAMESPACE));
  };
}

async function report(figures: {
  readonly created: number | undefined;
  readonly cases: readonly Case[];
  readonly memory: readonly Memory[];
}): Promise<void> {
  const { created, cases, memory } = figures;
  const percent = (share: number): string => `${(share * 100).toFixed(0)} %`;
  const rows = cases.map(({ name, clients, p50Ms, p99Ms, perSecond, cpu }) => [
    name,
    String(clients),
    p50Ms.toFixed(2),
    p99Ms.toFixed(2),
    perSecond.toFixed(0),
    ...[cpu.catalog, cpu.postgres, cpu.client].map(percent),
  ]);
  const header = ['case', 'clients', 'p50 ms', 'p99 ms', 'per second', 'catalog', 'postgres', 'client'];
  const mib = ({ residentBytes }: Memory): string => (residentBytes / MIB).toFixed(0);
  const last = must(memory.at(-1), 'samples were taken');
  const lines = [
    printTable(header, rows),
    '',
    'catalog, postgres, client: of all cores of the machine',
    `memory of the catalog over ${last.requests} requests, MiB: ${memory.map(mib).join(' ')}`,
    ...(created === undefined ? [] : [`tables made: ${created.toFixed(0)} a second at ${CLIENTS} clients`]),
  ];
  await writeResult('catalog', {
    table: lines.join('\n'),
    figures,
    chart: {
      title: 'The catalog: median latency',
      unit: 'ms',
      labels: cases.map(({ name, clients }) => `${name} (${clients})`),
      series: [{ name: 'p50', color: '#2563eb', values: cases.map(({ p50Ms }) => p50Ms) }],
    },
  });
}
