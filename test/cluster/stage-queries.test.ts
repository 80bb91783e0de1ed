import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { randomUUID } from 'node:crypto';
import { gzipSync } from 'node:zlib';
import { DuckDBInstance } from '@duckdb/node-api';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Cluster } from '#test/support/cluster.ts';
import { docsStatements } from '#test/support/docs-statements.ts';
import { sharedCluster } from '#test/support/resources.ts';
import { putStageFile } from '#test/support/stage-files.ts';

/** `SELECT ... FROM @stage`: files of a stage read like a table, on a cluster of two workers. */
let cluster: Cluster;
let dir: string;

const put = (path: string, body: Uint8Array | string): Promise<void> =>
  putStageFile(cluster, 'lake.stage_queries.inbox', path, body);

/** A Parquet file of a query of DuckDB's. */
async function parquet(sql: string): Promise<Uint8Array> {
  const path = join(dir, 'one.parquet');
  const connection = await (await DuckDBInstance.create(':memory:')).connect();
  await connection.run(`COPY (${sql}) TO '${path}' (FORMAT parquet)`);
  connection.closeSync();
  return readFileSync(path);
}

beforeAll(async () => {
  dir = mkdtempSync(join(tmpdir(), 'skein-stage-'));
  ({ cluster } = await sharedCluster());
  await cluster.sql('CREATE SCHEMA lake.stage_queries');
  await cluster.sql('CREATE STAGE lake.stage_queries.inbox');
});
afterAll(() => rmSync(dir, { recursive: true, force: true }));

