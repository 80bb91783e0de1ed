import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, truncate, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import type { Browser } from 'playwright-core';
import { expect, test } from 'vitest';
import { parseJson, printJson, type Json, type JsonObject } from '#shared/json.ts';
import { must } from '#shared/must.ts';
import type { PartitionSpec } from '#shared/iceberg/partition-spec.ts';
import { parseSchema } from '#shared/iceberg/schema.ts';
import type { NewDataFile } from '#shared/iceberg/write/data-file.ts';
import type { Cluster } from '#test/support/cluster.ts';
import { consoleSuite } from '#test/support/console-suite.ts';
import { openConsole } from '#test/support/console.ts';
import { newManifestFile, writeManifest, writeManifestList } from '#test/support/manifest-files.ts';
import { patience } from '#test/support/run/slowness.ts';

/** The pages of the catalog over many objects and over a large table in time, and a large file in memory. */

const CATALOG = 'console_large';
const TABLES = 10_000;
const SNAPSHOTS = 5_000;
const FILES = 100_000;
const PARTITIONS = 10_000;
const FILES_OF_MANIFEST = 1_000;
const CREATING_CLIENTS = 16;
const GIB = 2 ** 30;

let cluster: Cluster;
let browser: Browser;

consoleSuite(async (started) => {
  ({ cluster, browser } = started);
  await cluster.sql(`CREATE CATALOG ${CATALOG}`);
});

function within(name: string, measured: number, bound: number): void {
  console.log(`${name}: ${measured.toFixed(1)}, budget ${bound}`);
  expect([name, measured <= patience(bound) ? 'within' : measured]).toEqual([name, 'within']);
}

async function timed(work: () => Promise<unknown>): Promise<number> {
  const start = performance.now();
  await work();
  return performance.now() - start;
}

/** The 95th percentile of twenty. */
async function p95(work: () => Promise<unknown>): Promise<number> {
  const all: number[] = [];
  for (let i = 0; i < 20; i += 1) all.push(await timed(work));
  return all.toSorted((a, b) => a - b)[18] ?? 0;
}

const TRIES_MAX = 20;
type Sent = { readonly body?: Json | undefined; readonly triesLeft?: number };

async function catalogRequest(
  method: 'GET' | 'POST' | 'DELETE',
  path: string,
  { body, triesLeft = TRIES_MAX }: Sent = {},
): Promise<JsonObject> {
  const answer = await fetch(`${cluster.catalogUrl}/v1/${CATALOG}/namespaces${path}`, {
    method,
    headers: { authorization: `Bearer ${await cluster.token()}`, 'content-type': 'application/json' },
    ...(body === undefined ? {} : { body: printJson(body) }),
  });
  const text = await answer.text();
  // A client asks again, as it should: sixteen that make tables at once may find a busy machine's pool empty.
  if (answer.status === 503 && triesLeft > 0) {
    await sleep(1_000);
    return catalogRequest(method, path, { body, triesLeft: triesLeft - 1 });
  }
  const isMadeBefore = answer.status === 409 && triesLeft < TRIES_MAX;
  if (!answer.ok && !isMadeBefore) throw new Error(`${method} ${path}: ${answer.status} ${text.slice(0, 500)}`);
  return text === '' ? {} : (parseJson(text) as JsonObject);
}

