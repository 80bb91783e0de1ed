import { randomUUID } from 'node:crypto';
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { DuckDBInstance } from '@duckdb/node-api';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { run, type StartedCluster } from '#test/support/cluster.ts';
import { pythonBin } from '#test/support/python.ts';
import { startOwnCluster } from '#test/support/resources.ts';

/** `COPY INTO @stage FROM query`: rows go into files of a stage, on a cluster of two workers. */
let cluster: StartedCluster;
let dir: string;
const BOX = '@lake.unload.box';

beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), 'skein-unload-'));
  cluster = await startOwnCluster({ workers: 2 });
  await cluster.sql('CREATE SCHEMA lake.unload');
  await cluster.sql('CREATE STAGE lake.unload.box');
  await cluster.sql("CREATE TABLE lake.unload.t AS SELECT i AS id, 'n' || i AS name FROM range(1000) r(i)");
});
afterAll(async () => {
  await cluster?.stop();
  await rm(dir, { recursive: true, force: true });
});

const names = async (path: string): Promise<readonly unknown[]> =>
  (await cluster.sql(`SELECT name FROM (LIST ${BOX}/${path}) ORDER BY name`)).map(([name]) => name);

/** Files that lie in the folders of uploads. */
async function left(): Promise<readonly string[]> {
  const found = await readdir(join(cluster.dataDir, 'warehouse/.stages'), { recursive: true, withFileTypes: true });
  return found.filter((one) => one.isFile() && one.parentPath.includes('.uploads')).map(({ name }) => name);
}

/** Fetches a file of the stage, as a user does. @returns its path here */
async function fetched(path: string): Promise<string> {
  await cluster.cliOk(['get', `${BOX}/${path}`, dir]);
  return join(dir, path.slice(path.lastIndexOf('/') + 1));
}

