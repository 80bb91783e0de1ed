import { execFileSync } from 'node:child_process';
import { readFile, stat, writeFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { crc32 } from 'node:zlib';
import { DuckDBInstance } from '@duckdb/node-api';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { fileStorage } from '#test/support/file-storage.ts';
import type { StartedCluster } from '#test/support/cluster.ts';
import { createTableOfFiles, type ListedFile } from '#test/support/hostile-files.ts';
import {
  binary,
  columnChunk,
  fileMetadata,
  groupElement,
  leafElement,
  list,
  parquetFile,
  rowGroup,
  struct,
  zigzag,
} from '#test/support/hostile-parquet.ts';
import { createRival, type CatalogPost } from '#test/support/hostile-table.ts';
import { startOwnCluster } from '#test/support/resources.ts';
import { machineSlowness } from '#test/support/run/machine-speed.ts';

/** One tenant has data and delete files that are expensive to read; another tenant's queries must not slow down. */

/** Longest that any answer to the other tenant may take on the reference machine. */
const ANSWER_MS_MAX = 1_000;
/** Warm-up before the attack, because the first queries of a cluster take longer. */
const WARM_MS = 1_000;
const ATTACKS_AT_ONCE = 8;
const ROUNDS = 3;
const MIB = 2 ** 20;

const schemaOf = (leaf: Uint8Array): Buffer => list('struct', [groupElement('root', 1), leaf]);
const A = schemaOf(leafElement('a', 1));

/** 43 bytes that ask for 1.6 GiB. */
const LISTS = parquetFile(
  struct([
    1,
    'list',
    Array.from({ length: 6 }).reduce<Buffer>((inner) => list('list', [inner], 2 ** 25 - 1), Buffer.of(0)),
  ]),
);
/** A varint whose every byte says that another follows; adding it up takes minutes. */
const NUMBER = parquetFile(
  struct([1, 'int64', Buffer.concat([Buffer.alloc(500_000, 0xff), Buffer.of(1)])], [2, 'list', A]),
);
/** Bounds of a megabyte, as digits. */
const bound = binary(Buffer.alloc(MIB, 0x7f));
const BOUNDS = [
  [5, 'binary', bound],
  [6, 'binary', bound],
] as const;
const DECIMAL_OF_16_BYTES = [
  [2, 'int32', zigzag(16)],
  [6, 'int32', zigzag(5)],
  [7, 'int32', zigzag(0)],
  [8, 'int32', zigzag(30)],
] as const;
const DECIMAL = parquetFile(
  fileMetadata(
    schemaOf(leafElement('a', 1, 7, DECIMAL_OF_16_BYTES)),
    1,
    list('struct', [rowGroup(1, [columnChunk({ rows: 1, type: 7, statistics: BOUNDS })])]),
  ),
);
const RUN_CONTAINERS = 1_530;

/** A deletion vector of 21 KB with a hundred million positions. */
function vectorOfRuns(): Buffer {
  const shorts = (...values: readonly number[]): Buffer => Buffer.from(Uint16Array.from(values).buffer);
  const head = Buffer.from(Uint32Array.of(1, 0, 0, 12_347 + (RUN_CONTAINERS - 1) * 65_536).buffer);
  const flags = Buffer.alloc((RUN_CONTAINERS + 7) >> 3, 0xff);
  const keys = Array.from({ length: RUN_CONTAINERS }, (_, i) => shorts(i, 65_535));
  const runs = Array.from({ length: RUN_CONTAINERS }, () => shorts(1, 0, 65_535));
  const magic = Buffer.from('d1d33964', 'hex');
  const content = Buffer.concat([magic, head, flags, ...keys, Buffer.alloc(RUN_CONTAINERS * 4), ...runs]);
  const length = Buffer.alloc(4);
  length.writeUInt32BE(content.length);
  const checksum = Buffer.alloc(4);
  checksum.writeUInt32BE(crc32(content));
  return Buffer.concat([length, content, checksum]);
}

let cluster: StartedCluster;
let rival: string;
let post: CatalogPost;

beforeAll(async () => {
  cluster = await startOwnCluster({ args: ['--worker-cores', '1', '--worker-memory', '512MB'] });
  await cluster.load(['tpch', '--scale', '0.01']);
  ({ token: rival, post } = await createRival(cluster));
}, 180_000);
afterAll(() => cluster?.stop());

/** Asks for the other tenant until `until` aborts; returns the longest time that an answer took. */
async function victim(until: AbortSignal): Promise<{ readonly rounds: number; readonly longestMs: number }> {
  const token = await cluster.token();
  let longestMs = 0;
  let rounds = 0;
  for (; !until.aborted; rounds++) {
    const start = performance.now();
    const { status, body } = await cluster.query('SELECT count(*) FROM lake.tpch.orders WHERE o_orderkey > 0', {
      token,
    });
    longestMs = Math.max(longestMs, performance.now() - start);
    expect([status, body.rows]).toEqual([200, [[15_000]]]);
    await sleep(20);
  }
  return { rounds, longestMs };
}

async function written(path: string, bytes: Uint8Array, content: ListedFile['content'] = 'data'): Promise<ListedFile> {
  await fileStorage.write(path, bytes);
  return { path, sizeBytes: bytes.length, content };
}

/** A file that any engine reads. */
async function honest(path: string): Promise<ListedFile> {
  await fileStorage.makeFolder(path.slice(0, path.lastIndexOf('/')));
  const connection = await (await DuckDBInstance.create(':memory:')).connect();
  const local = fileURLToPath(path);
  await connection.run(`COPY (SELECT 1::BIGINT AS a) TO '${local}' (FORMAT parquet, FIELD_IDS {a: 1})`);
  connection.closeSync();
  return { path, sizeBytes: (await stat(local)).size, content: 'data' };
}

/** A file with a valid footer and a broken page: DuckDB's error does not name the file. */
async function badPages(path: string): Promise<ListedFile> {
  const file = await honest(path);
  const local = fileURLToPath(path);
  await writeFile(local, (await readFile(local)).fill(0xff, 4, 24));
  return file;
}

async function pipe(path: string): Promise<ListedFile> {
  await fileStorage.makeFolder(path.slice(0, path.lastIndexOf('/')));
  execFileSync('mkfifo', [fileURLToPath(path)]);
  return { path, sizeBytes: 100, content: 'data' };
}

/** Tables, each of which a query refuses with one error. */
const TABLES: readonly (readonly [
  name: string,
  error: string,
  write: (location: string) => Promise<readonly ListedFile[]>,
])[] = [
  ['lists', 'INVALID_TABLE_DATA', async (at) => [await written(`${at}/data/f.parquet`, LISTS)]],
  ['number', 'INVALID_TABLE_DATA', async (at) => [await written(`${at}/data/f.parquet`, NUMBER)]],
  ['decimal', 'INVALID_TABLE_DATA', async (at) => [await written(`${at}/data/f.parquet`, DECIMAL)]],
  ['pipe', 'INVALID_TABLE_DATA', async (at) => [await pipe(`${at}/data/f.parquet`)]],
  ['pages', 'INVALID_TABLE_DATA', async (at) => [await badPages(`${at}/data/f.parquet`)]],
  [
    'positions',
    'INVALID_TABLE_DATA',
    async (at) => [
      await honest(`${at}/data/f.parquet`),
      await written(`${at}/data/d.parquet`, LISTS, 'position-deletes'),
    ],
  ],
  [
    'vector',
    'OUT_OF_MEMORY',
    async (at) => {
      const data = await honest(`${at}/data/f.parquet`);
      const blob = await written(`${at}/data/d.puffin`, vectorOfRuns(), 'position-deletes');
      return [data, { ...blob, vector: { dataFile: data.path, cardinality: RUN_CONTAINERS * 65_536 } }];
    },
  ],
];

test('data files, deletes and pipes that are made to cost', async () => {
  for (const [name, , write] of TABLES) await createTableOfFiles(post, name, write);
  const before = await cluster.services();
  await victim(AbortSignal.timeout(WARM_MS));
  const over = new AbortController();
  const answered = victim(over.signal);
  const attacks = Array.from({ length: ATTACKS_AT_ONCE }, async (_, i) => {
    for (let round = 0; round < ROUNDS; round++) {
      for (const [name, error] of TABLES) {
        const sql = `SELECT sum(a) FROM rival_lake.default.${name} WHERE a < ${100 + i * ROUNDS + round}`;
        const { body } = await cluster.query(sql, { token: rival });
        expect([name, body.error]).toEqual([name, error]);
        if (name === 'pages') expect(body.message).toMatch(/f\.parquet/);
      }
    }
  });
  await Promise.all(attacks);
  over.abort();
  const { rounds, longestMs } = await answered;
  expect(rounds).toBeGreaterThan(5);
  expect(longestMs).toBeLessThan(ANSWER_MS_MAX * machineSlowness());
  expect(await cluster.services()).toEqual(before);
}, 180_000);