async function api(path: string, body?: unknown): Promise<JsonObject> {
  const answer = await fetch(`${cluster.queryUrl}/api/${path}`, {
    method: body === undefined ? 'GET' : 'POST',
    headers: { authorization: `Bearer ${await cluster.token()}`, 'content-type': 'application/json' },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const text = await answer.text();
  expect([path, answer.status, answer.ok ? '' : text]).toEqual([path, 200, '']);
  return parseJson(text) as JsonObject;
}

test('tree, lists and proposals over 10,000 tables', async () => {
  const schema = {
    type: 'struct',
    fields: Array.from({ length: 5 }, (_, i) => ({ id: i + 1, name: `column_${i}`, required: false, type: 'long' })),
  };
  await cluster.sql(`CREATE SCHEMA ${CATALOG}.many`);
  const left = Array.from({ length: TABLES }, (_, i) => `table_${String(i).padStart(5, '0')}`);
  const create = async (): Promise<void> => {
    for (let name = left.pop(); name !== undefined; name = left.pop()) {
      await catalogRequest('POST', '/many/tables', { body: { name, schema } });
    }
  };
  await Promise.all(Array.from({ length: CREATING_CLIENTS }, create));
  const place = `catalog=${CATALOG}&schema=many`;
  const cold = await timed(() => api(`objects?${place}&limit=100`));
  console.log(`the first list of a coordinator that knows nothing of the catalog: ${cold.toFixed(0)} ms`);
  within('children of the schema, p95, ms', await p95(() => api(`objects?${place}&limit=100`)), 300);
  const sorted = `objects?${place}&limit=100&sort=changed&descending=true`;
  expect((await api(sorted))['total']).toBe(TABLES);
  within('sorted by the last change, p95, ms', await p95(() => api(sorted)), 300);
  const search = `objects?catalog=${CATALOG}&search=TABLE_0998&limit=100`;
  expect((await api(search))['objects']).toHaveLength(10);
  within('search, p95, ms', await p95(() => api(search)), 300);
  const sql = `SELECT * FROM ${CATALOG}.many.table_09`;
  within('proposals, p95, ms', await p95(() => api('complete', { sql, position: sql.length })), 50);

  const { page, faults } = await openConsole(cluster, browser, { path: `/console/catalog/${CATALOG}` });
  const link = page.getByRole('link', { name: 'many', exact: true });
  await link.waitFor();
  const shown = await timed(async () => {
    await link.click();
    await page.getByRole('link', { name: 'table_00000' }).waitFor();
  });
  within('the page of the schema has its first rows after the click, ms', shown, 300);
  await page.getByText(`1 to 100 of ${TABLES.toLocaleString('en')}`).waitFor();
  await page.goto(`${cluster.queryUrl}/console/ask`);
  const tree = page.getByRole('tree', { name: 'Catalog' });
  const item = (name: string) => tree.getByRole('treeitem').filter({ hasText: name }).first();
  await item(CATALOG).click();
  await item('many').waitFor();
  const opened = await timed(async () => {
    await item('many').click();
    await item('table_00000').waitFor();
  });
  within('the tree has the first tables after the click, ms', opened, 300);
  expect(faults).toEqual([]);
  await page.context().close();
});

const SCHEMA: JsonObject = {
  type: 'struct',
  'schema-id': 0,
  fields: [
    { id: 1, name: 'id', required: false, type: 'long' },
    { id: 2, name: 'p', required: false, type: 'int' },
  ],
};
const SPEC: PartitionSpec = {
  specId: 0,
  fields: [{ fieldId: 1000, name: 'p', sourceId: 2, transform: { kind: 'identity' } }],
};

const dataFile = (location: string, i: number): NewDataFile => ({
  path: `${location}/data/${i}.parquet`,
  recordCount: 1,
  sizeBytes: 1_000 + (i % 977),
  partition: [BigInt(i % PARTITIONS)],
  columnSizes: new Map(),
  valueCounts: new Map(),
  nullCounts: new Map(),
  nanCounts: new Map(),
  lower: new Map(),
  upper: new Map(),
  splitOffsets: [4],
});

/** Makes a table of 5,000 snapshots in one line, whose last has 100,000 files in 10,000 partitions; the files themselves are not there. */
async function makeLargeTable(): Promise<void> {
  await cluster.sql(`CREATE SCHEMA ${CATALOG}.large`);
  const made = await catalogRequest('POST', '/large/tables', {
    body: {
      name: 'first',
      schema: SCHEMA,
      'partition-spec': { fields: [{ 'source-id': 2, name: 'p', transform: 'identity' }] },
    },
  });
  const metadata = made['metadata'] as JsonObject;
  const location = metadata['location'] as string;
  const folder = join(fileURLToPath(location), 'metadata');
  const schema = parseSchema(SCHEMA);
  const manifests = [];
  for (let from = 0; from < FILES; from += FILES_OF_MANIFEST) {
    const files = Array.from({ length: FILES_OF_MANIFEST }, (_, i) => dataFile(location, from + i));
    const bytes = writeManifest(schema, SPEC, 1n, files);
    await writeFile(join(folder, `m-${from}.avro`), bytes);
    const path = `${location}/metadata/m-${from}.avro`;
    manifests.push(newManifestFile(schema, SPEC, 1n, { path, lengthBytes: bytes.length, files }));
  }
  const list = writeManifestList({ snapshotId: 1n, parentSnapshotId: null, sequenceNumber: 1n }, manifests);
  await writeFile(join(folder, 'list.avro'), list);
  const startMs = Date.now() - SNAPSHOTS * 60_000;
  const snapshots = Array.from({ length: SNAPSHOTS }, (_, i) => ({
    'snapshot-id': i + 1,
    ...(i === 0 ? {} : { 'parent-snapshot-id': i }),
    'sequence-number': i + 1,
    'timestamp-ms': startMs + i * 60_000,
    'manifest-list': `${location}/metadata/list.avro`,
    'schema-id': 0,
    summary: {
      operation: 'append',
      'added-data-files': '20',
      'added-records': '20',
      'total-records': String(FILES),
      'total-data-files': String(FILES),
      'total-files-size': String(FILES * 1_000),
    },
  }));
  const large = {
    ...metadata,
    'last-sequence-number': SNAPSHOTS,
    'last-updated-ms': startMs + SNAPSHOTS * 60_000,
    'current-snapshot-id': SNAPSHOTS,
    snapshots,
    refs: {
      main: { 'snapshot-id': SNAPSHOTS, type: 'branch' },
      june: { 'snapshot-id': SNAPSHOTS / 2, type: 'tag' },
    },
  };
  await writeFile(join(folder, '00009-large.metadata.json'), printJson(large));
  await catalogRequest('DELETE', '/large/tables/first');
  await catalogRequest('POST', '/large/register', {
    body: { name: 't', 'metadata-location': `${location}/metadata/00009-large.metadata.json` },
  });
}

test('a table of 5,000 snapshots, 100,000 files and 10,000 partitions', { timeout: patience(300_000) }, async () => {
  await makeLargeTable();
  const { page, faults } = await openConsole(cluster, browser, { path: `/console/catalog/${CATALOG}/large/t` });
  await page.getByRole('region', { name: 'Columns' }).getByText('BIGINT').waitFor();
  const open = (tab: string, there: () => Promise<unknown>): Promise<number> =>
    timed(async () => {
      await page.getByRole('tab', { name: tab, exact: true }).click();
      await there();
    });
  const treemap = page.locator('.treemap rect');
  within('files for the first time, ms', await open('Files', () => treemap.first().waitFor()), 1_000);
  expect(await treemap.count()).toBeLessThanOrEqual(500);
  await page.getByText('100,000').first().waitFor();
  const snapshots = page.getByRole('region', { name: 'Snapshots' });
  const rows = snapshots.locator('tbody tr');
  within('history, ms', await open('History', () => snapshots.getByText('tag june').waitFor()), 1_000);
  await page.getByText(/5,000 snapshots/).waitFor();
  // Snapshots that only continue the line are folded.
  expect(await rows.count()).toBeLessThan(50);
  await page.getByLabel('Fold what has no name').uncheck();
  await rows.nth(50).waitFor();
  const before = await rows.count();
  const older = await timed(async () => {
    await page.getByRole('button', { name: 'Older' }).click();
    await rows.nth(before).waitFor();
  });
  within('older snapshots, ms', older, 1_000);
  within('health, ms', await open('Health', () => page.getByRole('region', { name: 'small_files' }).waitFor()), 1_000);
  await page.reload();
  within('the whole page again, ms', await timed(() => page.getByRole('tab', { name: 'Health' }).waitFor()), 1_000);
  expect(faults).toEqual([]);
  await page.context().close();
});

test('a file of 1 GiB is uploaded, and the page holds less than 100 MB', async () => {
  await cluster.sql(`CREATE SCHEMA ${CATALOG}.files`);
  await cluster.sql(`CREATE STAGE ${CATALOG}.files.inbox`);
  const folder = await mkdtemp(join(tmpdir(), 'skein-console-large-'));
  try {
    const file = join(folder, 'large.bin');
    await writeFile(file, 'x');
    await truncate(file, GIB);
    const { urls } = (await api('../v1/stages/presign', {
      stage: `${CATALOG}.files.inbox`,
      files: [{ path: 'by-curl.bin', size: GIB }],
    })) as unknown as { readonly urls: readonly { readonly url: string }[] };
    const byCurl = await timed(async () => {
      const [code] = (await once(spawn('curl', ['-sSf', '-T', file, must(urls[0], 'a URL').url]), 'close')) as [number];
      expect(code).toBe(0);
    });
    const { page } = await openConsole(cluster, browser, {
      path: `/console/catalog/${CATALOG}/files/inbox?tab=Stage`,
    });
    const session = await page.context().newCDPSession(page);
    const byPage = await timed(async () => {
      await page.getByLabel('Drop files here, or choose them').setInputFiles(file);
      await page.getByText('large.bin is there').waitFor({ timeout: patience(120_000) });
    });
    const heap = (await session.send('Runtime.getHeapUsage')) as { usedSize: number; backingStorageSize?: number };
    const megabytes = (heap.usedSize + (heap.backingStorageSize ?? 0)) / 1e6;
    console.log(`1 GiB: curl ${byCurl.toFixed(0)} ms, the page ${byPage.toFixed(0)} ms and ${megabytes.toFixed(0)} MB`);
    // The time is told and has no bound: the parts are put together in a second pass over the file (docs/console.md).
    expect(megabytes).toBeLessThan(100);
    await page.context().close();
  } finally {
    await rm(folder, { recursive: true });
    await cluster.sql(`REMOVE @${CATALOG}.files.inbox`);
  }
});