describe('COPY INTO @stage', () => {
  test('a table goes into files with the names that Snowflake gives', async () => {
    const { body } = await cluster.query(`COPY INTO ${BOX}/table/ FROM lake.unload.t`);
    expect(body).toMatchObject({
      columns: ['rows_unloaded', 'input_bytes', 'output_bytes'],
      types: ['BIGINT', 'BIGINT', 'BIGINT'],
    });
    expect(await names('table')).toEqual(['table/data_0_0_0.csv.gz']);
    const packed = await readFile(await fetched('table/data_0_0_0.csv.gz'));
    const text = gunzipSync(packed).toString();
    expect(body.rows).toEqual([[1000, text.length, packed.length]]);
    expect(text.split('\n').slice(0, 2)).toEqual(['0,"n0"', '1,"n1"']);
    expect(await left()).toEqual([]);
  });

  test('each worker writes its share, and the files have all rows once', async () => {
    const session = { sessionId: randomUUID() };
    await cluster.sql("SET skein.distribution = 'force'", session);
    await cluster.sql('CREATE TABLE lake.unload.wide AS SELECT i AS id, md5(i::VARCHAR) AS m FROM range(400000) r(i)');
    const query = 'SELECT id, m FROM lake.unload.wide WHERE id % 7 <> 3';
    const copy = `COPY INTO ${BOX}/wide/ FROM (${query}) FILE_FORMAT = (TYPE = PARQUET) MAX_FILE_SIZE = 1048576`;
    const [[rows, input, output] = []] = await cluster.sql(copy, session);
    const files = (await names('wide')) as readonly string[];
    expect(new Set(files.map((name) => name.split('_')[1])).size).toBeGreaterThan(1);
    expect(files.every((name) => /^wide\/data_\d+_0_\d+\.snappy\.parquet$/.test(name))).toBe(true);
    const of = `SELECT * FROM ${BOX}/wide (FILE_FORMAT => (TYPE = PARQUET))`;
    expect(await cluster.sql(`SELECT count(*) FROM (${of})`)).toEqual([[rows]]);
    expect(await cluster.sql(`SELECT count(*) FROM ((${query}) EXCEPT ALL (${of}))`)).toEqual([[0]]);
    expect(Number(input)).toBeGreaterThan(0);
    expect(await cluster.sql(`SELECT sum(size::BIGINT)::BIGINT FROM (LIST ${BOX}/wide)`)).toEqual([[output]]);
  });

  test('SINGLE: one file, whose name is the path, also of a distributed query', async () => {
    const session = { sessionId: randomUUID() };
    await cluster.sql("SET skein.distribution = 'force'", session);
    const copy = `COPY INTO ${BOX}/one/all.csv FROM lake.unload.wide SINGLE = TRUE HEADER = TRUE`;
    const [[rows, input, output] = []] = await cluster.sql(copy, session);
    expect([rows, input]).toEqual([400000, output]);
    expect(await names('one')).toEqual(['one/all.csv']);
    const of = `${BOX}/one/all.csv (FILE_FORMAT => (PARSE_HEADER = TRUE))`;
    expect(await cluster.sql(`SELECT count(DISTINCT id::INT), max(length(m)) FROM ${of}`)).toEqual([[400000, 32]]);
  });

  test('ORDER BY holds from file to file', async () => {
    const query = 'SELECT id FROM lake.unload.wide ORDER BY md5(m), id';
    await cluster.sql(
      `COPY INTO ${BOX}/ordered/ FROM (${query}) FILE_FORMAT = (COMPRESSION = NONE) MAX_FILE_SIZE = 1048576`,
    );
    const files = (await names('ordered')) as readonly string[];
    expect(files).toEqual(files.map((_, i) => `ordered/data_0_0_${i}.csv`));
    expect(files.length).toBeGreaterThan(1);
    const texts: string[] = [];
    for (const file of files) texts.push(await readFile(await fetched(file), 'utf8'));
    const expected = await cluster.sql(query);
    // To print how hundreds of thousands of rows differ takes minutes.
    expect(texts.join('') === expected.map(([id]) => `${id as number}\n`).join('')).toBe(true);
  });

  test('ORDER BY holds in the files of a table, too', async () => {
    await cluster.sql('CREATE TABLE lake.unload.sorted AS SELECT id, md5(m) AS k FROM lake.unload.wide ORDER BY k, id');
    const before = 'SELECT k, lag(k) OVER (PARTITION BY _file ORDER BY _pos) AS before FROM lake.unload.sorted';
    expect(await cluster.sql(`SELECT count(*) FROM (${before}) WHERE k < before`)).toEqual([[0]]);
    expect(await cluster.sql(`SELECT count(before) > 300000 FROM (${before})`)).toEqual([[true]]);
  });

  test('a query without rows makes no file', async () => {
    expect(
      await cluster.sql(`COPY INTO ${BOX}/none/ FROM (SELECT 1 WHERE false) FILE_FORMAT = (TYPE = PARQUET)`),
    ).toEqual([[0, 0, 0]]);
    expect(await names('none')).toEqual([]);
    expect(await left()).toEqual([]);
  });

  test('files that are there are refused, and replaced with OVERWRITE', async () => {
    const copy = `COPY INTO ${BOX}/again/part FROM lake.unload.t FILE_FORMAT = (TYPE = JSON COMPRESSION = NONE)`;
    await cluster.sql(copy);
    expect(await names('again')).toEqual(['again/part_0_0_0.json']);
    const { body } = await cluster.query(copy);
    expect(body).toMatchObject({ error: 'ALREADY_EXISTS', sql_state: '42710' });
    expect(body.message).toContain(
      'again/part_0_0_0.json already: OVERWRITE = TRUE replaces files (line 1, column 11)',
    );
    const [[before] = []] = await cluster.sql(`SELECT etag FROM (LIST ${BOX}/again)`);
    await cluster.sql(`${copy} OVERWRITE = TRUE`);
    expect(await cluster.sql(`SELECT count(*) FROM (LIST ${BOX}/again) WHERE etag <> '${before as string}'`)).toEqual([
      [1],
    ]);
    // A file that another unload, of another format, has left is not in the way.
    await cluster.sql(`COPY INTO ${BOX}/again/part FROM lake.unload.t`);
  });

  test('two unloads to one place at once: one of them is refused, and no file is mixed', async () => {
    const copy = (from: number): string =>
      `COPY INTO ${BOX}/race/ FROM (SELECT i FROM range(${from}, ${from + 1000}) r(i)) FILE_FORMAT = (COMPRESSION = NONE)`;
    const answers = await Promise.all([0, 1000, 2000, 3000].map((from) => cluster.query(copy(from))));
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
    expect(new Set(answers.flatMap(({ body }) => body.error ?? []))).toEqual(new Set(['ALREADY_EXISTS']));
    expect(await cluster.sql(`SELECT count(*), max($1::INT) - min($1::INT) FROM ${BOX}/race`)).toEqual([[1000, 999]]);
    await expect.poll(left).toEqual([]);
  });

  test('takes the right to put, and the right to read what the query reads', async () => {
    const copy = `COPY INTO ${BOX}/rights/ FROM lake.unload.t`;
    const reader = await cluster.token({ scope: ['table:read', 'catalog:read', 'namespace:read'] });
    expect((await cluster.query(copy, { token: reader })).body.error).toBe('FORBIDDEN');
    const writer = await cluster.token({ scope: ['table:write', 'catalog:read', 'namespace:read'] });
    expect((await cluster.query(copy, { token: writer })).body.error).toBe('FORBIDDEN');
    expect(await names('rights')).toEqual([]);
    const both = await cluster.token({ scope: ['table:read', 'table:write', 'catalog:read', 'namespace:read'] });
    expect((await cluster.query(copy, { token: both })).status).toBe(200);
  });

  test('is copy in the history, of the class of its plan, and can be prepared', async () => {
    const session = { sessionId: randomUUID() };
    await cluster.sql(`PREPARE unload AS COPY INTO ${BOX}/prepared/ FROM (SELECT $1::INT AS id)`, session);
    const { queryId, body } = await cluster.query('EXECUTE unload(7)', session);
    expect(body.rows?.[0]?.[0]).toBe(1);
    expect(await cluster.sql(`SELECT * FROM ${BOX}/prepared`)).toEqual([['7']]);
    const shown = `SELECT query_type, resource_group FROM (SHOW QUERY HISTORY) WHERE query_id = '${queryId}'`;
    await expect.poll(async () => (await cluster.sql(shown))[0]?.[0]).toBe('copy');
    const explained = await cluster.sql(`EXPLAIN ANALYZE COPY INTO ${BOX}/explained/ FROM lake.unload.t`);
    expect(JSON.stringify(explained)).toContain('Workload class: interactive (no joins');
  });

  test('a statement that is cancelled leaves nothing', async () => {
    const queryId = randomUUID();
    const endless = 'SELECT md5(i::VARCHAR) AS m FROM range(1000000000) r(i)';
    const answer = cluster.query(`COPY INTO ${BOX}/cancelled/ FROM (${endless})`, { queryId });
    await expect.poll(left, { timeout: patience(20_000) }).not.toEqual([]);
    await cluster.sql(`KILL QUERY '${queryId}'`);
    expect((await answer).body.error).toBe('QUERY_CANCELLED');
    expect(await names('cancelled')).toEqual([]);
    await expect.poll(left, { timeout: patience(20_000) }).toEqual([]);
  });

  test.each([
    [`${BOX}/x FROM lake.unload.absent`, 'TABLE_NOT_FOUND', 'column 35'],
    [`${BOX}/x FROM (SELECT nothing FROM lake.unload.t)`, 'COLUMN_NOT_FOUND', 'column 43'],
    ['@lake.unload.nobox/x FROM lake.unload.t', 'STAGE_NOT_FOUND', 'column 11'],
    [`${BOX}/../x FROM lake.unload.t`, 'INVALID_REQUEST', 'has the name ..'],
    [`${BOX}/table FROM lake.unload.t SINGLE = TRUE`, 'INVALID_REQUEST', 'table is in the way of the files'],
    [`${BOX}/table/data_0_0_0.csv.gz/ FROM lake.unload.t`, 'INVALID_REQUEST', 'is in the way of the files'],
    [`${BOX}/${'x'.repeat(190)} FROM lake.unload.t`, 'INVALID_REQUEST', 'more than 200 bytes'],
    [
      `${BOX}/x FROM (SELECT 1::UHUGEINT AS h) FILE_FORMAT = (TYPE = PARQUET)`,
      'NOT_SUPPORTED',
      'does not hold the type UHUGEINT of the column h',
    ],
    [
      `${BOX}/x FROM (SELECT [{u: union_value(n := 1)}] AS l) FILE_FORMAT = (TYPE = JSON)`,
      'NOT_SUPPORTED',
      'the type UNION of the column l',
    ],
    [`${BOX}/x FROM (SELECT 1 AS a, 2 AS A) FILE_FORMAT = (TYPE = PARQUET)`, 'SYNTAX_ERROR', 'would be called A'],
    [
      `${BOX}/x FROM (SELECT 'a,b' AS c) FILE_FORMAT = (FIELD_OPTIONALLY_ENCLOSED_BY = NONE)`,
      'NOT_SUPPORTED',
      'a value of the column c has the delimiter',
    ],
    [
      `${BOX}/x FROM (SELECT '' AS c) FILE_FORMAT = (FIELD_OPTIONALLY_ENCLOSED_BY = NONE)`,
      'NOT_SUPPORTED',
      'the column c would be read as NULL',
    ],
    [
      `${BOX}/x FROM (SELECT 'nan'::FLOAT AS c) FILE_FORMAT = (TYPE = JSON)`,
      'NOT_SUPPORTED',
      'the column c is infinite or no number',
    ],
    [
      `${BOX}/x FROM (SELECT {'a': ['inf'::DOUBLE]} AS c) FILE_FORMAT = (TYPE = JSON)`,
      'NOT_SUPPORTED',
      'the column c is infinite or no number',
    ],
    [
      `${BOX}/x FROM (SELECT [DATE '2024-02-29'] AS c) FILE_FORMAT = (TYPE = JSON DATE_FORMAT = 'DD.MM.YYYY')`,
      'NOT_SUPPORTED',
      'the type DATE beside a format for it, within another type of the column c',
    ],
    [`${BOX}/x FROM (SELECT error('mine') AS c)`, 'INVALID_ARGUMENT', 'mine'],
  ])('COPY INTO %s is refused', async (text, code, message) => {
    const { body } = await cluster.query(`COPY INTO ${text}`);
    expect(body).toMatchObject({ error: code });
    expect(body.message).toContain(message);
    expect(await names('x')).toEqual([]);
    await expect.poll(left).toEqual([]);
  });
});

