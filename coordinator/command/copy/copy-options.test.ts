import { describe, expect, test } from 'vitest';
import { takeCopy } from './take-copy.ts';
import { StatementReader } from '../../statement/statement-reader.ts';
import type { CopyInto } from '../../operation/copy-into.ts';

function parse(text: string): CopyInto {
  const reader = new StatementReader({ text, offset: 0 });
  reader.words(2);
  return takeCopy(reader);
}
const withOptions = (options: string): CopyInto => parse(`COPY INTO t FROM @s ${options}`);

describe('COPY INTO', () => {
  test('names a table, its columns, a stage and its files', () => {
    expect(parse(`COPY INTO a.b."T" (x, "Y") FROM @n.s/p FILES = ('1.csv' , 'q/2.csv') FORCE = TRUE`)).toMatchObject({
      table: { parts: ['a', 'b', 'T'] },
      columns: [{ name: 'x' }, { name: 'Y' }],
      stage: { name: ['n', 's'], path: 'p' },
      select: null,
      options: {
        files: [{ path: '1.csv' }, { path: 'q/2.csv' }],
        onError: { kind: 'abort' },
        match: 'position',
        force: true,
        purge: false,
        validation: null,
      },
    });
  });

  test('may make expressions of the columns of the files', () => {
    const { select, stage } = parse(
      'COPY INTO t FROM (SELECT f.$1, CAST($2 AS INT) AS y, a[1, 2] FROM @s/p AS f) PURGE=TRUE',
    );
    expect(select).toMatchObject({
      expressions: [{ text: 'f.$1' }, { text: 'CAST($2 AS INT)' }, { text: 'a[1, 2]' }],
      alias: 'f',
    });
    expect(stage).toMatchObject({ name: ['s'], path: 'p' });
    expect(parse("COPY INTO t FROM (SELECT $1 FROM '@s/a b')").select?.alias).toBe(null);
  });

  test.each([
    ['ON_ERROR = CONTINUE', { kind: 'continue' }],
    ['ON_ERROR = skip_file', { kind: 'skip', from: 1, unit: 'records' }],
    ["ON_ERROR = 'SKIP_FILE_12'", { kind: 'skip', from: 12, unit: 'records' }],
    ["ON_ERROR = 'SKIP_FILE_0%'", { kind: 'skip', from: 0, unit: 'percent' }],
    ['ON_ERROR = ABORT_STATEMENT', { kind: 'abort' }],
  ])('%s', (options, expected) => {
    expect(withOptions(options).options.onError).toEqual(expected);
  });

  test.each([
    ['FILE_FORMAT = (TYPE = JSON)', 'name'],
    ['FILE_FORMAT = (TYPE = PARQUET) MATCH_BY_COLUMN_NAME = CASE_SENSITIVE', 'exact name'],
    ['FILE_FORMAT = (PARSE_HEADER = TRUE)', 'position'],
    ['FILE_FORMAT = (PARSE_HEADER = TRUE) MATCH_BY_COLUMN_NAME = CASE_INSENSITIVE', 'name'],
  ])('%s: values find their columns by %s', (options, match) => {
    expect(withOptions(options).options.match).toBe(match);
  });

  test.each([
    ['VALIDATION_MODE = RETURN_ERRORS', { kind: 'errors' }],
    ['VALIDATION_MODE = RETURN_ALL_ERRORS', { kind: 'errors' }],
    ['VALIDATION_MODE = RETURN_10_ROWS', { kind: 'rows', count: 10 }],
  ])('%s', (options, expected) => {
    expect(withOptions(options).options.validation).toEqual(expected);
  });

  test.each([
    ['ON_ERROR = SKIP', 'SYNTAX_ERROR', 'ON_ERROR is one of'],
    ["ON_ERROR = 'SKIP_FILE_101%'", 'SYNTAX_ERROR', 'at most 100 percent'],
    ['VALIDATION_MODE = RETURN_999999_ROWS', 'SYNTAX_ERROR', 'VALIDATION_MODE is one of'],
    ['TRUNCATECOLUMNS = TRUE', 'NOT_SUPPORTED', 'TRUNCATECOLUMNS is not served'],
    ["FILES = ('../x')", 'INVALID_REQUEST', 'FILES: the path "../x" of a stage has the name ..'],
    ["FILES = ('x/')", 'INVALID_REQUEST', 'FILES: the path "x/" of a file'],
    ['FORCED = TRUE', 'SYNTAX_ERROR', 'has no option FORCED'],
    ['MATCH_BY_COLUMN_NAME = CASE_SENSITIVE', 'SYNTAX_ERROR', 'takes the names of a header'],
  ])('%s is refused', (options, code, message) => {
    expect(() => withOptions(options)).toThrow(
      expect.objectContaining({ code, message: expect.stringContaining(message) as string, position: 20 }),
    );
  });

  test.each([
    'COPY INTO t FROM (SELECT DISTINCT $1 FROM @s)',
    'COPY INTO t FROM (SELECT $1 FROM @s WHERE $1 = 1)',
    'COPY INTO t FROM (SELECT $1 FROM @s JOIN u ON true)',
    'COPY INTO t FROM (SELECT $1 FROM @s, u)',
    'COPY INTO t FROM (SELECT * FROM @s)',
    'COPY INTO t FROM (SELECT $1 FROM @s) VALIDATION_MODE = RETURN_ERRORS',
  ])('%s is not served', (text) => {
    expect(() => parse(text)).toThrow(expect.objectContaining({ code: 'NOT_SUPPORTED' }));
  });
});
