import { expect, test } from 'vitest';
import { clipboardText, csvLine, jsonLine } from './copy-text.ts';

test('what a spreadsheet would run is text', () => {
  const rows = [['=1+1', '+cmd', '-2', '-x', '@SUM(A1)', '1e-5', null, 'a\tb', 'say "x"']];
  expect(clipboardText(['a', '=b'], rows)).toBe(
    `a\t'=b\n'=1+1\t'+cmd\t-2\t'-x\t'@SUM(A1)\t1e-5\t\t"a\tb"\t"say ""x"""`,
  );
});

test('CSV tells NULL from an empty text', () => {
  expect(csvLine([null, '', 'a,b', '=x', '"'])).toBe(`,"","a,b",'=x,""""\r\n`);
});

test('JSON keeps every digit', () => {
  const columns = [
    { name: 'a', type: 'INTEGER' },
    { name: 'b"', type: 'BIGINT' },
    { name: 'c', type: 'BOOLEAN' },
  ];
  expect(jsonLine(columns, ['1', '9223372036854775807', null])).toBe('{"a":1,"b\\"":"9223372036854775807","c":null}');
});