/** Values of each type, as SQL. */
const VALUES: Readonly<Record<string, readonly string[]>> = {
  BOOLEAN: ['true', 'false'],
  TINYINT: ['-128'],
  UTINYINT: ['255'],
  SMALLINT: ['-32768'],
  INTEGER: ['0', '-2147483648'],
  BIGINT: ['9007199254740993'],
  UBIGINT: ['18446744073709551615'],
  HUGEINT: ['99999999999999999999999999999999999999'],
  FLOAT: ['1.1', '-0.5'],
  DOUBLE: ['1e300', '0.1'],
  'DECIMAL(15,2)': ['1234567890123.45', '-0.01'],
  'DECIMAL(38,18)': ['12345678901234567890.123456789012345678'],
  VARCHAR: [
    "''",
    "'none'",
    String.raw`'\N'`,
    `' a, "b"|'''`,
    "'l' || chr(10) || 'm' || chr(13)",
    "'ä€🦆'",
    "'null'",
    String.raw`'\'`,
  ],
  BLOB: [String.raw`'\xAB\x00x'`, "''"],
  DATE: ["'2024-02-29'", "'0001-01-01'"],
  TIME: ["'12:34:56.789012'"],
  'TIME WITH TIME ZONE': ["'12:34:56+02'"],
  TIMESTAMP: ["'2024-02-29 12:34:56.789012'", "'1969-12-31 23:59:59.999999'"],
  TIMESTAMP_S: ["'2024-02-29 12:34:56'"],
  TIMESTAMP_MS: ["'2024-02-29 12:34:56.789'"],
  TIMESTAMP_NS: ["'2024-02-29 12:34:56.789012345'"],
  'TIMESTAMP WITH TIME ZONE': ["'2024-02-29 12:34:56.789012+00'"],
  INTERVAL: ["'1 year 2 days 3.000004 seconds'"],
  UUID: ["'00112233-4455-6677-8899-aabbccddeeff'"],
  "ENUM('x', 'y')": ["'y'"],
  BIT: ["'10101'"],
  JSON: [`'{"a":[1,null]}'`],
  'INTEGER[]': ['[1, NULL, 3]', '[]'],
  'VARCHAR[]': [`['a,b', 'c"d', NULL, '']`],
  'STRUCT(a INTEGER, b VARCHAR, c DATE)': [`{a: 1, b: 'x, y', c: DATE '2024-01-01'}`],
  'MAP(VARCHAR, INTEGER)': ["MAP {'k': 1, 'l,': NULL}"],
};
const NOT_IN_PARQUET: ReadonlySet<string> = new Set(['TIME WITH TIME ZONE', 'INTERVAL', 'BIT']);

