import { writeFileSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DuckDBInstance, type DuckDBConnection } from '@duckdb/node-api';
import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { CsvFormat } from '#shared/stage/file-format.ts';
import { readCsv } from '../staged/print-staged.ts';
import { lineEnds, newLineOption } from '../staged/even-lines.ts';
import { linesOfBytes, linesOfCsvRecords } from './csv-records.ts';

const FORMAT: CsvFormat = {
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

/** The text in chunks of a few bytes. */
async function* chunks(text: string, size = 3): AsyncGenerator<Uint8Array> {
  const bytes = Buffer.from(text);
  for (let at = 0; at < bytes.length; at += size) yield await Promise.resolve(bytes.subarray(at, at + size));
}

let dir: string;
let connection: DuckDBConnection;
beforeAll(async () => {
  dir = mkdtempSync(join(tmpdir(), 'skein-records-'));
  connection = await (await DuckDBInstance.create(':memory:')).connect();
});
afterAll(() => {
  connection?.closeSync();
  rmSync(dir, { recursive: true, force: true });
});

const field = fc.constantFrom('a', '', '"q"', '"line\nbreak"', '"a ""b"", c"', '"crlf\r\n"', 'é');
const record = fc
  .record({ id: fc.constantFrom('1', '22', 'bad', ''), rest: fc.array(field, { minLength: 0, maxLength: 2 }) })
  .map(({ id, rest }) => [id, ...rest].join(','));
const file = fc.record({
  records: fc.array(fc.oneof({ weight: 6, arbitrary: record }, { weight: 1, arbitrary: fc.constant('') }), {
    maxLength: 12,
  }),
  end: fc.constantFrom('\n', '\r\n'),
});

test('the lines of the records that DuckDB reads, and of those that it rejects', async () => {
  const path = join(dir, 'a.csv');
  const columns = ['INTEGER', 'VARCHAR'].map((type, i) => ({ name: `c${i}`, type }));
  await fc.assert(
    fc.asyncProperty(file, async ({ records, end }) => {
      // Where each record begins, by the model.
      const starts: number[] = [];
      let line = 1;
      for (const one of records) {
        starts.push(line);
        line += one.split('\n').length;
      }
      const text = records.map((one) => `${one}${end}`).join('');
      writeFileSync(path, text);
      const newLine = await lineEnds(() => chunks(text), FORMAT);
      if (newLine === 'uneven') throw new Error('all lines end in one way');
      expect([end, '\n'].slice(0, text === '' ? 2 : 1)).toContain(newLine);
      const from = readCsv(FORMAT, [path], columns, ['store_rejects = true', newLineOption(newLine)]);
      const read = (await connection.runAndReadAll(`SELECT c0, c1 FROM ${from}`)).getRowsJson();
      const rejects = (
        await connection.runAndReadAll('SELECT DISTINCT line_byte_position - 1 FROM reject_errors ORDER BY 1')
      ).getRowsJson();
      await connection.run('DROP TABLE reject_errors; DROP TABLE reject_scans');
      const rejected = rejects.map(([byte]) => Number(byte));
      const places = read.map((_, i) => i + 1);
      const ofRejected = await linesOfBytes(chunks(text), rejected, false);
      const ofRead = await linesOfCsvRecords(chunks(text), FORMAT, { places, rejected, isOne: false });
      const found = [...rejected.map((byte) => ofRejected.get(byte)), ...places.map((place) => ofRead.get(place))];
      const wanted = starts.filter((_, i) => records[i] !== '');
      expect(found.toSorted((a, b) => Number(a) - Number(b))).toEqual(wanted);
      // DuckDB takes an empty field behind the last one for none.
      const good = records.flatMap((one, i) => (/^(?:\d+|),(?:[^,"]*|"(?:[^"]|"")*"),?$/.test(one) ? [starts[i]] : []));
      expect(found.slice(rejected.length)).toEqual(good);
    }),
    { numRuns: 200 },
  );
});
