import { expect, test } from 'vitest';
import { readCopiedRows } from './read-rows.ts';
import type { CopiedColumn, RowFormat, RowsInput } from './row-format.ts';

const column = (name: string, more: Partial<CopiedColumn> = {}): CopiedColumn => ({
  name,
  kind: 'text',
  element: null,
  neverNull: false,
  nullInQuotes: false,
  ...more,
});
const TEXT: RowFormat = { format: 'text', delimiter: '\t', null: '\\N', header: false, quote: '"', escape: '"' };
const CSV: RowFormat = { ...TEXT, format: 'csv', delimiter: ',', null: '' };

const read = (bytes: Buffer, format: RowFormat, more: Partial<RowsInput> = {}) =>
  readCopiedRows({ bytes, isLast: true, isFirst: true, line: 1, format, columns: [column('a')], ...more });

test.each([
  ['text', TEXT, '\t'],
  ['csv', CSV, ','],
] as const)(
  'a line of many fields is one of too many, and takes no memory for each: %s',
  (_name, format, delimiter) => {
    const line = Buffer.alloc(2 ** 22, delimiter);
    const before = process.memoryUsage().heapUsed;
    const { fault, rows } = read(line, format);
    expect([rows, fault?.message, fault?.line]).toEqual([0, 'extra data after last expected column', 1]);
    expect(process.memoryUsage().heapUsed - before).toBeLessThan(100 * 2 ** 20);
    const header = read(line, { ...format, header: 'match' });
    expect(header.fault?.message).toBe(`wrong number of fields in header line: got ${2 ** 22 + 1}, expected 1`);
  },
);

test('halves of a character in two values are none in either', () => {
  const bytes = Buffer.from('fine\n\xc3\n\xa9\n', 'latin1');
  expect(read(bytes, TEXT).fault).toMatchObject({ sqlState: '22021', line: 2, column: 'a' });
  const array = [column('a', { kind: 'array', element: 'text' })];
  expect(read(Buffer.from('{a,\xc3}\n', 'latin1'), TEXT, { columns: array }).fault).toMatchObject({
    sqlState: '22021',
  });
  expect(read(Buffer.from('é\né\n'), TEXT)).toMatchObject({ rows: 2, fault: null });
});
