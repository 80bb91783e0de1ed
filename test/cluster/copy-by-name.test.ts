import { randomUUID } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { DuckDBInstance } from '@duckdb/node-api';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Cluster } from '#test/support/cluster.ts';
import { sharedCluster } from '#test/support/resources.ts';
import { putStageFile } from '#test/support/stage-files.ts';

/** COPY INTO finds columns by their names: a file that has none of the table's is refused, and never loaded as rows of NULL. */
let cluster: Cluster;
let dir: string;
const SCHEMA = 'lake.copy_by_name';
const STAGE = `${SCHEMA}.inbox`;

beforeAll(async () => {
  dir = mkdtempSync(join(tmpdir(), 'skein-by-name-'));
  ({ cluster } = await sharedCluster());
  await cluster.sql(`CREATE SCHEMA ${SCHEMA}`);
  await cluster.sql(`CREATE STAGE ${STAGE}`);
});
afterAll(() => rmSync(dir, { recursive: true, force: true }));

type Body = Uint8Array | string;
type Copied = {
  readonly from: (statement: (table: string, files: string) => string) => Promise<unknown>;
  readonly copy: (options: string) => Promise<unknown>;
  readonly rows: () => Promise<unknown>;
};

/** A table of its own and a folder with these files, in the order of their names. */
async function folder(files: Readonly<Record<string, Body>>, columns = 'id INT, a VARCHAR'): Promise<Copied> {
  const name = `f${randomUUID().replaceAll('-', '')}`;
  await cluster.sql(`CREATE TABLE ${SCHEMA}.${name} (${columns})`);
  for (const [path, body] of Object.entries(files)) await putStageFile(cluster, STAGE, `${name}/${path}`, body);
  return {
    from: (statement) => cluster.sql(statement(`${SCHEMA}.${name}`, `${STAGE}/${name}`)),
    copy: async (options) =>
      ((await cluster.sql(`COPY INTO ${SCHEMA}.${name} FROM @${STAGE}/${name} ${options}`)) as unknown[][]).map((row) =>
        row.map((value) => (typeof value === 'string' ? value.replace(`${name}/`, '') : value)),
      ),
    rows: () => cluster.sql(`SELECT * FROM ${SCHEMA}.${name} ORDER BY ALL`),
  };
}

async function parquet(sql: string): Promise<Uint8Array> {
  const path = join(dir, 'one.parquet');
  const connection = await (await DuckDBInstance.create(':memory:')).connect();
  await connection.run(`COPY (${sql}) TO '${path}' (FORMAT parquet)`);
  connection.closeSync();
  return readFileSync(path);
}

const JSON_FILE = 'FILE_FORMAT = (TYPE = JSON)';
const CSV_FILE = 'FILE_FORMAT = (TYPE = CSV PARSE_HEADER = TRUE) MATCH_BY_COLUMN_NAME = CASE_INSENSITIVE';
const PARQUET_FILE = 'FILE_FORMAT = (TYPE = PARQUET)';
const refused = (given: string, wanted = 'id, a'): unknown =>
  expect.objectContaining({
    message: expect.stringMatching(
      `^INVALID_ARGUMENT \\(22023\\): .*the file has ${RegExp.escape(`(${given}), the table (${wanted})`)}`,
    ),
  });

