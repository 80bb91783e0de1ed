import { expect, test } from 'vitest';
import { resultWriter, type Format } from './result-format.ts';

const HEAD = { columns: ['id', 'na,me'], types: ['BIGINT', 'VARCHAR'] };
const ROWS = ['["9223372036854775807","a\\"b,c"]', '[1,null]', '[2,""]', '[3,"x\\n\\u001b[2J"]', '[4,{"k":[1.50]}]'];

function printed(format: Format, rows: readonly string[]): string {
  const writer = resultWriter(format, HEAD);
  return (
    writer.rows(rows.slice(0, 2)) + writer.rows(rows.slice(2)) + writer.end({ rowCount: rows.length, elapsedMs: 7 })
  );
}

test('csv: quoted where it must be; NULL and the empty string differ', () => {
  expect(printed('csv', ROWS)).toBe(
    'id,"na,me"\n9223372036854775807,"a""b,c"\n1,\n2,""\n3,"x\n\u001b[2J"\n4,"{""k"":[1.50]}"\n',
  );
});

test('ndjson: an object per line with the values as they came', () => {
  expect(printed('ndjson', ROWS)).toBe(
    [
      '{"id":"9223372036854775807","na,me":"a\\"b,c"}',
      '{"id":1,"na,me":null}',
      '{"id":2,"na,me":""}',
      '{"id":3,"na,me":"x\\n\\u001b[2J"}',
      '{"id":4,"na,me":{"k":[1.50]}}',
      '',
    ].join('\n'),
  );
});

test('json: one array', () => {
  const rows = JSON.parse(printed('json', ROWS)) as readonly Record<string, unknown>[];
  expect(rows).toHaveLength(5);
  expect(rows[4]).toEqual({ id: 4, 'na,me': { k: [1.5] } });
  expect(printed('json', [])).toBe('[]\n');
});

test('table: numbers to the right, control characters as escapes, so that data cannot drive the terminal', () => {
  expect(printed('table', ROWS)).toBe(
    [
      ' id                  | na,me',
      '---------------------+--------------',
      ' 9223372036854775807 | a"b,c',
      '                   1 | NULL',
      '                   2 |',
      '                   3 | x\\n\\u{1b}[2J',
      '                   4 | {"k":[1.50]}',
      '(5 rows, 7 ms)',
      '',
    ]
      .join('\n')
      .replace(' id                  |', '                  id |'),
  );
});

test('every format prints an empty result', () => {
  expect(printed('csv', [])).toBe('id,"na,me"\n');
  expect(printed('ndjson', [])).toBe('');
  expect(printed('table', [])).toContain('(0 rows, 7 ms)');
});
