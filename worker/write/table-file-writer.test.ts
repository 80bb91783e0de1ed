import { existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { DuckDBInstance, type DuckDBConnection } from '@duckdb/node-api';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { parsePartitionSpec } from '#shared/iceberg/partition-spec.ts';
import { parseSchema, type Schema } from '#shared/iceberg/schema.ts';
import type { Json } from '#shared/json.ts';
import { FILE_CREDENTIAL } from '#test/support/file-credential.ts';
import { openStorage } from '#shared/storage/open-storage.ts';
import { TableFileWriter, type CopiedFile } from './table-file-writer.ts';

/** Tasks of one write, each with a writer, in the folder of the write. */
const TABLE = {
  schema: parseSchema({
    type: 'struct',
    'schema-id': 0,
    fields: [{ id: 1, name: 'i', required: false, type: 'long' }],
  }),
  spec: parsePartitionSpec({ 'spec-id': 0, fields: [] }),
};
const FORMAT = { codec: undefined, level: undefined, rowGroupRows: 1_000, fileBytes: null };

let root: string;
let folder: string;
let connection: DuckDBConnection;

beforeAll(async () => {
  root = mkdtempSync(join(tmpdir(), 'skein-writer-'));
  connection = await (await DuckDBInstance.create(':memory:')).connect();
});
beforeEach(() => {
  folder = join(root, crypto.randomUUID());
});
afterAll(() => {
  connection.closeSync();
  rmSync(root, { recursive: true, force: true });
});

type JsonMap<T> = readonly { readonly key: string; readonly value: T }[];
const statisticsOf = (columns: JsonMap<JsonMap<string>>): CopiedFile['statistics'] =>
  new Map(columns.map(({ key, value }) => [key, new Map(value.map((one) => [one.key, one.value]))]));

/** @param before runs when the folder of a COPY is there, and its file is not */
function makeWriter(before: () => Promise<void> = async () => undefined, schema = TABLE.schema): TableFileWriter {
  const location = pathToFileURL(folder).href;
  const database = {
    copy: async (sql: string): Promise<readonly CopiedFile[]> => {
      await before();
      const rows = (await connection.runAndReadAll(sql)).getRowObjectsJson();
      return rows.map(({ filename, count, file_size_bytes, column_statistics }) => ({
        path: filename as string,
        rows: Number(count),
        bytes: Number(file_size_bytes),
        statistics: statisticsOf(column_statistics as unknown as JsonMap<JsonMap<string>>),
      }));
    },
    texts: async (sql: string) => (await connection.runAndReadAll(sql)).getRows().map(([text]) => String(text)),
  };
  return new TableFileWriter(
    database,
    openStorage(location, FILE_CREDENTIAL),
    { ...TABLE, schema, folder: location },
    FORMAT,
  );
}

const ROWS = 'SELECT i FROM range(10) t(i)';
const NO_ROWS = `${ROWS} WHERE i < 0`;

const ENDS: Readonly<Record<string, (other: TableFileWriter) => Promise<unknown>>> = {
  'has nothing more to clear': (other) => other.clear(),
  'clears what it staged': async (other) => {
    await other.stage(ROWS);
    await other.clear();
  },
  'writes no rows': (other) => other.write(NO_ROWS),
  'removes what it wrote': async (other) => {
    await other.write(ROWS);
    await other.remove();
  },
};

test.each(Object.entries(ENDS))('a task that %s lets the COPY of another one begin', async (_, end) => {
  const [file, ...more] = await makeWriter(async () => void (await end(makeWriter()))).write(ROWS);
  expect(more).toEqual([]);
  expect(file).toMatchObject({ recordCount: 10 });
  const [made = '', ...others] = readdirSync(folder);
  expect(others).toEqual([]);
  expect(file?.path).toMatch(new RegExp(`/${made}/[^/]+\\.parquet$`));
});

test('a writer that removes leaves no folder of its own', async () => {
  const writer = makeWriter();
  await writer.stage(ROWS);
  await writer.write(ROWS);
  await writer.remove();
  expect(existsSync(folder)).toBe(true);
  expect(readdirSync(folder)).toEqual([]);
});

const field = (id: number, name: string, type: Json): Json => ({ id, name, required: false, type });
const schemaOf = (...fields: readonly Json[]) => parseSchema({ type: 'struct', 'schema-id': 0, fields });
const write = (schema: Schema, rows: string) => makeWriter(undefined, schema).write(rows);

test('a NaN counts in whichever row group it is, though DuckDB tells of the last one only', async () => {
  const schema = schemaOf(field(1, 'd', 'double'), field(2, 'none', 'float'), field(3, 'all', 'double'));
  const numbers = (at: number) => `SELECT CASE WHEN i = ${at} THEN 'nan'::DOUBLE ELSE i END AS d, i::FLOAT AS "none",
    NULL::DOUBLE AS "all" FROM range(10000) t(i)`;
  for (const at of [3_000, 9_999]) {
    const [file] = await write(schema, numbers(at));
    expect(file?.splitOffsets.length).toBeGreaterThan(1);
    expect(file?.nanCounts, `NaN in row ${at}`).toEqual(
      new Map([
        [1, 1],
        [2, 0],
        [3, 0],
      ]),
    );
  }
});

test('a NULL struct in a list or map counts once', async () => {
  const struct = (id: number): Json => ({
    type: 'struct',
    fields: [field(id, 'q', 'int'), field(id + 1, 'r', 'string')],
  });
  const listOf = (id: number, element: Json): Json => ({
    type: 'list',
    'element-id': id,
    'element-required': false,
    element,
  });
  const map = { type: 'map', 'key-id': 20, key: 'string', 'value-id': 21, 'value-required': false, value: struct(22) };
  const schema = schemaOf(
    field(1, 'l', listOf(10, struct(11))),
    field(2, 'm', map),
    field(3, 'deep', listOf(30, listOf(31, struct(32)))),
    field(4, 's', { type: 'struct', fields: [field(40, "it's", struct(41))] }),
  );
  const rows = `SELECT l, map_from_entries(list_transform(l, lambda x, i: struct_pack(k := i::VARCHAR, v := x))) AS m,
    [l, NULL, []] AS deep, {'it''s': l[1]} AS s
    FROM (VALUES ([NULL::STRUCT(q INT, r VARCHAR)]), (NULL), ([]), ([{'q': 9, 'r': NULL}]), ([{'q': 11, 'r': 'x'}, NULL])) t(l)`;
  const [file] = await write(schema, rows);
  const nulls = (id: number) => [file?.nullCounts.get(id), file?.valueCounts.get(id)];
  // The values of an empty list, and of a NULL one, are one NULL.
  expect({ q: nulls(11), r: nulls(12) }).toEqual({ q: [4, 6], r: [5, 6] });
  expect({ key: nulls(20), q: nulls(22), r: nulls(23) }).toEqual({ key: [2, 6], q: [4, 6], r: [5, 6] });
  expect({ q: nulls(32), r: nulls(33) }).toEqual({ q: [14, 16], r: [15, 16] });
  expect({ q: nulls(41), r: nulls(42) }).toEqual({ q: [3, 5], r: [4, 5] });
});