describe('a file of JSON without a column of the table', () => {
  const NAMELESS = '{"o":1,"":1}\n';
  const ALIKE = '{"X":1,"x":2}\n';
  const KINDS = [
    { kind: 'a member without a name', body: NAMELESS, options: JSON_FILE, given: 'o, ""' },
    { kind: 'names that differ in case only', body: ALIKE, options: JSON_FILE, given: 'X, x' },
    {
      kind: 'the same, in an array',
      body: `[${ALIKE}]`,
      options: 'FILE_FORMAT = (TYPE = JSON STRIP_OUTER_ARRAY = TRUE)',
      given: 'X, x',
    },
    {
      kind: 'the same, on several lines',
      body: ALIKE.replaceAll(',', ',\n'),
      options: 'FILE_FORMAT = (TYPE = JSON MULTI_LINE = TRUE)',
      given: 'X, x',
    },
    {
      kind: 'an escaped name',
      body: String.raw`{"\u0069":1,"b":{"id":1},"c":["id"]}`,
      options: JSON_FILE,
      given: 'i, b, c',
    },
  ];
  test.each(KINDS)('is refused, and both lists are shown: $kind', async ({ body, options, given }) => {
    const { copy, rows } = await folder({ '1.json': body });
    await expect(copy(options)).rejects.toEqual(refused(given));
    await expect(copy(`${options} VALIDATION_MODE = RETURN_1_ROWS`)).rejects.toEqual(refused(given));
    await expect(copy(`${options} MATCH_BY_COLUMN_NAME = CASE_SENSITIVE`)).rejects.toEqual(refused(given));
    expect(await copy(`${options} ON_ERROR = CONTINUE`)).toEqual([
      ['1.json', 'LOAD_FAILED', 0, 0, 1, expect.stringContaining(`the file has (${given})`), null],
    ]);
    expect(await rows()).toEqual([]);
  });

  test('is refused also when it is compressed, or another one than the first', async () => {
    const { copy, rows } = await folder({
      '1.json': '{"id":1,"a":"x"}\n',
      '2.json.gz': gzipSync(NAMELESS),
      '3.json': '{"q":1}\n{"a":"late"}\n',
    });
    await expect(copy(JSON_FILE)).rejects.toEqual(refused('o, ""'));
    expect(await copy(`${JSON_FILE} VALIDATION_MODE = RETURN_ERRORS`)).toEqual([
      [expect.stringContaining('the file has (o, "")'), '2.json.gz', null, null, 'INVALID_ARGUMENT', '22023', null],
    ]);
    for (const onError of ['CONTINUE', 'SKIP_FILE']) {
      const statuses = ((await copy(`${JSON_FILE} FORCE = TRUE ON_ERROR = ${onError}`)) as unknown[][]).map((row) =>
        row.slice(0, 5),
      );
      expect(statuses).toEqual([
        ['1.json', 'LOADED', 1, 1, 0],
        ['2.json.gz', 'LOAD_FAILED', 0, 0, 1],
        ['3.json', 'LOADED', 2, 2, 0],
      ]);
    }
    expect(await rows()).toEqual([
      [1, 'x'],
      [1, 'x'],
      [null, 'late'],
      [null, 'late'],
      [null, null],
      [null, null],
    ]);
  });

  test('is loaded where a document beyond the first thousands has one, or no document has any member', async () => {
    const late = await folder({ '1.json': `${'{"q":1}\n'.repeat(30_000)}{"id":7}\n` });
    expect(await late.copy(JSON_FILE)).toEqual([['1.json', 'LOADED', 30_001, 30_001, 0, null, null]]);
    const empty = await folder({ '1.json': '', '2.json': '{}\n{}\n', '3.json': '{"id":3,"":1}\n' });
    expect(await empty.copy(JSON_FILE)).toEqual([
      ['1.json', 'LOADED', 0, 0, 0, null, null],
      ['2.json', 'LOADED', 2, 2, 0, null, null],
      ['3.json', 'LOADED', 1, 1, 0, null, null],
    ]);
  });

  test('columns are found without case beside a member without a name, and as they are written where both are there', async () => {
    const nameless = await folder({ '1.json': '{"ID":1,"":1,"B":2}\n' }, 'id INT, b INT');
    await nameless.copy(JSON_FILE);
    expect(await nameless.rows()).toEqual([[1, 2]]);
    const taken = await folder({ '1.json': '{"":1,"C1":2,"id":3}\n' }, 'id INT, C1 INT');
    await taken.copy(JSON_FILE);
    expect(await taken.rows()).toEqual([[3, 2]]);
    const alike = await folder({ '1.json': '{"A":"upper","a":"lower","ID":1}\n' });
    await alike.copy(JSON_FILE);
    expect(await alike.rows()).toEqual([[1, 'lower']]);
  });
});

