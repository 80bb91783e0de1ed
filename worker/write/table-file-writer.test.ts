import { existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { DuckDBInstance, type DuckDBConnection } from '@duckdb/node-api';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { parsePartitionSpec } from '#shared/iceberg/partition-spec.ts';
import { parseSchema } from '#shared/iceberg/schema.ts';
import { NO_CREDENTIAL } from '#shared/storage/credential.ts';
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

/** @param before runs when the folder of a COPY is there, and its file is not */
function makeWriter(before: () => Promise<void> = async () => undefined): TableFileWriter {
  const location = pathToFileURL(folder).href;
  const database = {
    copy: async (sql: string): Promise<readonly CopiedFile[]> => {
      await before();
      const rows = (await connection.runAndReadAll(sql)).getRowObjectsJson();
      return rows.map(({ filename, count, file_size_bytes }) => ({
        path: filename as string,
        rows: Number(count),
        bytes: Number(file_size_bytes),
        statistics: new Map(),
      }));
    },
    texts: async (sql: string) => (await connection.runAndReadAll(sql)).getRows().map(([text]) => String(text)),
  };
  return new TableFileWriter(database, openStorage(location, NO_CREDENTIAL), { ...TABLE, folder: location }, FORMAT);
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