type Column = { readonly name: string; readonly type: string; readonly values: readonly string[] };

/** The types as columns of one query; rows beyond a type's values are NULL, and one row is NULL altogether. */
function typedQuery(leftOut: ReadonlySet<string>): { readonly columns: readonly Column[]; readonly query: string } {
  const columns = Object.entries(VALUES)
    .filter(([type]) => !leftOut.has(type))
    .map(([type, values], i) => ({ name: `v${i}`, type, values }));
  const rows = Math.max(...columns.map(({ values }) => values.length)) + 1;
  const queries = Array.from({ length: rows }, (_, row) => {
    const list = columns.map(({ name, type, values }) => `(${values[row] ?? 'NULL'})::${type} AS ${name}`);
    return `SELECT ${row} AS n, ${list.join(', ')}`;
  });
  return { columns, query: queries.join(' UNION ALL ') };
}

const ODD = String.raw`FIELD_DELIMITER = '|' FIELD_OPTIONALLY_ENCLOSED_BY = '''' ESCAPE = '\' NULL_IF = ('none')`;

describe('what was unloaded is read back as the same rows', () => {
  test.each([
    ['csv', 'TYPE = CSV', 'HEADER = TRUE', 'TYPE = CSV PARSE_HEADER = TRUE'],
    ['csv-odd', `${ODD} COMPRESSION = ZSTD`, 'HEADER = TRUE', `${ODD} PARSE_HEADER = TRUE`],
    ['json', 'TYPE = JSON', '', 'TYPE = JSON'],
    ['json-zstd', 'TYPE = JSON COMPRESSION = ZSTD', '', 'TYPE = JSON'],
    ['parquet', 'TYPE = PARQUET', '', 'TYPE = PARQUET'],
    ['parquet-zstd', 'TYPE = PARQUET COMPRESSION = ZSTD', 'HEADER = TRUE', 'TYPE = PARQUET'],
  ])('%s', async (name, format, options, reading) => {
    const { columns, query } = typedQuery(name.startsWith('parquet') ? NOT_IN_PARQUET : new Set());
    await cluster.sql(`COPY INTO ${BOX}/${name}/ FROM (${query}) FILE_FORMAT = (${format}) ${options}`);
    const list = columns.map(({ name: column, type }) => `${column}::${type} AS ${column}`);
    const read = `SELECT n::INT AS n, ${list.join(', ')} FROM ${BOX}/${name} (FILE_FORMAT => (${reading}))`;
    const texts = ['n', ...columns.map(({ name: column }) => `${column}::VARCHAR`)].join(', ');
    const expected = await cluster.sql(`SELECT ${texts} FROM (${query}) ORDER BY n`);
    expect(await cluster.sql(`SELECT ${texts} FROM (${read}) ORDER BY n`)).toEqual(expected);
  });
});

