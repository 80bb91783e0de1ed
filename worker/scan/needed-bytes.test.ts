import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DuckDBInstance, type DuckDBConnection } from '@duckdb/node-api';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { fileStorage } from '#test/support/file-storage.ts';
import { segmentsWith } from '../objects/segment-list.ts';
import { readFooter } from './footer-cache.ts';
import type { Footer } from './footer.ts';
import { neededOf } from './needed-bytes.ts';
import { bordersOf } from './segments.ts';

/** DuckDB reads files with garbage wherever `neededOf` does not say that it may read. */
let folder: string;
let duckdb: DuckDBConnection;
let bytes: Buffer;
let footer: Footer;
const GROUPS = 12;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'skein-needed-'));
  duckdb = await (await DuckDBInstance.create(':memory:', { threads: '1' })).connect();
  const path = join(folder, 'whole.parquet');
  await duckdb.run(`COPY (SELECT i AS id, (i * 7919) % 1000 AS few, hash(i)::VARCHAR AS text, i / 7.0::DOUBLE AS d,
      {'a': i, 'b': [i, i + 1]} AS nested, CASE WHEN i % 3 = 0 THEN NULL ELSE i % 17 END AS gaps
    FROM range(${GROUPS * 2048}) AS r(i)) TO '${path}' (ROW_GROUP_SIZE 2048)`);
  bytes = await readFile(path);
  footer = await readFooter(fileStorage, `file://${path}`);
});

afterAll(async () => {
  duckdb?.closeSync();
  await rm(folder, { recursive: true, force: true });
});

/** A file that has only these bytes of the whole one. */
async function poisoned(ranges: readonly { readonly start: number; readonly end: number }[]): Promise<string> {
  const borders = bordersOf(footer) ?? new Float64Array();
  const file = Buffer.alloc(bytes.length, 0xa5);
  for (const i of segmentsWith(borders, ranges)) bytes.copy(file, borders[i], borders[i], borders[i + 1]);
  const path = join(folder, `poisoned-${Math.random()}.parquet`);
  await writeFile(path, file);
  return path;
}

const rowsOf = async (sql: string): Promise<string> => JSON.stringify((await duckdb.runAndReadAll(sql)).getRowsJson());

/** Asks for the columns of some row groups, of the whole file and of the one that has only what is needed. */
async function ask(columns: readonly string[], kept: readonly number[], where: string): Promise<readonly string[]> {
  const { rowGroups, fields } = footer;
  const read = fields.filter(({ name }) => columns.includes(name));
  const groups = rowGroups.filter((_, i) => kept.includes(i));
  const needed = neededOf(footer, { groups: rowGroups, kept: groups, fields: read, files: 1 });
  const bounds = needed?.bounds ?? [];
  const path = await poisoned(needed?.bytes.ranges ?? []);
  const text = (file: string): string =>
    `SELECT ${columns.map((name) => `f.${name}`).join(', ')} FROM read_parquet(['${file}']) AS f
     WHERE ${[...bounds, where].join(' AND ')}`;
  return [await rowsOf(text(path)), await rowsOf(text(join(folder, 'whole.parquet')))];
}

const ALL = Array.from({ length: GROUPS }, (_, i) => i);

describe('DuckDB reads nothing but what is needed', () => {
  test.each([
    [['id'], ALL, 'true'],
    [['text'], [3], 'true'],
    [['few'], ALL, 'f.few = 500'],
    [['few'], [0, 11], 'f.few = 500'],
    [['few', 'id'], [5], 'f.few = 1234'],
    [['gaps', 'few'], [1, 3, 5, 7, 9, 11], 'f.gaps = 5 AND f.few IN (1, 2, 3)'],
    [['nested'], [2, 3, 8], 'f.nested.a % 100 = 5'],
    [['d', 'id'], [0, 1, 2, 4, 6, 8, 10, 11], 'f.d > 100'],
    [['id', 'few', 'text', 'd', 'nested', 'gaps'], [4, 6], 'f.id = 9000'],
    [['gaps'], [1, 3], 'f.gaps IS NULL'],
  ] as const)('columns %j of row groups %j where %s', async (columns, kept, where) => {
    const [part, whole] = await ask(columns, kept, where);
    expect(part).toBe(whole);
  });

  test('a join and a limit leave the other columns alone', async () => {
    const read = footer.fields.filter(({ name }) => name === 'few');
    const needed = neededOf(footer, { groups: footer.rowGroups, kept: footer.rowGroups, fields: read, files: 1 });
    const path = await poisoned(needed?.bytes.ranges ?? []);
    const text = (file: string): string => `SELECT count(*), sum(a.few) FROM read_parquet(['${file}']) AS a
      JOIN (SELECT few FROM read_parquet(['${file}']) ORDER BY few LIMIT 5) AS b ON a.few = b.few`;
    expect(await rowsOf(text(path))).toBe(await rowsOf(text(join(folder, 'whole.parquet'))));
    expect(await rowsOf(`SELECT count(*) FROM read_parquet(['${path}'])`)).toBe('[["24576"]]');
  });
});

test('the row groups from the first to the last that is kept, by two bounds at most', () => {
  const { rowGroups, fields } = footer;
  const bounds = (kept: readonly number[], files = 1): readonly string[] =>
    neededOf(footer, { groups: rowGroups, kept: rowGroups.filter((_, i) => kept.includes(i)), fields, files })
      ?.bounds ?? [];
  expect(bounds(ALL)).toEqual([]);
  expect(bounds([2, 3])).toEqual(['f.file_row_number >= 4096', 'f.file_row_number < 8192']);
  expect(bounds([0, 2])).toEqual(['f.file_row_number < 6144']);
  expect(bounds([5], 33)).toEqual([]);
});

test('bytes that are wanted and not there are seen: the test can fail', async () => {
  const read = footer.fields.filter(({ name }) => name === 'id');
  const needed = neededOf(footer, { groups: footer.rowGroups, kept: footer.rowGroups, fields: read, files: 1 });
  const path = await poisoned(needed?.bytes.ranges ?? []);
  await expect(rowsOf(`SELECT sum(few) FROM read_parquet(['${path}'])`)).rejects.toThrow();
});
