import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DuckDBInstance, type DuckDBConnection } from '@duckdb/node-api';
import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { ScanFile } from '#shared/iceberg/scan-file.ts';
import type { StagedSource } from '#shared/task/task.ts';
import type { CsvFormat } from '#shared/stage/file-format.ts';
import { FILE_CREDENTIAL } from '#test/support/file-credential.ts';
import { readCsv } from './print-staged.ts';
import { openScanned } from '../scan/readable-path.ts';
import { printRecordStarts } from './record-starts.ts';

const FORMAT: CsvFormat = {
  kind: 'csv',
  compression: 'none',
  delimiter: '||',
  quote: '"',
  escape: '"',
  header: { kind: 'lines', count: 0 },
  nulls: ['\\N'],
  countsFields: true,
  dateFormat: null,
  timestampFormat: null,
};
const open = openScanned({ credential: FILE_CREDENTIAL });
const { signal } = new AbortController();

let dir: string;
let connection: DuckDBConnection;
beforeAll(async () => {
  dir = mkdtempSync(join(tmpdir(), 'skein-starts-'));
  connection = await (await DuckDBInstance.create(':memory:')).connect();
});
afterAll(() => {
  connection?.closeSync();
  rmSync(dir, { recursive: true, force: true });
});

async function starts(text: string, stepBytes: number, more: Partial<CsvFormat> = {}): Promise<readonly number[]> {
  const path = join(dir, `it's "one".csv`);
  writeFileSync(path, text);
  const sizeBytes = Buffer.byteLength(text);
  const file: ScanFile = { path, recordCount: 0, sizeBytes, rows: null, constants: {}, deletes: [], firstRowId: null };
  const columns = ['path', 'start'].map((name) => ({ name, type: 'VARCHAR' }));
  const source: StagedSource = { format: { ...FORMAT, ...more }, what: 'record starts', stepBytes, columns };
  const sql = await printRecordStarts(signal, { files: [file] }, source, { open });
  const rows = (await connection.runAndReadAll(sql)).getRowsJson();
  for (const [found] of rows) expect(found).toBe(path);
  return rows.map(([, start]) => Number(start));
}

const step = fc.integer({ min: 1, max: 40 });
const recordsOf = (field: fc.Arbitrary<string>): fc.Arbitrary<readonly string[][]> =>
  fc.array(fc.array(field, { minLength: 1, maxLength: 3 }), { minLength: 1, maxLength: 12 });

test('the first record in each step, wherever quotes hold the ends of lines', async () => {
  const field = fc.constantFrom('a', '', '"q"', '"line\nbreak"', '"a ""b""||c"', '"\r\n"', ' a', 'é');
  await fc.assert(
    fc.asyncProperty(recordsOf(field), fc.constantFrom('\n', '\r\n'), step, async (list, end, stepBytes) => {
      const texts = list.map((fields) => `${fields.join('||')}${end}`);
      const wanted: number[] = [];
      let at = 0;
      for (const text of texts) {
        if (at >= (wanted.at(-1) ?? 0) + stepBytes) wanted.push(at);
        at += Buffer.byteLength(text);
      }
      expect(await starts(texts.join(''), stepBytes)).toEqual(wanted);
    }),
    { numRuns: 200 },
  );
});

test('parts between them have the rows that DuckDB finds in the whole, whatever the quotes', async () => {
  const field = fc.stringMatching(/^[a "\n]{0,4}$/);
  const format = { ...FORMAT, delimiter: ',' };
  const columns = Array.from({ length: 12 }, (_, i) => ({ name: `c${i}`, type: 'VARCHAR' }));
  const path = join(dir, 'part.csv');
  const rowsOf = async (text: string): Promise<readonly unknown[] | null> => {
    writeFileSync(path, text);
    const from = readCsv({ ...format, countsFields: false }, [path], columns, ["new_line = '\\n'"]);
    const read = connection.runAndReadAll(`SELECT * FROM ${from}`);
    return read.then((rows) => rows.getRowsJson()).catch(() => null);
  };
  let divided = 0;
  await fc.assert(
    fc.asyncProperty(recordsOf(field), async (list) => {
      const text = list.map((fields) => `${fields.join(',')}\n`).join('');
      const whole = await rowsOf(text);
      if (whole === null) return;
      const bounds = [0, ...(await starts(text, 1, { delimiter: ',' })), text.length];
      divided += bounds.length - 2;
      const parts: unknown[] = [];
      for (const [i, end] of bounds.slice(1).entries())
        parts.push(...((await rowsOf(text.slice(bounds[i], end))) ?? []));
      expect(parts).toEqual(whole);
    }),
    { numRuns: 500 },
  );
  expect(divided).toBeGreaterThan(100);
});

test('an escape that is no quote, and a quote that is never closed', async () => {
  const escaped = '"a\\"\n"||b\nc||d\n';
  expect(await starts(escaped, 1, { escape: '\\' })).toEqual([escaped.indexOf('c')]);
  expect(await starts('a\n"b\nc\nd\n', 1)).toEqual([2]);
  expect(await starts('', 1)).toEqual([]);
  expect(await starts('a\n"b"\n5" c\nd\n', 1)).toEqual([2]);
});

test('quotes on both sides of what is read at once', async () => {
  const row = `"${'x\n'.repeat(400_000)}"||y\n`;
  const text = row.repeat(4);
  expect(await starts(text, 1)).toEqual([1, 2, 3].map((i) => i * row.length));
  expect(readFileSync(join(dir, `it's "one".csv`)).length).toBe(text.length);
});
