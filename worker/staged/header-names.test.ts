import { expect, test } from 'vitest';
import type { CsvFormat } from '#shared/stage/file-format.ts';
import { must } from '#shared/must.ts';
import { readFirstRecord } from './first-record.ts';
import { namesOf } from './header-names.ts';

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

test('the names in a header', async () => {
  const header = async (text: string, more: Partial<CsvFormat> = {}): Promise<readonly string[]> =>
    namesOf(must(await readFirstRecord(chunks(text), { ...FORMAT, ...more }), 'a record'), { ...FORMAT, ...more });
  expect(await header('a,"b, ""c""\nd",\r\n1,2,3\n')).toEqual(['a', 'b, "c"\nd', '']);
  expect(await header('\uFEFFid||Name', { delimiter: '||' })).toEqual(['id', 'Name']);
  expect(await header("'a\\'b'|c\n", { delimiter: '|', quote: "'", escape: '\\' })).toEqual(["a'b", 'c']);
  expect(await header('\n1\n')).toEqual(['']);
  expect(await readFirstRecord(chunks(''), FORMAT)).toBeNull();
});

test('a header of more names than DuckDB is told of is refused', () => {
  expect(namesOf(','.repeat(9_999), FORMAT)).toHaveLength(10_000);
  expect(() => namesOf(','.repeat(10_000), FORMAT)).toThrow(expect.objectContaining({ code: 'INVALID_INPUT_FILE' }));
});
