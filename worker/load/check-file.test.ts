import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DuckDBInstance, type DuckDBConnection } from '@duckdb/node-api';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { JSON_DOCUMENT } from '#shared/task/json-document.ts';
import { GUARDED_COLUMNS } from '#shared/task/load-rules.ts';
import type { StagedSource } from '#shared/task/task.ts';
import type { FileFormat } from '#shared/stage/file-format.ts';
import { duckDbError } from '#shared/duckdb-error.ts';
import { SkeinError } from '#shared/error.ts';
import { tenantId } from '#shared/id.ts';
import { must } from '#shared/must.ts';
import { FILE_CREDENTIAL } from '#test/support/file-credential.ts';
import { openScanned, type OpenScanned } from '../scan/readable-path.ts';
import { RangeFiles } from '../staged/range-files.ts';
import { checkRecordsOf, type CheckTools, type FileCheck } from './check-file.ts';
import { stagedFile } from './staged-file.ts';

const ROWS = 2_000;
const FAULTS = 1_000;
const ID_VALUE = `CAST(json_extract(${JSON_DOCUMENT}, '/id') AS INTEGER)`;
const ID = {
  name: 'id',
  type: 'INTEGER',
  json: { read: 'INTEGER', value: ID_VALUE, marked: ID_VALUE },
};

let dir: string;
let connection: DuckDBConnection;
beforeAll(async () => {
  dir = mkdtempSync(join(tmpdir(), 'skein-check-'));
  connection = await (await DuckDBInstance.create(':memory:')).connect();
});
afterAll(() => {
  connection?.closeSync();
  rmSync(dir, { recursive: true, force: true });
});

async function texts(sql: string): Promise<readonly string[]> {
  try {
    return (await connection.runAndReadAll(sql)).getRowsJson().map(([value]) => value as string);
  } catch (error) {
    throw duckDbError((error as Error).message);
  }
}

type Checked = { readonly check: FileCheck; readonly opened: number };

/** Checks a file of one column `id`, and counts how often its text is read. */
async function check(format: FileFormat, content: string, signal = new AbortController().signal): Promise<Checked> {
  const path = join(dir, `file.${format.kind}`);
  writeFileSync(path, content);
  const source: StagedSource = { format, what: 'rows', columns: [ID] };
  const ended: Promise<unknown>[] = [];
  let opened = 0;
  const storage = openScanned({ credential: FILE_CREDENTIAL });
  const open: OpenScanned = (location) => {
    opened += 1;
    return storage(location);
  };
  const file = {
    path,
    recordCount: 0,
    sizeBytes: content.length,
    rows: null,
    constants: {},
    deletes: [],
    firstRowId: null,
  };
  const readFooter = () => Promise.reject(new Error('no Parquet here'));
  await using ranges = new RangeFiles(dir, { tenant: tenantId('tenant'), spillLimitBytes: 1_000_000 });
  const opening = { open: storage, readFooter, ranges, signal: new AbortController().signal };
  const staged = must(await stagedFile(source, file, opening), 'a whole file');
  const tools: CheckTools = {
    source,
    open,
    texts,
    strict: (from) => `SELECT * FROM ${from}`,
    guarded: (from) => {
      const { place, fault } = GUARDED_COLUMNS;
      const ofRecord = `CASE WHEN ${fault} IS NOT NULL THEN 'v' || ${fault} WHEN id < 0 THEN 'vid' END`;
      return `SELECT ${place} AS p, ${ofRecord} AS fault FROM ${from}`;
    },
    run: (sql) => void ended.push(connection.run(sql)),
    signal,
  };
  try {
    return { check: await checkRecordsOf(staged, FAULTS, tools), opened };
  } finally {
    await Promise.all(ended);
  }
}

const CSV: FileFormat = {
  kind: 'csv',
  compression: 'none',
  delimiter: ',',
  quote: '"',
  escape: '"',
  header: { kind: 'lines', count: 0 },
  nulls: ['\\N', ''],
  countsFields: true,
  dateFormat: null,
  timestampFormat: null,
};
const JSON_LINES: FileFormat = {
  kind: 'json',
  compression: 'none',
  layout: 'lines',
  dateFormat: null,
  timestampFormat: null,
};

const lines = (line: (i: number, isBad: boolean) => string): string =>
  Array.from({ length: ROWS }, (_, i) => `${line(i, i >= ROWS - FAULTS)}\n`).join('');
const FILES: readonly { readonly kind: string; readonly format: FileFormat; readonly content: string }[] = [
  { kind: 'CSV', format: CSV, content: lines((i, isBad) => (isBad ? 'x' : String(i))) },
  { kind: 'JSON', format: JSON_LINES, content: lines((i, isBad) => `{"id": ${isBad ? '"x"' : String(i)}}`) },
];

test.each(FILES)(
  'the lines of a thousand faults are found in one pass over the file: $kind',
  async ({ format, content }) => {
    const { check: found, opened } = await check(format, content);
    expect(found).toMatchObject({ parsed: ROWS, errors: FAULTS });
    expect(found.faults.map(({ line }) => line)).toEqual(
      Array.from({ length: FAULTS }, (_, i) => ROWS - FAULTS + i + 1),
    );
    expect(opened).toBe(1);
  },
);

test.each(FILES)(
  'a check whose task was cancelled does not read the file to its end: $kind',
  async ({ format, content }) => {
    const cancelled = AbortSignal.abort(new SkeinError('QUERY_CANCELLED', 'cancelled'));
    await expect(check(format, content, cancelled)).rejects.toMatchObject({ code: 'QUERY_CANCELLED' });
  },
);

test('a value of megabytes is cut in what is said of it', async () => {
  const { check: found } = await check(CSV, `1\n${'x'.repeat(2 ** 21)}\n`);
  expect(found).toMatchObject({ parsed: 2, errors: 1 });
  const [fault] = found.faults;
  expect(fault?.message.length).toBeLessThanOrEqual(1_000);
  expect(fault?.record).toHaveLength(200);
});