describe('files of CSV and Parquet', () => {
  test('CSV: an own header for each file, and one without names of the table is refused', async () => {
    const { copy, rows } = await folder({ '1.csv': 'A,ID\nx,1\n', '2.csv': 'o,""\n1,2\n', '3.csv': '' });
    await expect(copy(CSV_FILE)).rejects.toEqual(refused('o, ""'));
    await expect(copy(`${CSV_FILE} VALIDATION_MODE = RETURN_9_ROWS`)).rejects.toEqual(refused('o, ""'));
    const statuses = ((await copy(`${CSV_FILE} ON_ERROR = CONTINUE`)) as unknown[][]).map((row) => row.slice(0, 5));
    expect(statuses).toEqual([
      ['1.csv', 'LOADED', 1, 1, 0],
      ['2.csv', 'LOAD_FAILED', 0, 0, 1],
      ['3.csv', 'LOADED', 0, 0, 0],
    ]);
    expect(await rows()).toEqual([[1, 'x']]);
  });

  test('CSV: a header without a name is one, and no empty file', async () => {
    const { copy, rows } = await folder({ '1.csv': '\n5\n6\n' }, 'id INT');
    await expect(copy(CSV_FILE)).rejects.toEqual(refused('""', 'id'));
    expect(await rows()).toEqual([]);
  });

  test('CSV: VALIDATION_MODE shows the rows as they would be loaded, by their names', async () => {
    const { copy } = await folder({ '1.csv': 'extra,A,ID\n9,x,1\n', '2.csv': 'id\n2\n' });
    expect(await copy(`${CSV_FILE} VALIDATION_MODE = RETURN_9_ROWS`)).toEqual(
      expect.arrayContaining([
        [1, 'x'],
        [2, null],
      ]),
    );
    const exact = CSV_FILE.replace('CASE_INSENSITIVE', 'CASE_SENSITIVE');
    await expect(copy(`${exact} VALIDATION_MODE = RETURN_9_ROWS`)).rejects.toEqual(refused('extra, A, ID'));
  });

  test('Parquet: by name, with case where it is asked for', async () => {
    const { copy, rows } = await folder({
      '1.parquet': await parquet(`SELECT 1 AS id, 'x' AS "A"`),
      '2.parquet': await parquet(`SELECT 2 AS "ID", 3 AS o`),
      '3.parquet': await parquet('SELECT 3 AS o'),
    });
    await expect(copy(PARQUET_FILE)).rejects.toEqual(refused('o'));
    await expect(copy(`${PARQUET_FILE} VALIDATION_MODE = RETURN_9_ROWS`)).rejects.toEqual(refused('o'));
    const exact = `${PARQUET_FILE} MATCH_BY_COLUMN_NAME = CASE_SENSITIVE`;
    await expect(copy(`${exact} FILES = ('2.parquet')`)).rejects.toEqual(refused('ID, o'));
    expect(await copy(`${exact} FILES = ('1.parquet') VALIDATION_MODE = RETURN_9_ROWS`)).toEqual([[1, null]]);
    const statuses = ((await copy(`${PARQUET_FILE} ON_ERROR = SKIP_FILE`)) as unknown[][]).map((row) =>
      row.slice(0, 5),
    );
    expect(statuses).toEqual([
      ['1.parquet', 'LOADED', 1, 1, 0],
      ['2.parquet', 'LOADED', 1, 1, 0],
      ['3.parquet', 'LOAD_FAILED', 0, 0, 1],
    ]);
    expect(await rows()).toEqual([
      [1, 'x'],
      [2, null],
    ]);
  });

  test('a SELECT names columns of the files, so that none is refused for the names of the table', async () => {
    const { from, rows } = await folder({
      '1.parquet': await parquet('SELECT 1 AS o'),
      '2.parquet': await parquet('SELECT 2 AS p'),
    });
    await from((table, files) => `COPY INTO ${table} FROM (SELECT f.o, 'y' FROM @${files} AS f) ${PARQUET_FILE}`);
    expect(await rows()).toEqual([
      [1, 'y'],
      [null, 'y'],
    ]);
  });
});
