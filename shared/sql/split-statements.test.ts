import fc from 'fast-check';
import { expect, test } from 'vitest';
import { isStatement, placeStatements, splitStatements, statementAt } from './split-statements.ts';

const cases: readonly (readonly [string, readonly string[], string])[] = [
  ['SELECT 1; SELECT 2', ['SELECT 1'], 'SELECT 2'],
  [';;  ; -- nothing\n;', [], ''],
  ["SELECT ';' ; SELECT 'it''s; fine';", ["SELECT ';'", "SELECT 'it''s; fine'"], ''],
  ['SELECT ";a" FROM t;', ['SELECT ";a" FROM t'], ''],
  ["SELECT E'\\';' ;x", ["SELECT E'\\';'"], 'x'],
  ["SELECT '\\'; y", ["SELECT '\\'"], 'y'],
  ["SELECT nameE'\\';", ["SELECT nameE'\\'"], ''],
  ['SELECT $$a;b$$; SELECT $q$ $$;$q$;', ['SELECT $$a;b$$', 'SELECT $q$ $$;$q$'], ''],
  ['SELECT $1; SELECT a$b$c;', ['SELECT $1', 'SELECT a$b$c'], ''],
  ['SELECT 1 -- one; two\n;', ['SELECT 1 -- one; two'], ''],
  ['-- first;\n/* second */ SELECT 1;', ['SELECT 1'], ''],
  ['SELECT /* ; /* ; */ ; */ 1;', ['SELECT /* ; /* ; */ ; */ 1'], ''],
  ['SELECT 4 / 2 - 1;', ['SELECT 4 / 2 - 1'], ''],
  ["SELECT 'open; ", [], "SELECT 'open; "],
  ['SELECT /* open; ', [], 'SELECT /* open; '],
  ['SELECT $x$ open; $y$', [], 'SELECT $x$ open; $y$'],
];

test.each(cases)('%j', (text, statements, rest) => {
  expect(splitStatements(text)).toEqual({ statements, rest });
});

test('a text that comes in pieces splits as it does whole', () => {
  const part = fc.constantFrom("'", '"', ';', '--', '\n', '/*', '*/', '$$', 'E', '\\', ' ', 'a', '$t$');
  fc.assert(
    fc.property(fc.array(part, { maxLength: 30 }), (parts) => {
      const text = parts.join('');
      const whole = splitStatements(`${text}\n`);
      // The pieces are lines, as in a shell, so none ends within a token of two characters.
      const statements: string[] = [];
      let rest = '';
      for (const line of `${text}\n`.split(/(?<=\n)/)) {
        const split = splitStatements(rest + line);
        statements.push(...split.statements);
        rest = split.rest;
      }
      expect(statements).toEqual(whole.statements);
      expect(isStatement(rest)).toBe(isStatement(whole.rest));
    }),
  );
});

test('comments alone are no statement', () => {
  expect(isStatement(' -- hello')).toBe(false);
  expect(isStatement('/* a */ ')).toBe(false);
  expect(isStatement(' x')).toBe(true);
});

test('statements know their places', () => {
  const text = '-- first\n  SELECT 1;\nSELECT 2 -- two\n;; SELECT 3';
  expect(placeStatements(text).map(({ sql, start, end }) => [sql, text.slice(start, end) === sql])).toEqual([
    ['SELECT 1', true],
    ['SELECT 2 -- two', true],
    ['SELECT 3', true],
  ]);
  expect(placeStatements('SELECT 1; -- no more')).toHaveLength(1);
});

test('the statement of a cursor is the one that begins before it', () => {
  const text = ' SELECT 1; SELECT 2; ';
  expect([0, 9, 10, 11, text.length].map((at) => statementAt(text, at)?.sql)).toEqual([
    'SELECT 1',
    'SELECT 1',
    'SELECT 1',
    'SELECT 2',
    'SELECT 2',
  ]);
  expect(statementAt(' -- ', 1)).toBeUndefined();
});
