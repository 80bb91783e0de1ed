import fc from 'fast-check';
import { expect, test } from 'vitest';
import { isStatement, splitStatements } from './split-statements.ts';

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