describe('FROM @stage', () => {
  test('CSV: columns by their places, all text, quotes and NULL as the format says', async () => {
    await put('plain/a.csv', '1,x,2020-01-01\n2,"a, ""b""",\n3,"",\\N\n');
    await put('plain/b.csv', '4,y,2020-01-02\n');
    expect(
      await cluster.sql('SELECT $1::INT, $2, t.$3::DATE FROM @lake.stage_queries.inbox/plain AS t ORDER BY 1'),
    ).toEqual([
      [1, 'x', '2020-01-01'],
      [2, 'a, "b"', null],
      [3, '', null],
      [4, 'y', '2020-01-02'],
    ]);
    expect(await cluster.sql("SELECT * FROM '@lake.stage_queries.inbox/plain/b.csv'")).toEqual([
      ['4', 'y', '2020-01-02'],
    ]);
    expect(await cluster.sql('SELECT count(*) FROM @lake.stage_queries.inbox/plain')).toEqual([[4]]);
  });

  test('CSV: names from the header, other signs, and compressed', async () => {
    await put('named.csv.gz', gzipSync("id|Name\n7|'it''s'\n"));
    const format =
      "(FILE_FORMAT => (TYPE = CSV PARSE_HEADER = TRUE FIELD_DELIMITER = '|' FIELD_OPTIONALLY_ENCLOSED_BY = ''''))";
    expect(await cluster.sql(`SELECT id, name FROM @lake.stage_queries.inbox/named.csv.gz ${format}`)).toEqual([
      ['7', "it's"],
    ]);
  });

  test('JSON: a document a line, an array, and documents of many lines', async () => {
    await put('json/lines.json', '{"a": 1, "b": {"c": [1, 2]}}\n{"a": 2}\n');
    await put('json/array.json', '[{"a": 1}, {"a": 2}]');
    const of = (file: string, more = ''): string =>
      `FROM @lake.stage_queries.inbox/json/${file} (FILE_FORMAT => (TYPE = JSON ${more}))`;
    expect(await cluster.sql(`SELECT a, b.c[2] ${of('lines.json')} ORDER BY a`)).toEqual([
      [1, 2],
      [2, null],
    ]);
    expect(await cluster.sql(`SELECT sum(a) ${of('array.json', 'STRIP_OUTER_ARRAY = TRUE')}`)).toEqual([['3']]);
  });

  test('JSON: an object of many members is a struct, and one with a member without a name is JSON', async () => {
    const members = Object.fromEntries(Array.from({ length: 300 }, (_, i) => [`k${i}`, i === 3 ? 1.5 : i]));
    const many = JSON.stringify({ o: members }).replace('"k5":5', '"k5":9007199254740993');
    await put('json/many.json', `${many}\n`);
    await put('json/unnamed.json', '{"a": {"": 9007199254740993, "b": 2}, "c": 3}\n');
    const of = (file: string): string => `FROM @lake.stage_queries.inbox/json/${file} (FILE_FORMAT => (TYPE = JSON))`;
    expect(await cluster.sql(`SELECT o.k5::VARCHAR, o.k3, typeof(o.k299) ${of('many.json')}`)).toEqual([
      ['9007199254740993', 1.5, 'BIGINT'],
    ]);
    expect(await cluster.sql(`SELECT a::VARCHAR, c ${of('unnamed.json')}`)).toEqual([
      ['{"":9007199254740993,"b":2}', 3],
    ]);
    await put('json/signs.json', `${JSON.stringify({ 'a\u0001b': 1, '\u0001': 2, c: 3 })}\n`);
    expect(await cluster.sql(`SELECT * ${of('signs.json')}`)).toEqual([[1, 2, 3]]);
    await put('json/alike.json', '{"a": {"X": 1, "x": 9007199254740993}, "l": [{"y": 1}, {"Y": 2}], "c": {"X": 3}}\n');
    expect(await cluster.sql(`SELECT a::VARCHAR, l::VARCHAR, c.X ${of('alike.json')}`)).toEqual([
      ['{"X":1,"x":9007199254740993}', '[{"y":1},{"Y":2}]', 3],
    ]);
  });

  test('JSON: documents of many levels are refused, and end no worker', async () => {
    const levels = 20_000;
    const deep = `{"a": ${'{"b": '.repeat(levels)}1${'}'.repeat(levels + 1)}`;
    await put('deep/1.json', `{"a": 1}\n${deep}\n`);
    await put('deep/2.json', `[{"a": {"b": ${'['.repeat(levels)}${']'.repeat(levels)}}}]`);
    await cluster.sql('CREATE TABLE lake.stage_queries.shallow (a VARCHAR)');
    const json = '(TYPE = JSON)';
    const list = '(TYPE = JSON STRIP_OUTER_ARRAY = TRUE)';
    for (const statement of [
      `SELECT * FROM @lake.stage_queries.inbox/deep/1.json (FILE_FORMAT => ${json})`,
      `SELECT * FROM @lake.stage_queries.inbox/deep/2.json (FILE_FORMAT => ${list})`,
      `COPY INTO lake.stage_queries.shallow FROM @lake.stage_queries.inbox/deep/1.json FILE_FORMAT = ${json}`,
      `COPY INTO lake.stage_queries.shallow FROM @lake.stage_queries.inbox/deep/2.json FILE_FORMAT = ${list}`,
    ]) {
      const { body } = await cluster.query(statement);
      expect([statement, body.error, body.message]).toEqual([
        statement,
        'INVALID_INPUT_FILE',
        expect.stringContaining('more than 1000 levels'),
      ]);
    }
    expect(await cluster.sql('SELECT count(*) FROM lake.stage_queries.shallow')).toEqual([[0]]);
  });

  test('Parquet: columns by name over files that differ; joined, aggregated and written', async () => {
    await put('parquet/1.parquet', await parquet('SELECT i AS id, i * 2 AS v FROM range(1000) r(i)'));
    await put('parquet/2.parquet', await parquet("SELECT 'x' AS other, i + 1000 AS ID FROM range(1000) r(i)"));
    const of = 'FROM @lake.stage_queries.inbox/parquet (FILE_FORMAT => (TYPE = PARQUET))';
    expect(await cluster.sql(`SELECT count(*), sum(id), count(v), max(v) ${of}`)).toEqual([
      [2000, '1999000', 1000, 1998],
    ]);
    await cluster.sql(
      `CREATE TABLE lake.stage_queries.loaded AS SELECT id, v ${of} AS s JOIN range(10) r(i) ON s.id = r.i`,
    );
    expect(await cluster.sql('SELECT count(*), sum(v) FROM lake.stage_queries.loaded')).toEqual([[10, '90']]);
    await cluster.sql(`INSERT INTO lake.stage_queries.loaded SELECT id, v ${of} WHERE id >= 1995`);
    expect(await cluster.sql('SELECT count(*), count(v) FROM lake.stage_queries.loaded')).toEqual([[15, 10]]);
  });

  test('in fragments it has the same rows', async () => {
    const sql = `SELECT v % 7 AS k, count(*), sum(id) FROM @lake.stage_queries.inbox/parquet (FILE_FORMAT => (TYPE = PARQUET)) GROUP BY k ORDER BY k`;
    const whole = await cluster.sql(sql);
    await cluster.sql("SET skein.distribution = 'force'");
    expect(await cluster.sql(sql)).toEqual(whole);
  });

  test('PATTERN chooses among the files by their paths', async () => {
    for (const day of ['01', '02', '11']) await put(`days/2024/${day}.csv`, `${day}\n`);
    await put('days/notes.txt', 'x\n');
    const of = (pattern: string): string => `FROM @lake.stage_queries.inbox/days (PATTERN => '${pattern}')`;
    expect(await cluster.sql(`SELECT $1 ${of('.*/[01]1[.]csv')} ORDER BY 1`)).toEqual([['01'], ['11']]);
    expect((await cluster.query(`SELECT * ${of('2024')}`)).body.error).toBe('STAGE_FILE_NOT_FOUND');
    expect((await cluster.query(`SELECT * ${of('a(')}`)).body).toMatchObject({
      error: 'INVALID_ARGUMENT',
      message: 'PATTERN is no regular expression: missing ): a( (line 1, column 47)',
    });
  });

  test.each([
    ['SELECT * FROM @lake.stage_queries.inbox/none', 'STAGE_FILE_NOT_FOUND'],
    ['SELECT * FROM @lake.stage_queries.nostage', 'STAGE_NOT_FOUND'],
    ['SELECT * FROM @lake.stage_queries.inbox/../x', 'INVALID_REQUEST'],
    ['SELECT $9 FROM @lake.stage_queries.inbox/plain', 'COLUMN_NOT_FOUND'],
    ['SELECT * FROM @lake.stage_queries.inbox/plain (FILE_FORMAT => (TYPE = XLS))', 'SYNTAX_ERROR'],
    ['SELECT * FROM @lake.stage_queries.inbox/plain (FILE_FORMAT => (TYPE = PARQUET))', 'INVALID_INPUT_FILE'],
    ["SELECT * FROM '@lake.stage_queries.inbox/.uploads'", 'INVALID_REQUEST'],
  ])('%s is refused', async (sql, code) => {
    const { body } = await cluster.query(sql);
    expect(body.error).toBe(code);
  });

  test.each([
    ['rows.csv', '1,2\n3\n', '', 'the file rows.csv of the stage, record 2: Expected Number of Columns: 2 Found: 1'],
    [
      'text.json',
      '{"a": 1}\n{"a":}\n',
      '(FILE_FORMAT => (TYPE = JSON))',
      'the file text.json of the stage, near line 3',
    ],
    ['a.parquet', 'PAR1', '(FILE_FORMAT => (TYPE = PARQUET))', 'a.parquet is not a valid Parquet file'],
  ])('the wrong file %s is named, and the place', async (name, content, format, message) => {
    await put(`bad/${name}`, content);
    const { body } = await cluster.query(`SELECT * FROM @lake.stage_queries.inbox/bad/${name} ${format}`);
    expect(body).toMatchObject({ error: 'INVALID_INPUT_FILE', sql_state: '58030' });
    expect(body.message).toContain(message);
    expect(body.message).not.toContain('/');
  });
});

test('the statements of docs/sql.md run', async () => {
  await cluster.sql('CREATE SCHEMA lake.docs_stages');
  const session = { sessionId: randomUUID() };
  await cluster.sql('USE lake.docs_stages', session);
  await cluster.sql('CREATE STAGE inbox', session);
  const file = (path: string, body: Uint8Array | string): Promise<void> =>
    putStageFile(cluster, 'lake.docs_stages.inbox', path, body);
  await file('people/1.csv', '1,Ann\n2,Bob\n');
  await file('people/2.csv', '3,Eve\n');
  await file('named.csv', 'id|name\n1|Ann\n');
  await file('events/1.json', '{"kind": "click", "at": "2024-01-01"}\n');
  await file('sales 2024/1.parquet', await parquet('SELECT 1 AS id'));
  await cluster.sql(
    "CREATE TABLE orders AS SELECT i AS id, DATE '2024-01-01' + i::INT AS day FROM range(9) r(i)",
    session,
  );
  const statements = await docsStatements('Files of stages');
  expect(statements.length).toBeGreaterThan(3);
  for (const sql of statements) expect(await cluster.sql(sql, session)).not.toEqual([]);
});