const PLAIN = `SELECT 1::INT AS id, 'a, "b"' || chr(10) || 'ä' AS txt, 1.25::DECIMAL(10,2) AS dec, DATE '2024-02-29' AS d,
  TIMESTAMP '2024-02-29 12:34:56.789012' AS ts, true AS b, 0.5::DOUBLE AS dbl
  UNION ALL SELECT 2, '', -0.75, NULL, NULL, false, NULL UNION ALL SELECT 3, NULL, NULL, NULL, NULL, NULL, NULL`;
const PLAIN_ROWS = [
  ['1', 'a, "b"\nä', '1.25', '2024-02-29', '2024-02-29 12:34:56.789012', 'true', '0.5'],
  ['2', '', '-0.75', null, null, 'false', null],
  ['3', null, null, null, null, null, null],
];

/** The rows of a file, each value as text, by PyArrow. */
const PYARROW = `
import gzip, json, sys
import pyarrow as pa, pyarrow.csv as csv, pyarrow.json as js, pyarrow.parquet as pq
path = sys.argv[1]
if path.endswith('.parquet'):
    table = pq.read_table(path)
elif path.endswith('.json.gz'):
    schema = pa.schema([('d', pa.string())])
    table = js.read_json(gzip.open(path), parse_options=js.ParseOptions(explicit_schema=schema))
else:
    options = csv.ConvertOptions(null_values=['\\\\N'], strings_can_be_null=True, quoted_strings_can_be_null=False)
    table = csv.read_csv(path, parse_options=csv.ParseOptions(newlines_in_values=True), convert_options=options)
text = lambda value: None if value is None else str(value).lower() if isinstance(value, bool) else str(value)
names = ['id', 'txt', 'dec', 'd', 'ts', 'b', 'dbl']
print(json.dumps([[text(row[name]) for name in names] for row in table.to_pylist()]))
`;
import { patience } from '#test/support/run/slowness.ts';

