import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DuckDBInstance, type DuckDBConnection } from '@duckdb/node-api';
import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { ScanFile } from '#shared/iceberg/scan-file.ts';
import type { ScanSpec, StagedSource } from '#shared/task/task.ts';
import { tenantId } from '#shared/id.ts';
import { SkeinError } from '#shared/error.ts';
import { must } from '#shared/must.ts';
import type { CsvFormat } from '#shared/stage/file-format.ts';
import { FILE_CREDENTIAL } from '#test/support/file-credential.ts';
import { openScanned } from '../scan/readable-path.ts';
import { evenLines, lineEnds } from './even-lines.ts';
import { printStaged } from './print-staged.ts';
import { RangeFiles } from './range-files.ts';

const FORMAT: CsvFormat = {
  kind: 'csv',
  compression: 'none',
  delimiter: ',',
  quote: '"',
  escape: '"',
  header: { kind: 'lines', count: 0 },
  nulls: ['\\N'],
  countsFields: true,
  dateFormat: null,
  timestampFormat: null,
};
const COLUMNS = ['a', 'b', 'c'].map((name) => ({ name, type: 'VARCHAR' }));
const open = openScanned({ credential: FILE_CREDENTIAL });
const { signal } = new AbortController();

let dir: string;
let connection: DuckDBConnection;
/** Each file has a name of its own, so that a run that is given up does not meet the next one. */
let files = 0;
beforeAll(async () => {
  dir = mkdtempSync(join(tmpdir(), 'skein-lines-'));
  connection = await (await DuckDBInstance.create(':memory:')).connect();
});
afterAll(() => {
  connection?.closeSync();
  rmSync(dir, { recursive: true, force: true });
});

async function* chunks(text: string, size = 3): AsyncGenerator<Uint8Array> {
  const bytes = Buffer.from(text);
  for (let at = 0; at < bytes.length; at += size) yield await Promise.resolve(bytes.subarray(at, at + size));
}

/** The rows of a file as a statement reads them. */
async function rowsOf(text: string, more: Partial<CsvFormat> = {}): Promise<readonly unknown[]> {
  files += 1;
  const path = join(dir, `${files}.csv`);
  writeFileSync(path, text);
  const etag = must(await open(path).fileAt(path), 'the file').etag;
  const sizeBytes = Buffer.byteLength(text);
  const file: ScanFile = {
    path,
    recordCount: 0,
    sizeBytes,
    rows: null,
    constants: {},
    deletes: [],
    firstRowId: null,
    etag,
  };
  const staged: StagedSource = { format: { ...FORMAT, ...more }, what: 'rows', columns: COLUMNS };
  const scan = { files: [file], allowedRoots: [dir], staged } as unknown as ScanSpec & { staged: StagedSource };
  await using ranges = new RangeFiles(join(dir, 'copies'), { tenant: tenantId('t'), spillLimitBytes: 1_000_000 });
  const readFooter = () => Promise.reject(new Error('no Parquet here'));
  const { sql } = await printStaged(signal, scan, { index: 0, open, ranges, readFooter });
  return (await connection.runAndReadAll(`SELECT * FROM ${sql}`)).getRowsJson();
}

const [LF, CRLF, CR] = ['\n', '\r\n', '\r'];
const ends = fc.constantFrom(LF, CRLF, CR);
const value = fc
  .array(fc.constantFrom('a', 'é', ',', '"', LF, CRLF, CR), { maxLength: 4 })
  .map((part) => part.join(''));
const field = (text: string): string => `"${text.replaceAll('"', '""')}"`;
const records = fc.array(fc.tuple(fc.tuple(value, value, value), ends), { minLength: 1, maxLength: 8 });
const printRecords = (list: readonly (readonly [readonly string[], string])[]): string =>
  list.map(([values, end]) => `${values.map(field).join(',')}${end}`).join('');

test('each record is a row, whatever its line and those around it end with', async () => {
  await fc.assert(
    fc.asyncProperty(records, fc.boolean(), async (list, hasEnd) => {
      const whole = printRecords(list);
      const text = hasEnd ? whole : whole.replace(/[\r\n]+$/, '');
      expect(await rowsOf(text)).toEqual(list.map(([values]) => values));
    }),
    { numRuns: 100 },
  );
});

test('lines without quotes end with each of the three', async () => {
  const plain = fc.array(fc.tuple(fc.constantFrom('a', 'bc', 'é'), ends), { minLength: 1, maxLength: 8 });
  await fc.assert(
    fc.asyncProperty(plain, async (list) => {
      const text = list.map(([one, end]) => `${one},${one},x${end}`).join('');
      const rows = list.map(([one]) => [one, one, 'x']);
      expect(await rowsOf(text)).toEqual(rows);
      expect(await rowsOf(text, { quote: null, escape: null })).toEqual(rows);
    }),
    { numRuns: 50 },
  );
});

test('a header takes its record, whatever is within its quotes', async () => {
  await fc.assert(
    fc.asyncProperty(fc.tuple(value, value, value), ends, records, async (names, end, list) => {
      const text = `${names.map(field).join(',')}${end}${printRecords(list)}`;
      const rows = list.map(([values]) => values);
      expect(await rowsOf(text, { header: { kind: 'names' } })).toEqual(rows);
      expect(await rowsOf(`\uFEFF${text}`, { header: { kind: 'names' } })).toEqual(rows);
      expect(await rowsOf(text, { header: { kind: 'lines', count: 1 } })).toEqual(rows);
    }),
    { numRuns: 50 },
  );
});

test('uneven lines have line feeds, and the walk finds the same records whatever comes at once', async () => {
  await fc.assert(
    fc.asyncProperty(records, fc.integer({ min: 1, max: 9 }), async (list, size) => {
      const text = printRecords(list);
      const even: Uint8Array[] = [];
      for await (const chunk of evenLines(chunks(text, size), FORMAT)) even.push(chunk);
      expect(Buffer.concat(even).toString()).toBe(printRecords(list.map(([values]) => [values, LF])));
      const found = new Set(list.map(([, end]) => end));
      const wanted = found.size === 1 && !found.has(CR) ? list[0]?.[1] : 'uneven';
      expect(await lineEnds(() => chunks(text, size), FORMAT)).toBe(wanted);
    }),
    { numRuns: 300 },
  );
});

test('a quote within a field makes an uneven file an error with a line, and no other', async () => {
  expect(await rowsOf('1,5" pipe,x\n2,b,y\n')).toEqual([
    ['1', '5" pipe', 'x'],
    ['2', 'b', 'y'],
  ]);
  const error = await rowsOf('1,5" pipe,x\n2,b,y\r\n3,"c",z\n').catch((thrown: unknown) => thrown);
  expect(SkeinError.of(error)).toMatchObject({
    code: 'INVALID_INPUT_FILE',
    message: expect.stringContaining('line 2') as string,
  });
});
