import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { CsvFormat, FileFormat } from '#shared/stage/file-format.ts';
import type { StagedSource } from '#shared/task/task.ts';
import { FILE_CREDENTIAL } from '#test/support/file-credential.ts';
import { openScanned } from '../scan/readable-path.ts';
import { requireSomeColumn } from './require-some-column.ts';

const CSV: CsvFormat = {
  kind: 'csv',
  compression: 'none',
  delimiter: ',',
  quote: '"',
  escape: '"',
  header: { kind: 'names' },
  nulls: [],
  countsFields: true,
  dateFormat: null,
  timestampFormat: null,
};
const JSON_LINES: FileFormat = {
  kind: 'json',
  compression: 'auto',
  layout: 'lines',
  dateFormat: null,
  timestampFormat: null,
};

let dir: string;
beforeAll(() => void (dir = mkdtempSync(join(tmpdir(), 'skein-some-column-'))));
afterAll(() => rmSync(dir, { recursive: true, force: true }));

/** Looks at a file of this text for `id` and `name`. */
function look(text: string, more: Partial<StagedSource>, file = 'a.csv'): Promise<readonly string[]> {
  const path = join(dir, file);
  writeFileSync(path, text);
  const columns = ['id', 'name'].map((name) => ({ name, type: 'VARCHAR' }));
  const source: StagedSource = { format: CSV, what: 'rows', columns, byName: true, ...more };
  const scanned = {
    path,
    recordCount: 0,
    sizeBytes: text.length,
    rows: null,
    constants: {},
    deletes: [],
    firstRowId: null,
  };
  return requireSomeColumn(source, scanned, {
    open: openScanned({ credential: FILE_CREDENTIAL }),
    readFooter: () => Promise.reject(new Error('no Parquet here')),
    signal: new AbortController().signal,
  });
}

test('a file of CSV without a column that is asked for is refused, and both lists are shown', async () => {
  await expect(look('naam,""\n1,2\n', {})).rejects.toMatchObject({
    code: 'INVALID_ARGUMENT',
    message: 'no column of the file a.csv is one of the table: the file has (naam, ""), the table (id, name)',
  });
  expect(await look('x,ID\n', {})).toEqual(['x', 'ID']);
  await expect(look('x,ID\n', { matchesCase: true })).rejects.toThrow(/\(x, ID\)/);
});

test('a file without any name, one that cannot be read, and what is found by place are not refused', async () => {
  expect(await look('', {})).toEqual([]);
  expect(await look('{}\n', { format: JSON_LINES })).toEqual([]);
  expect(await look('no gzip', { format: JSON_LINES }, 'a.json.gz')).toEqual([]);
  expect(await look('naam\n', { byName: false })).toEqual([]);
});

test('members of JSON are compared as the source spells them; a message shows the begin of many and long names', async () => {
  await expect(look('{"ID":1}', { format: JSON_LINES })).rejects.toThrow('the file has (ID), the table (id, name)');
  const names = Array.from({ length: 30 }, (_, i) => `${'x'.repeat(1_000)}${i}`);
  const error: unknown = await look(`${names.join(',')}\n`, {}).catch((thrown: unknown) => thrown);
  expect(String(error).length).toBeLessThan(3_000);
  expect(String(error)).toContain(', ...), the table (id, name)');
});