describe('files are read by others', () => {
  test.each([
    [
      'TYPE = CSV',
      'data_0_0_0.csv.gz',
      (path: string) => `read_csv('${path}', nullstr = '\\N', allow_quoted_nulls = false)`,
    ],
    ['TYPE = JSON', 'data_0_0_0.json.gz', (path: string) => `read_json('${path}')`],
    ['TYPE = PARQUET', 'data_0_0_0.snappy.parquet', (path: string) => `read_parquet('${path}')`],
  ])('%s: plain DuckDB and PyArrow', async (format, name, source) => {
    const header = format === 'TYPE = CSV' ? 'HEADER = TRUE' : '';
    await cluster.sql(`COPY INTO ${BOX}/plain/ FROM (${PLAIN}) FILE_FORMAT = (${format}) ${header}`);
    const path = await fetched(`plain/${name}`);
    const connection = await (await DuckDBInstance.create(':memory:')).connect();
    const read = await connection.runAndReadAll(`SELECT COLUMNS(*)::VARCHAR FROM ${source(path)} ORDER BY id`);
    connection.closeSync();
    expect(read.getRowsJson()).toEqual(PLAIN_ROWS);
    const script = join(dir, 'read.py');
    await writeFile(script, PYARROW);
    const { code, stdout, stderr } = await run(join(await pythonBin(), 'python'), [script, path]);
    expect(code, stderr).toBe(0);
    expect(JSON.parse(stdout)).toEqual(PLAIN_ROWS);
  });
});
