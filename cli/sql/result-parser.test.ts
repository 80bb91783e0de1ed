import fc from 'fast-check';
import { expect, test } from 'vitest';
import { ResultParser, rowValues } from './result-parser.ts';

/** All rows of a text that arrives in pieces of the given lengths. */
function rowsOf(text: string, lengths: readonly number[]): { rows: string[]; parser: ResultParser } {
  const parser = new ResultParser();
  const rows: string[] = [];
  let at = 0;
  for (const length of [...lengths, text.length]) {
    rows.push(...parser.push(text.slice(at, at + length)));
    at += length;
  }
  return { rows, parser };
}

test('rows come out as they stand, however the text is cut', () => {
  const value = fc.oneof(
    fc.string(),
    fc.constantFrom(null, true, [1, ['"', ']']], { a: '}\\', b: [] }, 1.5, '\\', '"rows":['),
  );
  fc.assert(
    fc.property(
      fc.array(fc.array(value, { minLength: 1, maxLength: 4 }), { maxLength: 8 }),
      fc.array(fc.integer({ min: 0, max: 7 }), { maxLength: 60 }),
      (table, lengths) => {
        const text = JSON.stringify({
          columns: ['rows', '"x'],
          types: ['A', 'B'],
          rows: table,
          row_count: table.length,
          elapsed_ms: 3,
        });
        const { rows, parser } = rowsOf(text, lengths);
        expect(rows).toEqual(table.map((row) => JSON.stringify(row)));
        expect(parser.head?.columns).toEqual(['rows', '"x']);
        expect(parser.end()).toEqual({ rowCount: table.length, elapsedMs: 3 });
        for (const [i, row] of rows.entries()) {
          expect(rowValues(row)).toEqual(table[i]?.map((item) => JSON.stringify(item)));
        }
      },
    ),
  );
});

test('numbers keep every digit', () => {
  expect(rowValues('[9223372036854775807, 1.50,-0.0,1e400, null]')).toEqual([
    '9223372036854775807',
    '1.50',
    '-0.0',
    '1e400',
    'null',
  ]);
  expect(rowValues('[]')).toEqual([]);
});

test('a result that is cut off is an error, not a short result', () => {
  const { rows, parser } = rowsOf('{"columns":["x"],"types":["I"],"rows":[[1],[2', [10]);
  expect(rows).toEqual(['[1]']);
  expect(() => parser.end()).toThrow(SyntaxError);
});
