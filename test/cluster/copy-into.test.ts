import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { randomUUID } from 'node:crypto';
import { gzipSync } from 'node:zlib';
import { DuckDBInstance } from '@duckdb/node-api';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Cluster } from '#test/support/cluster.ts';
import { sharedCluster } from '#test/support/resources.ts';
import { putStageFile } from '#test/support/stage-files.ts';

/** `COPY INTO table FROM @stage`, on a cluster of two workers. */
let cluster: Cluster;
let dir: string;
let tables = 0;

const put = (path: string, body: Uint8Array | string): Promise<void> =>
  putStageFile(cluster, 'lake.copy_into.inbox', path, body);

async function parquet(sql: string): Promise<Uint8Array> {
  const path = join(dir, 'one.parquet');
  const connection = await (await DuckDBInstance.create(':memory:')).connect();
  await connection.run(`COPY (${sql}) TO '${path}' (FORMAT parquet)`);
  connection.closeSync();
  return readFileSync(path);
}

async function table(columns: string, more = ''): Promise<string> {
  tables += 1;
  const name = `lake.copy_into.t${tables}`;
  await cluster.sql(`CREATE TABLE ${name} (${columns})${more}`);
  return name;
}
const rows = (name: string, order = '1'): Promise<unknown> => cluster.sql(`SELECT * FROM ${name} ORDER BY ${order}`);

beforeAll(async () => {
  dir = mkdtempSync(join(tmpdir(), 'skein-copy-'));
  ({ cluster } = await sharedCluster());
  await cluster.sql('CREATE SCHEMA lake.copy_into');
  await cluster.sql('CREATE STAGE lake.copy_into.inbox');
});
afterAll(() => rmSync(dir, { recursive: true, force: true }));

