import { describe, expect, it } from 'vitest';
import {
  copyInto,
  createTable,
  firstRowsOf,
  optionsByName,
  proposedTypes,
  unfit,
  type LoadedColumn,
} from './load-statements.ts';

const table = { catalog: 'lake', schema: 's', name: 'a "b" 😀' };
const csv = optionsByName('x.csv');
const columns = (...named: readonly (readonly [string, string | null])[]): readonly LoadedColumn[] =>
  named.map(([file, to]) => ({ file, to, type: 'BIGINT' }));

describe('the statements of a load', () => {
  it.each([
    ['a.csv', 'CSV', ','],
    ['a.tsv.gz', 'CSV', '\t'],
    ['a.ndjson', 'JSON', ','],
    ['a.PARQUET', 'PARQUET', ','],
    ['noend', 'CSV', ','],
  ])('%s is read as %s', (name, type, delimiter) => {
    expect(optionsByName(name)).toMatchObject({ type, delimiter });
  });

  it('quote names and files', () => {
    expect(firstRowsOf("l/it's.tsv", optionsByName('x.tsv')).sql).toBe(
      "SELECT * FROM '@~/l/it''s.tsv' (FILE_FORMAT => (TYPE = CSV PARSE_HEADER = TRUE FIELD_DELIMITER = '\t')) LIMIT 20",
    );
    expect(createTable(table, columns(['x', 'x"y'], ['z', null])).sql).toBe(
      'CREATE TABLE lake.s."a ""b"" 😀" ("x""y" BIGINT)',
    );
  });

  it('load by names where they are the same, or else by place', () => {
    const same = { options: csv, columns: columns(['ID', 'id'], ['more', null]) };
    expect(copyInto(table, 'f', same, { validates: true }).sql).toBe(
      `COPY INTO lake.s."a ""b"" 😀" ("id") FROM '@~/f' FILE_FORMAT = (TYPE = CSV PARSE_HEADER = TRUE) MATCH_BY_COLUMN_NAME = CASE_INSENSITIVE VALIDATION_MODE = RETURN_ERRORS`,
    );
    const other = { options: csv, columns: columns(['ID', 'number']) };
    expect(copyInto(table, 'f', other, { onError: 'CONTINUE' }).sql).toBe(
      `COPY INTO lake.s."a ""b"" 😀" ("number") FROM '@~/f' FILE_FORMAT = (TYPE = CSV SKIP_HEADER = 1) ON_ERROR = CONTINUE`,
    );
  });

  it('say what COPY INTO cannot do', () => {
    expect(unfit(csv, columns(['a', 'a'], ['b', null]))).toBeUndefined();
    expect(unfit(csv, columns(['a', 'x'], ['b', 'y']))).toBeUndefined();
    expect(unfit(csv, columns(['a', 'x'], ['b', null]))).toMatch(/left out/);
    expect(unfit({ ...csv, hasHeader: false }, columns(['$1', 'x'], ['$2', null]))).toMatch(/left out/);
    expect(unfit(optionsByName('a.json'), columns(['a', 'x']))).toMatch(/of their names/);
    expect(unfit(csv, columns(['a', 'x'], ['b', 'X']))).toMatch(/one name/);
    expect(unfit(csv, columns(['a', ''], ['b', 'X']))).toMatch(/no name/);
    expect(unfit(csv, columns(['a', null]))).toMatch(/No column/);
  });
});

describe('the types that are proposed', () => {
  // For each column: its values, then those that are BIGINT, DOUBLE, BOOLEAN, DATE, TIMESTAMP, TIMESTAMPTZ.
  it.each([
    ['BIGINT', [3, 3, 3, 0, 0, 0, 0]],
    ['DOUBLE', [3, 2, 3, 0, 0, 0, 0]],
    ['BOOLEAN', [3, 0, 0, 3, 0, 0, 0]],
    ['DATE', [3, 0, 0, 0, 3, 3, 0]],
    ['TIMESTAMPTZ', [3, 0, 0, 0, 0, 1, 3]],
    ['VARCHAR', [3, 2, 2, 0, 0, 0, 0]],
    ['VARCHAR', [0, 0, 0, 0, 0, 0, 0]],
  ])('%s of %j', (type, counts) => {
    expect(proposedTypes({ rows: [[...counts, ...counts]] })).toEqual([type, type]);
  });
});