describe('COPY INTO', () => {
  test('what was left out of one file counts for no later one, whichever instance of DuckDB reads it', async () => {
    const t = await table('id INT');
    const files = Array.from({ length: 8 }, (_, i) => i + 1);
    for (const i of files) await put(`left-out/${i}.csv`, `${10 ** i}\nx\n`);
    for (const i of files) {
      const copy = `COPY INTO ${t} FROM @lake.copy_into.inbox/left-out FILES = ('${i}.csv') ON_ERROR = CONTINUE`;
      const [loaded] = (await cluster.sql(copy)) as unknown[][];
      expect(loaded?.slice(0, 5)).toEqual([`left-out/${i}.csv`, 'PARTIALLY_LOADED', 2, 1, 1]);
    }
  });

  test('CSV by position, each file once', async () => {
    const t = await table('id INT, name STRING, day DATE');
    await put('a/1.csv', '1,x,2020-01-01\n2,"a, ""b""",\n');
    await put('a/2.csv.gz', gzipSync('3,z,2020-01-03\n'));
    const copy = `COPY INTO ${t} FROM @lake.copy_into.inbox/a`;
    expect(await cluster.sql(copy)).toEqual([
      ['a/1.csv', 'LOADED', 2, 2, 0, null, null],
      ['a/2.csv.gz', 'LOADED', 1, 1, 0, null, null],
    ]);
    expect(await rows(t)).toEqual([
      [1, 'x', '2020-01-01'],
      [2, 'a, "b"', null],
      [3, 'z', '2020-01-03'],
    ]);
    expect(await cluster.sql(copy)).toEqual([]);
    await put('a/3.csv', '4,w,\n');
    expect(await cluster.sql(`${copy} FILES = ('1.csv', '3.csv')`)).toEqual([
      ['a/1.csv', 'LOAD_SKIPPED', 0, 0, 0, 'the file was loaded before', null],
      ['a/3.csv', 'LOADED', 1, 1, 0, null, null],
    ]);
    expect(await cluster.sql(`${copy} FORCE = TRUE PATTERN = '.*3[.]csv'`)).toHaveLength(1);
    expect(await cluster.sql(`SELECT count(*) FROM ${t}`)).toEqual([[5]]);
  });

  test('JSON and Parquet by name', async () => {
    const t = await table('id INT, name STRING, tags ARRAY<INT>');
    await put('j/1.json', '{"ID": 1, "name": "x", "tags": [1,2]}\n\n{"name": "y", "ID": 2, "more": 1}\n');
    expect(await cluster.sql(`COPY INTO ${t} FROM @lake.copy_into.inbox/j FILE_FORMAT = (TYPE = JSON)`)).toEqual([
      ['j/1.json', 'LOADED', 2, 2, 0, null, null],
    ]);
    await put('p/1.parquet', await parquet("SELECT 3 AS Id, 'z' AS NAME, [7] AS tags, 5 AS more"));
    await put('p/2.parquet', await parquet('SELECT 4::BIGINT AS id'));
    expect(await cluster.sql(`COPY INTO ${t} FROM @lake.copy_into.inbox/p FILE_FORMAT = (TYPE = PARQUET)`)).toEqual([
      ['p/1.parquet', 'LOADED', 1, 1, 0, null, null],
      ['p/2.parquet', 'LOADED', 1, 1, 0, null, null],
    ]);
    expect(await rows(t)).toEqual([
      [1, 'x', [1, 2]],
      [2, 'y', null],
      [3, 'z', [7]],
      [4, null, null],
    ]);
  });

  test('errors', async () => {
    const t = await table('id INT NOT NULL, name STRING');
    await put('e/1.csv', 'id,name\n1,x\n"2","y\nz"\n\nbad,w\n4,q,extra\n5\n,n\n6,ok\n');
    await put('e/2.csv', 'id,name\n7,x\n');
    const copy = `COPY INTO ${t} FROM @lake.copy_into.inbox/e FILE_FORMAT = (SKIP_HEADER = 1)`;
    await expect(cluster.sql(copy)).rejects.toMatchObject({
      message: expect.stringContaining('line 6, column id') as string,
    });
    expect(await rows(t)).toEqual([]);
    expect(await cluster.sql(`${copy} ON_ERROR = SKIP_FILE`)).toEqual([
      ['e/1.csv', 'LOAD_FAILED', 7, 0, 4, 'column id: Could not convert string "bad" to \'INTEGER\'', 6],
      ['e/2.csv', 'LOADED', 1, 1, 0, null, null],
    ]);
    expect(await cluster.sql(`${copy} ON_ERROR = SKIP_FILE_5`)).toMatchObject([
      ['e/1.csv', 'PARTIALLY_LOADED', 7, 3, 4, expect.anything(), 6],
    ]);
    expect(await rows(t)).toEqual([
      [1, 'x'],
      [2, 'y\nz'],
      [6, 'ok'],
      [7, 'x'],
    ]);
    expect(await errorsOf(`${copy} VALIDATION_MODE = RETURN_ERRORS`)).toEqual([
      ['Could not convert string "bad" to \'INTEGER\'', 'e/1.csv', 6, 'id', 'INVALID_CAST'],
      ['Expected Number of Columns: 2 Found: 3', 'e/1.csv', 7, null, 'INVALID_INPUT_FILE'],
      ['Expected Number of Columns: 2 Found: 1', 'e/1.csv', 8, null, 'INVALID_INPUT_FILE'],
      ['it is NOT NULL, and the record has no value for it', 'e/1.csv', 9, 'id', 'NOT_NULL_VIOLATION'],
    ]);
    expect(await cluster.sql(`${copy} FILES = ('2.csv') VALIDATION_MODE = RETURN_5_ROWS`)).toEqual([[7, 'x']]);
  });

  test('JSON and Parquet with errors', async () => {
    const t = await table('id INT NOT NULL, name STRING');
    await put('je/1.json', '{"id": 1, "name": "x"}\n\n{"id": "bad"}\n{"id": 2,\n[1]\n{"name": "n"}\n{"id": 3}\n');
    const copy = `COPY INTO ${t} FROM @lake.copy_into.inbox/je FILE_FORMAT = (TYPE = JSON)`;
    await expect(cluster.sql(copy)).rejects.toMatchObject({
      message: expect.stringContaining('line 3, column id: ') as string,
    });
    expect(await errorsOf(`${copy} VALIDATION_MODE = RETURN_ERRORS`)).toEqual([
      ['Failed to cast value to numerical: "bad"', 'je/1.json', 3, 'id', 'INVALID_CAST'],
      ['it is no JSON object', 'je/1.json', 4, null, 'INVALID_INPUT_FILE'],
      ['it is no JSON object', 'je/1.json', 5, null, 'INVALID_INPUT_FILE'],
      ['it is NOT NULL, and the record has no value for it', 'je/1.json', 6, 'id', 'NOT_NULL_VIOLATION'],
    ]);
    expect(await cluster.sql(`${copy} ON_ERROR = CONTINUE`)).toEqual([
      ['je/1.json', 'PARTIALLY_LOADED', 6, 2, 4, 'column id: Failed to cast value to numerical: "bad"', 3],
    ]);
    expect(await rows(t)).toEqual([
      [1, 'x'],
      [3, null],
    ]);
  });

  test('Parquet: the row that is wrong, and a file that is none', async () => {
    const t = await table('id INT NOT NULL, name STRING');
    const values = "(VALUES ('1', 'a'), ('b', 'b'), (NULL, 'c'), ('4', 'd')) t(id, name)";
    await put('pe/1.parquet', await parquet(`SELECT * FROM ${values}`));
    await put('pe/2.parquet', 'this is no file of Parquet, though it is long enough');
    const copy = `COPY INTO ${t} FROM @lake.copy_into.inbox/pe FILE_FORMAT = (TYPE = PARQUET)`;
    await expect(cluster.sql(`${copy} FILES = ('1.parquet')`)).rejects.toThrow(
      "INVALID_CAST (22P02): the file pe/1.parquet of the stage, row 2, column id: Could not convert string 'b' to INT32",
    );
    await expect(cluster.sql(copy)).rejects.toThrow(
      /INVALID_INPUT_FILE \(58030\): the file pe\/2.parquet of the stage: /,
    );
    expect(await cluster.sql(`${copy} ON_ERROR = CONTINUE`)).toEqual([
      [
        'pe/1.parquet',
        'PARTIALLY_LOADED',
        4,
        2,
        2,
        expect.stringContaining("column id: Could not convert string 'b' to INT32"),
        2,
      ],
      ['pe/2.parquet', 'LOAD_FAILED', 0, 0, 1, expect.any(String), null],
    ]);
    expect(await rows(t)).toEqual([
      [1, 'a'],
      [4, 'd'],
    ]);
    // A file that failed is tried again, one that was loaded in part is not.
    expect(await cluster.sql(`${copy} ON_ERROR = CONTINUE`)).toMatchObject([
      ['pe/2.parquet', 'LOAD_FAILED', 0, 0, 1, expect.any(String), null],
    ]);
  });

  test('a SELECT over the columns of the files; the others get their defaults', async () => {
    const t = await table("id INT, name STRING DEFAULT 'none', day DATE", " WITH ('format-version' = '3')");
    await put('t/1.csv', '1;a;20200101\n2;b;x\n\n"3";c;20200103\n');
    const format = "FILE_FORMAT = (FIELD_DELIMITER = ';')";
    const from = `FROM (SELECT s.$1::INT * 10, strptime($3, '%Y%m%d')::DATE AS day -- a comment
      FROM @lake.copy_into.inbox/t s) ${format}`;
    await expect(cluster.sql(`COPY INTO ${t} (id, day) ${from}`)).rejects.toThrow(
      'the file t/1.csv of the stage, line 2, column day: Could not parse string "x" according to format specifier "%Y%m%d"',
    );
    expect(await cluster.sql(`COPY INTO ${t} (id, day) ${from} ON_ERROR = CONTINUE`)).toMatchObject([
      ['t/1.csv', 'PARTIALLY_LOADED', 3, 2, 1, expect.anything(), 2],
    ]);
    expect(await rows(t)).toEqual([
      [10, 'none', '2020-01-01'],
      [30, 'none', '2020-01-03'],
    ]);
    for (const [list, more] of [
      ['count(*), min($3)', ''],
      ['unnest([1, 2]), $3', ''],
      ['row_number() OVER (), $3', ''],
      ['$1, $3', 'WHERE $1 = 1'],
      ['$1, $3', ', lake.copy_into.t1'],
    ]) {
      const copy = `COPY INTO ${t} (id, day) FROM (SELECT ${list} FROM @lake.copy_into.inbox/t ${more}) ${format} FORCE = TRUE`;
      await expect(cluster.sql(copy), copy).rejects.toThrow(/NOT_SUPPORTED|SYNTAX_ERROR|TYPE_MISMATCH/);
    }
  });

  test('columns by the names in the headers, whose order differs', async () => {
    const t = await table('id INT, name STRING');
    await put('h/1.csv', 'name,id,more\nx,1,\n');
    await put('h/2.csv', '"ID"\n2\n');
    await put('h/3.csv', 'Id,other\nq,2\n');
    const copy = `COPY INTO ${t} FROM @lake.copy_into.inbox/h MATCH_BY_COLUMN_NAME = CASE_INSENSITIVE FILE_FORMAT = (PARSE_HEADER = TRUE)`;
    expect(await cluster.sql(`${copy} ON_ERROR = SKIP_FILE`)).toMatchObject([
      ['h/1.csv', 'LOADED', 1, 1, 0, null, null],
      ['h/2.csv', 'LOADED', 1, 1, 0, null, null],
      ['h/3.csv', 'LOAD_FAILED', 1, 0, 1, expect.stringContaining('Could not convert string "q"'), 2],
    ]);
    expect(await rows(t)).toEqual([
      [1, 'x'],
      [2, null],
    ]);
  });

  test('PURGE removes what was loaded whole', async () => {
    const t = await table('id INT');
    await put('purge/1.csv', '1\n');
    await put('purge/2.csv', '2\nx\n');
    await cluster.sql(`COPY INTO ${t} FROM @lake.copy_into.inbox/purge PURGE = TRUE ON_ERROR = CONTINUE`);
    expect(await cluster.sql('SELECT name FROM (LIST @lake.copy_into.inbox/purge)')).toEqual([['purge/2.csv']]);
    expect(await rows(t)).toEqual([[1], [2]]);
  });

  test('a file that was replaced is loaded again; a branch and another table have loads of their own', async () => {
    const t = await table('id INT');
    const copy = (into: string): Promise<unknown> => cluster.sql(`COPY INTO ${into} FROM @lake.copy_into.inbox/again`);
    await put('again/1.csv', '1\n');
    await copy(t);
    await put('again/1.csv', '2\n');
    expect(await copy(t)).toHaveLength(1);
    expect(await rows(t)).toEqual([[1], [2]]);
    await cluster.sql(`ALTER TABLE ${t} CREATE BRANCH work`);
    const branch = t.replace(/\.(\w+)$/, '."$1@work"');
    expect(await copy(branch)).toHaveLength(1);
    expect(await copy(branch)).toEqual([]);
    expect([await rows(t), await rows(branch)]).toEqual([
      [[1], [2]],
      [[1], [2], [2]],
    ]);
    await cluster.sql(`TRUNCATE TABLE ${t}`);
    expect(await copy(t)).toHaveLength(1);
    expect(await copy(branch)).toEqual([]);
  });

  test('statements at once load a file once', async () => {
    const t = await table('id INT');
    for (let i = 0; i < 20; i += 1) await put(`race/${i}.csv`, `${i}\n`);
    const answers = await Promise.all(
      Array.from({ length: 6 }, () => cluster.sql(`COPY INTO ${t} FROM @lake.copy_into.inbox/race`)),
    );
    expect(answers.flat()).toHaveLength(20);
    expect(await cluster.sql(`SELECT count(*), count(DISTINCT id) FROM ${t}`)).toEqual([[20, 20]]);
  });

  test('many small files and partitions', async () => {
    const t = await table('id INT, part INT', ' PARTITIONED BY (part)');
    for (let i = 0; i < 70; i += 1) await put(`many/${i}.csv`, `${i},${i % 3}\n`);
    const answer = await cluster.sql(`COPY INTO ${t} FROM @lake.copy_into.inbox/many`);
    expect(answer).toHaveLength(70);
    expect(answer.every(([, status, parsed]) => status === 'LOADED' && parsed === 1)).toBe(true);
    expect(await cluster.sql(`SELECT count(*), sum(id) FROM ${t}`)).toEqual([[70, String((69 * 70) / 2)]]);
    expect(await cluster.sql(`SELECT count(*) <= 9 FROM ${t.replace(/\.(\w+)$/, '."$1$files"')}`)).toEqual([[true]]);
  });

  test('its kind and class in the history, its plan, and no place in a transaction', async () => {
    const t = await table('id INT');
    await put('plan/1.csv', '1\n');
    const copy = `COPY INTO ${t} FROM @lake.copy_into.inbox/plan`;
    const plan = await cluster.sql(`EXPLAIN ${copy}`);
    expect(plan).toContainEqual(['Files: 1, 2 bytes']);
    expect(plan).toContainEqual([expect.stringMatching(/^Commit: append/)]);
    expect(await rows(t)).toEqual([]);
    expect(await cluster.sql(`EXPLAIN ANALYZE ${copy}`)).toContainEqual([expect.stringMatching(/^Commit: /)]);
    expect(await rows(t)).toEqual([[1]]);
    const { queryId } = await cluster.query(`${copy} FORCE = TRUE`);
    const session = { sessionId: randomUUID() };
    const get = async (path: string): Promise<string> =>
      (
        await fetch(`${cluster.queryUrl}${path}`, { headers: { authorization: `Bearer ${await cluster.token()}` } })
      ).text();
    const kind = `SELECT query_type FROM (SHOW QUERY HISTORY) WHERE query_id = '${queryId}'`;
    await expect.poll(() => cluster.sql(kind)).toEqual([['copy']]);
    expect(await get(`/api/query-history/${queryId}/profile`)).toMatch(/"workload":\{"class":"interactive"/);
    await cluster.sql('BEGIN', session);
    await expect(cluster.sql(copy, session)).rejects.toThrow('IN_TRANSACTION (25001)');
    await cluster.sql('ROLLBACK', session);
  });
});

async function errorsOf(sql: string): Promise<unknown> {
  return (await cluster.sql(sql)).map(([message, file, line, column, code]) => [message, file, line, column, code]);
}
