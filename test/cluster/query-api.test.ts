import { randomUUID } from 'node:crypto';
import { rm } from 'node:fs/promises';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { DuckDBInstance } from '@duckdb/node-api';
import { beforeAll, describe, expect, test } from 'vitest';
import { printJson, type Json } from '#shared/json.ts';
import { must } from '#shared/must.ts';
import { SCOPES } from '#shared/authorization/token-claims.ts';
import { ApiDocument } from '#test/support/api-document.ts';
import type { Cluster } from '#test/support/cluster.ts';
import { TYPES } from '#test/support/duckdb-types.ts';
import { sharedCluster } from '#test/support/resources.ts';
import { machineSlowness } from '#test/support/run/machine-speed.ts';

/** The query HTTP API as a client sees it (service specification, Query HTTP API, Query result, Errors). */
let cluster: Cluster;
/** The server's OpenAPI document; every answer to `call` is checked against it. */
let document: ApiDocument;

beforeAll(async () => {
  ({ cluster } = await sharedCluster());
  document = new ApiDocument(await (await fetch(`${cluster.queryUrl}/openapi.json`)).json());
});

type Raw = { readonly status: number; readonly headers: Headers; readonly body: Readonly<Record<string, Json>> };

async function call(
  method: string,
  path: string,
  options: { token?: string | null; body?: string; headers?: Record<string, string> } = {},
): Promise<Raw> {
  const token = options.token === undefined ? await cluster.token() : options.token;
  const response = await fetch(`${cluster.queryUrl}${path}`, {
    method,
    headers: {
      'content-type': 'application/json',
      ...(token === null ? {} : { authorization: `Bearer ${token}` }),
      ...options.headers,
    },
    ...(options.body === undefined ? {} : { body: options.body }),
  });
  const text = await response.text();
  const { status } = response;
  document.check({ method, path, status, headers: response.headers, text });
  return {
    status,
    headers: response.headers,
    body: text === '' ? {} : (JSON.parse(text) as Raw['body']),
  };
}

const post = (sql: string, options: Parameters<typeof call>[2] = {}): Promise<Raw> =>
  call('POST', '/api/query', { body: JSON.stringify({ sql }), ...options });
const code = ({ status, body }: Raw): string => {
  const { error, sql_state } = body as { error?: string; sql_state?: string };
  return `${status} ${error} ${sql_state}`;
};

describe('did you mean', () => {
  test.each([
    ['SELECT * FROM lake.tpch.ordrs', 'did you mean lake.tpch.orders? (line 1, column 15)'],
    ['SELECT * FROM lake.tpchh.orders', 'did you mean lake.tpch? (line 1, column 15)'],
    ['FROM\nlak.tpch.orders', 'did you mean lake? (line 2, column 1)'],
    ['DESCRIBE lake.tpch.lineitems', 'did you mean lake.tpch.lineitem? (line 1, column 10)'],
    ['SHOW lake.tpch.supplyer', 'did you mean lake.tpch.supplier? (line 1, column 6)'],
    ['SHOW timezon', 'no setting or table is called timezon; did you mean timezone? (line 1, column 6)'],
    ['SHOW TABLES FROM lake.tcph', 'schema lake.tcph does not exist; did you mean lake.tpch?'],
    ['USE CATALOG lke', 'catalog lke does not exist; did you mean lake?'],
    ['SET skein.partition = 3', 'unknown setting skein.partition; did you mean skein.partitions?'],
    ['SELECT o_orderkee FROM lake.tpch.orders', 'Candidate bindings: "o_orderkey"'],
    ['SELECT flor(1.5)', 'Did you mean "floor"?'],
    ['FROM rang(3)', 'did you mean range? (line 1, column 6)'],
    ['SUMMARIZE lake.tpch.natin', 'did you mean lake.tpch.nation? (line 1, column 11)'],
  ])('%s', async (sql, message) => {
    expect((await post(sql)).body['message']).toContain(message);
  });

  test('functions that are not served are not named', async () => {
    for (const sql of ['SELECT read_tex(1)', 'FROM read_tex(1)', 'SELECT duckdb_setting()', 'SELECT sleep_m(1)']) {
      expect((await post(sql)).body['message'], sql).not.toMatch(/did you mean "?(?:read_|duckdb_|sleep)/i);
    }
  });

  test('names come only from the lists that the token may have', async () => {
    const token = await cluster.token({ scope: ['table:read'] });
    for (const [sql, message] of [
      ['FROM lak.tpch.orders', 'catalog lak does not exist (line 1, column 6)'],
      ['FROM lake.tpchh.orders', 'schema lake.tpchh does not exist (line 1, column 6)'],
      [
        'FROM lake.tpch.ordrs',
        'table lake.tpch.ordrs does not exist; did you mean lake.tpch.orders? (line 1, column 6)',
      ],
    ] as const) {
      expect((await post(sql, { token })).body['message']).toBe(message);
    }
  });
});

describe('parameters', () => {
  const ask = (sql: string, parameters: Json): Promise<Raw> =>
    call('POST', '/api/query', { body: printJson({ sql, parameters }) });
  const typed = (type: string, value: Json): Json => ({ type, value });

  test.each([
    ['? and $2, without types', 'SELECT ?, typeof($2), $2 + 1, ?', ["it's", 41], null],
    [
      'by name',
      'SELECT $who || $Who, typeof($n) FROM lake.tpch.nation WHERE n_name = $nation',
      { who: 'a', n: 1.5, nation: 'FRANCE' },
      [['aa', 'DECIMAL(2,1)']],
    ],
    [
      'in a predicate',
      'SELECT n_name FROM lake.tpch.nation WHERE n_nationkey IN (?, ?) AND n_name LIKE ? ORDER BY 1 LIMIT ?',
      [6, 7, '%R%', 5],
      [['FRANCE'], ['GERMANY']],
    ],
    [
      'with types',
      'SELECT typeof(COLUMNS(*)) FROM (SELECT $1, $2, $3, $4, $5)',
      [
        typed('HUGEINT', '1'),
        typed('TIMESTAMP WITH TIME ZONE', '2024-02-29 12:00:00+01'),
        typed('STRUCT(a DECIMAL(9,2)[])', null),
        typed('UUID', '00000000-0000-0000-0000-000000000001'),
        typed('DOUBLE', 'NaN'),
      ],
      [['HUGEINT', 'TIMESTAMP WITH TIME ZONE', 'STRUCT(a DECIMAL(9,2)[])', 'UUID', 'DOUBLE']],
    ],
    ['lists', 'SELECT $1, list_sum($2)', [['a', null], typed('INTEGER[]', [1, 2])], [[['a', null], '3']]],
    ['in a command', 'EXPLAIN (TYPE DISTRIBUTED) SELECT ?', [1], undefined],
    [
      'in a PIVOT',
      'PIVOT (SELECT n_regionkey AS r, 1 AS one FROM lake.tpch.nation WHERE n_regionkey < ?) ON r USING sum(one) || ?',
      [2, 'x'],
      [['5x', '5x']],
    ],
  ] as const)('%s', async (_what, sql, parameters, rows) => {
    const { status, body } = await ask(sql, parameters);
    if (rows === null) expect(body['sql_state']).toBe('42P02');
    else expect([status, body['message']]).toEqual([200, undefined]);
    if (rows !== null && rows !== undefined) expect(body['rows']).toEqual(rows);
  });

  test('every type is what plain DuckDB makes of the text', async () => {
    const duckdb = await (await DuckDBInstance.create(':memory:')).connect();
    await duckdb.run("SET TimeZone = 'UTC'");
    for (const [type, all] of TYPES) {
      if (type.includes('UNION')) continue;
      const values = all.filter((value) => !value.includes('chr(0)'));
      const list = values.map((value) => `CAST(${value} AS ${type})::VARCHAR`).join(', ');
      const texts = must((await duckdb.runAndReadAll(`SELECT ${list}`)).getRows()[0], 'a row').map(String);
      const places = texts.map((_, i) => `CAST($${i + 1} AS VARCHAR)`).join(', ');
      const { body } = await ask(
        `SELECT typeof($1), ${places}`,
        texts.map((value) => typed(type, value)),
      );
      const [name] = must((await duckdb.runAndReadAll(`SELECT typeof(NULL::${type})`)).getRows()[0], 'a row');
      expect([body['message'], body['rows']], type).toEqual([undefined, [[name, ...texts]]]);
    }
    duckdb.closeSync();
  });

  test.each([
    ['SELECT 1,\n $2', ['a'], '400 UNDEFINED_PARAMETER 42P02', '(line 2, column 2)'],
    ['SELECT ?', undefined, '400 UNDEFINED_PARAMETER 42P02', '(line 1, column 8)'],
    ['SELECT ?', ['a', 'b'], '400 WRONG_PARAMETER_COUNT 07001', 'given 2 values and has 1'],
    ['SELECT $a', { b: 1 }, '400 UNDEFINED_PARAMETER 42P02', '$a'],
    ['SELECT $1 FROM nothing', ['x'.repeat(1_000)], '400 TABLE_NOT_FOUND 42P01', '(line 1, column 16)'],
    ['SELECT CAST(? AS INTEGER)', ['x'], '400 INVALID_CAST 22P02', "'x'"],
    ['SELECT 1 WHERE $1 > 0', [typed('TINYINT', 1_000)], '400 NUMERIC_OVERFLOW 22003', 'INT8'],
    ['SELECT 1,\n $1', [typed('DATE', 'never')], '400 INVALID_CAST 22P02', '(line 2, column 2)'],
    ['SELECT $1', [typed('NOTHING', 1)], '400 ', 'NOTHING'],
    ['SELECT $1', [typed('INTEGER) FROM (SELECT 1', 1)], '400 INVALID_REQUEST 22023', 'is not the type'],
    ["SELECT ' $1'", ["'; x"], '400 WRONG_PARAMETER_COUNT 07001', 'no parameter $1'],
    ['SELECT $1', [{ value: 1 }], '400 INVALID_REQUEST 22023', 'a parameter is a value or'],
    ['SELECT $1', ['a\0b'], '400 INVALID_REQUEST 22023', 'NUL'],
    ['SELECT 1', 'x', '400 INVALID_REQUEST 22023', 'a list or an object'],
  ] as const)('%s with %j', async (sql, parameters, refusal, message) => {
    const raw = await ask(sql, parameters ?? null);
    expect(code(raw)).toContain(refusal);
    expect(raw.body['message']).toContain(message);
  });

  test('very large, very many and deeply nested values have limits', async () => {
    const many = Array.from({ length: 10_001 }, () => 1);
    expect((await ask('SELECT ?', many)).body['message']).toContain('at most 10000 parameters');
    const full = many.slice(1);
    const sum = `SELECT ${full.map(() => '?').join('+')}`;
    expect(code(await ask(`SELECT list_sum([${sum.slice(7).replaceAll('+', ',')}])`, full))).toBe(
      '200 undefined undefined',
    );
    const nested = (depth: number): Json => (depth === 0 ? 1 : [nested(depth - 1)]);
    expect(code(await ask('SELECT ?', [nested(100)]))).toBe('200 undefined undefined');
    expect((await ask('SELECT ?', [nested(300)])).body['message']).toContain('nested deeper than 200');
    const text = 'ä'.repeat(400_000);
    const long = await ask('SELECT length(?), ? = ?', [text, text, text]);
    expect([long.status, long.body['message'], long.body['rows']]).toEqual([200, undefined, [[400_000, true]]]);
    expect(long.body['columns']).toEqual(['length($1)', '($2 = $3)']);
    const digits = '9'.repeat(200);
    const raw = `{"sql":"SELECT typeof(?), typeof(?)","parameters":[${digits},1e-300]}`;
    expect((await call('POST', '/api/query', { body: raw })).body['rows']).toEqual([['DOUBLE', 'DOUBLE']]);
  });
});

describe('prepared statements', () => {
  const inSession = (id: string) => (sql: string, parameters?: Json) =>
    call('POST', '/api/query', {
      body: printJson({ sql, ...(parameters === undefined ? {} : { parameters }) }),
      headers: { 'x-skein-session': id },
    });
  const session = inSession(randomUUID());
  const NATION = 'SELECT n_name, $2 FROM lake.tpch.nation WHERE n_nationkey = $1';

  test('belong to a session, which keeps them until they are deallocated', async () => {
    expect(code(await post('PREPARE p AS SELECT 1'))).toBe('400 NOT_SUPPORTED 0A000');
    expect((await session(`PREPARE p (INTEGER, DATE) AS ${NATION}`)).body['rows']).toEqual([['PREPARE']]);
    const { body } = await session("EXECUTE P(6, '2024-02-29')");
    expect([body['columns'], body['rows']]).toEqual([['n_name', '$2'], [['FRANCE', '2024-02-29']]]);
    expect(code(await inSession(randomUUID())('EXECUTE p(6, NULL)'))).toBe('400 PREPARED_STATEMENT_NOT_FOUND 26000');
    expect(code(await session('PREPARE "P" AS SELECT 1'))).toBe('400 PREPARED_STATEMENT_EXISTS 42P05');
    expect((await session('EXECUTE p(?, ?)', [3 + 4, null])).body['rows']).toEqual([['GERMANY', null]]);
    expect(code(await session('PREPARE q AS SELECT ?', [1]))).toBe('400 WRONG_PARAMETER_COUNT 07001');
    expect((await session('DEALLOCATE ALL')).body['rows']).toEqual([['DEALLOCATE ALL']]);
    expect(code(await session('EXECUTE p(6, NULL)'))).toBe('400 PREPARED_STATEMENT_NOT_FOUND 26000');
  });

  test.each([
    ['PREPARE a AS SELECT $1,\n nothing FROM lake.tpch.nation', '42703', '(line 2, column 2)'],
    ['PREPARE a AS SELECT $1 FROM lake.tpch.nothing', '42P01', '(line 1, column 29)'],
    ["PREPARE a AS SELECT $1, read_text('/etc/passwd')", '0A000', 'read_text'],
    ['PREPARE a AS SELECT $name, $1', '0A000', 'do not mix'],
    ['PREPARE a (INTEGER) SELECT $1', '42601', 'expected AS'],
    ['PREPARE a (NOTHING) AS SELECT $1', '42704 0A000 42601', 'NOTHING'],
    ['PREPARE a AS SET skein.partitions = $1', '0A000', 'SET cannot be prepared (line 1, column 14)'],
    ['PREPARE a AS PREPARE b AS SELECT $1', '0A000', 'PREPARE cannot be prepared'],
    ['PREPARE a AS EXECUTE b($1)', '0A000', 'EXECUTE cannot be prepared'],
    [`PREPARE ${'x'.repeat(1_025)} AS SELECT 1`, '42622', 'is longer than'],
    ['PREPARE a AS SELECT $10001', '54001', 'at most 10000 parameters'],
    ['EXECUTE known', '42601', 'it has 2 ($1, $2), given are 0'],
    ['EXECUTE known(1, 2, 3)', '42601', 'given are 3'],
    ['EXECUTE known(x := 1, "2" := 3)', '42P02', 'has no parameter $x'],
    ['EXECUTE known(n_name, 1)', '42703', '(line 1, column 15)'],
    ["EXECUTE known('never', 1)", '22P02', 'never'],
    ["EXECUTE known(1, DATE 'never')", '22P02', '(line 1, column 18)'],
    ["EXECUTE typed(1, 'never')", '22P02', '(line 1, column 8 of the prepared statement "typed") (line 1, column 18)'],
    ['EXECUTE known((SELECT 1), 1)', '22023', 'constant expressions'],
    ["EXECUTE known(1, repeat('x', 1000000000))", '54001 22023', ''],
    ['EXPLAIN EXECUTE known(1, 2)', '0A000', 'prepare the EXPLAIN'],
  ])('%s is refused', async (sql, states, message) => {
    await session(`PREPARE known AS ${NATION}`);
    await session('PREPARE typed (INTEGER, DATE) AS SELECT $2, $1');
    const { status, body } = await session(sql);
    expect(status, JSON.stringify(body)).toBe(400);
    expect(states.split(' ')).toContain(body['sql_state']);
    expect(body['message']).toContain(message);
  });

  test('of an INSERT has the types of the table’s columns, and adds rows each time', async () => {
    const table = 'lake.tpch.prepared_rows';
    await cluster.sql(`CREATE TABLE ${table} (n INTEGER, d DECIMAL(9, 2), s VARCHAR)`);
    await session(`PREPARE put AS INSERT INTO ${table} (s, n) VALUES ($1, $2), (upper($1), $2 + 1)`);
    expect((await session("EXECUTE put('a', 6)")).body).toMatchObject({ rows: [[2]] });
    expect((await session('EXECUTE put(?, ?)', ['b', 8])).body['rows']).toEqual([[2]]);
    await session(`PREPARE one AS INSERT INTO ${table} (n) VALUES ($1)`);
    expect((await session("EXECUTE one('5')")).body).toMatchObject({ rows: [[1]] });
    expect(code(await session("EXECUTE one('x')"))).toBe('400 INVALID_CAST 22P02');
    await session(`PREPARE copied AS INSERT INTO ${table} SELECT $1, 1.5, 'q' FROM range($2)`);
    expect((await session('EXECUTE copied(1, 3)')).body['rows']).toEqual([[3]]);
    expect(await cluster.sql(`SELECT s, n, d::VARCHAR FROM ${table} ORDER BY n, s`)).toEqual([
      ...Array.from({ length: 3 }, () => ['q', 1, '1.50']),
      [null, 5, null],
      ['a', 6, null],
      ['A', 7, null],
      ['b', 8, null],
      ['B', 9, null],
    ]);
    await cluster.sql(`DROP TABLE ${table}`);
  });

  test.each([
    ['PREPARE a AS INSERT INTO lake.tpch.region VALUES ($1)', '42601', 'line 1, column'],
    ['PREPARE a AS INSERT INTO lake.tpch.region (nothing) VALUES ($1)', '42703', '(line 1, column 44)'],
    [
      "PREPARE a AS INSERT INTO lake.tpch.region (r_name, r_regionkey) SELECT $1, DATE '2024-01-01'",
      '42804',
      'r_regionkey',
    ],
  ])('%s is refused before it runs', async (sql, state, message) => {
    const { body } = await session(sql);
    expect([body['sql_state'], body['message']]).toEqual([state, expect.stringContaining(message)]);
  });

  test('are bounded by number and by memory, and an EXECUTE takes no more text than a statement', async () => {
    const own = inSession(randomUUID());
    const long = (i: number) => own(`PREPARE long${i} AS SELECT 1 /* ${'x'.repeat(7 * 2 ** 20)} */, $1`);
    expect([code(await long(0)), code(await long(1))]).toEqual(Array(2).fill('200 undefined undefined'));
    expect(code(await long(2))).toBe('400 TOO_MANY_PREPARED_STATEMENTS 53400');
    expect((await own('EXECUTE long0(1)')).body['rows']).toEqual([[1, 1]]);
    expect(code(await own(`EXECUTE long0('${'y'.repeat(2 * 2 ** 20)}')`))).toBe('413 PAYLOAD_TOO_LARGE 54000');
    // A comment that is cut off does not stay in memory.
    expect(code(await own(`DEALLOCATE long1`))).toBe('200 undefined undefined');
    for (const name of ['a', 'b']) {
      expect(code(await own(`PREPARE ${name} AS SELECT 1 /* ${'x'.repeat(7 * 2 ** 20)} */`))).toContain('200');
    }
    expect(code(await own('DEALLOCATE ALL'))).toContain('200');
  });

  test('a table that was dropped or has other columns is seen', async () => {
    const name = `prepared_${randomUUID().replaceAll('-', '')}`;
    const table = `lake.query_api_prepared.${name}`;
    const load = async (select: string): Promise<void> => {
      const file = join(tmpdir(), `${name}.parquet`);
      const duckdb = await (await DuckDBInstance.create(':memory:')).connect();
      await duckdb.run(`COPY (${select}) TO '${file}'`);
      duckdb.closeSync();
      await cluster.load(['parquet', file, '--table', table, '--create']);
      await rm(file);
    };
    await cluster.catalog('POST', '/v1/lake/namespaces', { namespace: ['query_api_prepared'] });
    await load('SELECT 1 AS a');
    await session(`PREPARE all_of AS SELECT * FROM ${table} WHERE a >= $1`);
    await session(`PREPARE one_of AS SELECT a, $1 FROM ${table}`);
    expect((await session('EXECUTE all_of(0)')).body['rows']).toEqual([[1]]);
    expect((await session("EXECUTE one_of('x')")).body['rows']).toEqual([[1, 'x']]);
    await cluster.catalog('DELETE', `/v1/lake/namespaces/query_api_prepared/tables/${name}`);
    expect(code(await session('EXECUTE all_of(0)'))).toBe('400 TABLE_NOT_FOUND 42P01');
    await load('SELECT 2 AS a, 3 AS b');
    const changed = await session('EXECUTE all_of(0)');
    expect([code(changed), changed.body['message']]).toEqual([
      '400 NOT_SUPPORTED 0A000',
      expect.stringContaining('cached plan must not change result type'),
    ]);
    expect((await session("EXECUTE one_of('x')")).body['rows']).toEqual([[2, 'x']]);
  });
});

describe('a PIVOT whose columns depend on the data', () => {
  test('reads one snapshot in both steps, also when a commit lands between them', async () => {
    const name = `pivot_${randomUUID().replaceAll('-', '')}`;
    const table = `lake.query_api_pivot.${name}`;
    const load = async (select: string, ...flags: readonly string[]): Promise<void> => {
      const file = join(tmpdir(), `${name}.parquet`);
      const duckdb = await (await DuckDBInstance.create(':memory:')).connect();
      await duckdb.run(`COPY (${select}) TO '${file}'`);
      duckdb.closeSync();
      await cluster.load(['parquet', file, '--table', table, ...flags]);
      await rm(file);
    };
    const token = await cluster.token();
    await cluster.catalog('POST', '/v1/lake/namespaces', { namespace: ['query_api_pivot'] });
    await load("SELECT * FROM (VALUES ('a', 1), ('b', 2)) AS x(k, v)", '--create');
    const before = { columns: ['a', 'b'], rows: [[1, 2]] };
    const after = { columns: ['a', 'b', 'c'], rows: [[101, 2, 100]] };
    // Its first stage takes some time.
    const slow = `(SELECT k, v FROM ${table}, range(60_000_000) AS r(i) WHERE hash(i) = 1 OR i = 0)`;
    const pivoted = post(`PIVOT ${slow} ON k USING sum(v)::INT`, { token });
    await sleep(300);
    await load("SELECT * FROM (VALUES ('a', 100), ('c', 100)) AS x(k, v)");
    const { columns, rows } = (await pivoted).body;
    // On a slow machine the query may begin after the commit; its stages never read two snapshots.
    expect([before, after]).toContainEqual({ columns, rows });
    const { body } = await post(`PIVOT (SELECT k, v FROM ${table}) ON k USING sum(v)::INT`, { token });
    expect({ columns: body['columns'], rows: body['rows'] }).toEqual(after);
  });

  test('its errors have their place in the statement', async () => {
    for (const [sql, message] of [
      ['PIVOT lake.tpch.nation ON n_regio USING count(*)', '(line 1, column 27)'],
      ['PIVOT lake.tpch.natio\nON n_name', 'did you mean lake.tpch.nation? (line 1, column 7)'],
      ['PIVOT lake.tpch.nation ON n_name USING sum(n_nam)', '(line 1, column 44)'],
      [
        'PIVOT (FROM lake.tpch.nation WHERE false) ON n_name',
        'the PIVOT has no columns: no row has a value here (line 1, column 46)',
      ],
    ] as const) {
      expect((await post(sql)).body['message'], sql).toContain(message);
    }
  });
});

describe('POST /api/query', () => {
  test('answers a client that has closed its writing half', async () => {
    const { hostname, port } = new URL(cluster.queryUrl);
    const body = JSON.stringify({ sql: 'SELECT max(hash(n)) > 0 AS half FROM range(20000000) AS r(n)' });
    const head = [
      'POST /api/query HTTP/1.1',
      'host: h',
      'content-type: application/json',
      `authorization: Bearer ${await cluster.token()}`,
      `content-length: ${body.length}`,
    ];
    const socket = connect({ host: hostname, port: Number(port), allowHalfOpen: true });
    socket.end(`${head.join('\r\n')}\r\n\r\n${body}`);
    expect(await text(socket)).toMatch(
      /HTTP\/1\.1 200 OK[^{]*\{"columns":\["half"\],.*"rows":\[\[true\]\],"row_count":1/s,
    );
  });

  test('answers columns, types, rows, row_count and elapsed_ms, and nothing else', async () => {
    const { status, body } = await post(
      "SELECT 1 AS n, 1.50::DECIMAL(10, 2) AS price, 'x' AS s, DATE '2024-02-29' AS d, [1] AS l",
    );
    expect(status).toBe(200);
    expect(Object.keys(body).sort()).toEqual(['columns', 'elapsed_ms', 'row_count', 'rows', 'types']);
    expect(body['columns']).toEqual(['n', 'price', 's', 'd', 'l']);
    expect(body['types']).toEqual(['INTEGER', 'DECIMAL(10,2)', 'VARCHAR', 'DATE', 'INTEGER[]']);
    expect(body['rows']).toEqual([[1, '1.50', 'x', '2024-02-29', [1]]]);
    expect(body['row_count']).toBe(1);
    expect(Number.isInteger(body['elapsed_ms'])).toBe(true);
  });

  test('a result without rows keeps its columns and types', async () => {
    const { body } = await post('SELECT n_name FROM lake.tpch.nation WHERE false');
    expect([body['columns'], body['types'], body['rows'], body['row_count']]).toEqual([['n_name'], ['VARCHAR'], [], 0]);
  });

  test('two columns of one name are both there', async () => {
    const { body } = await post('SELECT 1 AS a, 2 AS a');
    expect([body['columns'], body['rows']]).toEqual([['a', 'a'], [[1, 2]]]);
  });

  test('an error is {error, message, sql_state} and nothing else', async () => {
    const answer = await post('SELEC 1');
    expect(code(answer)).toBe('400 SYNTAX_ERROR 42601');
    expect(Object.keys(answer.body).sort()).toEqual(['error', 'message', 'sql_state']);
  });

  test('a body that is not valid is INVALID_REQUEST', async () => {
    const bodies = [
      '',
      '[]',
      'null',
      '{}',
      '{"sql": 1}',
      '{"sql": ""}',
      '{"sql": "SELECT 1", "timeout_ms": "x"}',
      '{"sql": "SELECT 1", "timeout_ms": -1}',
      '{',
    ];
    for (const body of bodies)
      expect([body, code(await call('POST', '/api/query', { body }))]).toEqual([body, '400 INVALID_REQUEST 22023']);
  });

  test('timeout_ms ends a query with QUERY_TIMEOUT', async () => {
    const body = JSON.stringify({ sql: 'SELECT max(hash(n)) FROM range(100000000000) AS r(n)', timeout_ms: 300 });
    const started = performance.now();
    expect(code(await call('POST', '/api/query', { body }))).toBe('408 QUERY_TIMEOUT 57014');
    expect(performance.now() - started).toBeLessThan(2_000 * machineSlowness());
  });

  test('X-Skein-Query-Id may be given, is always answered, and must be a UUID', async () => {
    const id = randomUUID();
    expect((await post('SELECT 1', { headers: { 'x-skein-query-id': id } })).headers.get('x-skein-query-id')).toBe(id);
    expect((await post('SELECT 1')).headers.get('x-skein-query-id')).toMatch(/^[0-9a-f-]{36}$/);
    expect(code(await post('SELECT 1', { headers: { 'x-skein-query-id': 'mine' } }))).toBe('400 INVALID_REQUEST 22023');
  });

  test('settings last in a session, and only there', async () => {
    const headers = { 'x-skein-session': randomUUID() };
    await post("SET TimeZone = 'Asia/Tokyo'", { headers });
    const sql = "SELECT TIMESTAMPTZ '2024-01-01 00:00:00+00'";
    expect((await post(sql, { headers })).body['rows']).toEqual([['2024-01-01 09:00:00+09']]);
    expect((await post(sql, { headers: { 'x-skein-session': randomUUID() } })).body['rows']).toEqual([
      ['2024-01-01 00:00:00+00'],
    ]);
  });

  test('a statement that does not fit into memory fails alone', async () => {
    const sql = "SELECT length(string_agg(s, '')) FROM (SELECT repeat('x', 100000000) AS s FROM range(1000))";
    expect(code(await post(sql))).toBe('507 OUT_OF_MEMORY 53200');
    expect((await post('SELECT 1')).status).toBe(200);
  });
});

describe('KILL QUERY', () => {
  const ENDLESS = 'SELECT max(hash(n)) FROM range(1000000000000) AS r(n)';

  async function begun(): Promise<{ readonly queryId: string; readonly answer: Promise<Raw> }> {
    const queryId = randomUUID();
    const answer = post(ENDLESS, { headers: { 'x-skein-query-id': queryId } });
    const isListed = async (): Promise<boolean> =>
      (await cluster.sql('SHOW QUERIES')).some((row) => row[0] === queryId && row[1] === 'running');
    await expect.poll(isListed).toBe(true);
    return { queryId, answer };
  }

  test('cancels a query of one’s own', async () => {
    const { queryId, answer } = await begun();
    expect((await post(`KILL QUERY '${queryId.toUpperCase()}'`)).body['rows']).toEqual([['KILL QUERY']]);
    expect(code(await answer)).toBe('499 QUERY_CANCELLED 57014');
    expect(code(await post(`KILL QUERY '${queryId}'`))).toBe('404 QUERY_NOT_FOUND 02000');
  });

  test('finds none of another tenant’s', async () => {
    await cluster.cliOk(['admin', 'tenant', 'create', 'killer', '--user', 'mallory']);
    const token = await cluster.token({ tenant: 'killer', user: 'mallory' });
    const { queryId, answer } = await begun();
    expect(code(await post(`KILL QUERY '${queryId}'`, { token }))).toBe('404 QUERY_NOT_FOUND 02000');
    await cluster.sql(`KILL QUERY '${queryId}'`);
    expect(code(await answer)).toBe('499 QUERY_CANCELLED 57014');
  });

  test.each([
    ['KILL', '400 SYNTAX_ERROR 42601'],
    ['KILL QUERY 5', '400 SYNTAX_ERROR 42601'],
    ["KILL QUERY 'x'", '400 INVALID_REQUEST 22023'],
  ])('%s is refused', async (statement, refused) => {
    expect(code(await post(statement))).toBe(refused);
  });
});

describe('tokens', () => {
  test('without a token, or with a bad one, every path is UNAUTHENTICATED', async () => {
    for (const token of [null, 'x', 'a.b.c', `${await cluster.token()}x`]) {
      expect(code(await post('SELECT 1', { token }))).toBe('401 UNAUTHENTICATED 28000');
      expect(code(await call('GET', '/api/tables', { token }))).toBe('401 UNAUTHENTICATED 28000');
      expect(code(await call('GET', '/api/catalogs/lake/namespaces/tpch/tables/region', { token }))).toBe(
        '401 UNAUTHENTICATED 28000',
      );
      expect(code(await call('DELETE', `/api/query/${randomUUID()}`, { token }))).toBe('401 UNAUTHENTICATED 28000');
    }
  });

  test('a token whose time is over is UNAUTHENTICATED', async () => {
    const token = await cluster.token({ ttlMs: 1_000 });
    await new Promise((resolve) => setTimeout(resolve, 2_500));
    expect(code(await post('SELECT 1', { token }))).toBe('401 UNAUTHENTICATED 28000');
  });

  test('SELECT needs table:read', async () => {
    const token = await cluster.token({ scope: ['catalog:read', 'namespace:read'] });
    expect(code(await post('SELECT * FROM lake.tpch.region', { token }))).toBe('403 FORBIDDEN 42501');
    const reader = await cluster.token({ scope: ['table:read'] });
    expect((await post('SELECT count(*) FROM lake.tpch.region', { token: reader })).body['rows']).toEqual([[5]]);
  });

  test('whatever shows or cancels queries needs table:read', async () => {
    const queryId = randomUUID();
    const held = post('SELECT max(hash(n)) FROM range(100000000000) AS r(n)', {
      headers: { 'x-skein-query-id': queryId },
    });
    await expect.poll(async () => (await call('GET', `/api/query/${queryId}`)).status).toBe(200);
    const others = Object.keys(SCOPES).filter((scope) => scope !== 'table:read');
    const token = await cluster.token({ scope: others });
    const reader = await cluster.token({ scope: ['table:read'] });
    for (const path of ['query', `query/${queryId}`, 'query-history', 'resource-groups', 'qos/stats', 'cluster']) {
      expect(code(await call('GET', `/api/${path}`, { token })), path).toBe('403 FORBIDDEN 42501');
      expect((await call('GET', `/api/${path}`, { token: reader })).status, path).toBe(200);
    }
    for (const path of [
      `query-history/${queryId}`,
      `query-history/${queryId}/profile`,
      'resource-groups/root',
      'events',
    ])
      expect(code(await call('GET', `/api/${path}`, { token })), path).toBe('403 FORBIDDEN 42501');
    for (const sql of ['SHOW QUERIES', 'FROM (SHOW QUERIES)', 'SHOW QUERY HISTORY', 'SHOW RESOURCE GROUPS']) {
      expect(code(await post(sql, { token })), sql).toBe('403 FORBIDDEN 42501');
      expect((await post(sql, { token: reader })).status, sql).toBe(200);
    }
    expect(code(await post(`KILL QUERY '${queryId}'`, { token }))).toBe('403 FORBIDDEN 42501');
    expect(code(await call('DELETE', `/api/query/${queryId}`, { token }))).toBe('403 FORBIDDEN 42501');
    expect((await call('DELETE', `/api/query/${queryId}`, { token: reader })).status).toBe(204);
    expect((await held).status).toBe(499);
  });

  test('preferred_username names the user', async () => {
    expect((await post('SELECT current_user')).body['rows']).toEqual([['admin']]);
  });
});

describe('metadata', () => {
  test('GET /api/tables lists the tables of the current catalog', async () => {
    const { status, body } = await call('GET', '/api/tables');
    expect(status).toBe(200);
    expect(body['tables']).toContainEqual({ catalog: 'lake', schema: 'tpch', name: 'lineitem' });
    const ofTpch = (body['tables'] as { schema: string }[]).filter(({ schema }) => schema === 'tpch');
    expect(ofTpch).toHaveLength(8);
  });

  test('GET of one table tells its schema, partitions, snapshots and rows', async () => {
    const region = await call('GET', '/api/catalogs/lake/namespaces/tpch/tables/region');
    const strings = ['r_name', 'r_comment'].map((name) => ({ name, type: 'VARCHAR', nullable: true }));
    expect([region.status, region.body]).toEqual([
      200,
      {
        name: 'region',
        schema: { fields: [{ name: 'r_regionkey', type: 'BIGINT', nullable: true }, ...strings] },
        partition_spec: [],
        snapshot_count: 1,
        record_count: 5,
      },
    ]);
    await createEvents();
    const events = await call('GET', '/api/catalogs/lake/namespaces/query_api/tables/events');
    expect([events.status, events.body]).toEqual([
      200,
      {
        name: 'events',
        schema: {
          fields: [
            { name: 'id', type: 'BIGINT', nullable: false },
            { name: 'at', type: 'TIMESTAMP', nullable: true },
            { name: 'price', type: 'DECIMAL(10, 2)', nullable: true },
          ],
        },
        partition_spec: ['month(at)', 'bucket(16, id)', 'price'],
        snapshot_count: 0,
        record_count: 0,
      },
    ]);
  });

  /** A table without rows, with a required column and a partition by transforms. */
  async function createEvents(): Promise<void> {
    const fields = [
      { id: 1, name: 'id', type: 'long', required: true },
      { id: 2, name: 'at', type: 'timestamp', required: false },
      { id: 3, name: 'price', type: 'decimal(10, 2)', required: false },
    ];
    const partitions = [
      { 'source-id': 2, 'field-id': 1_000, name: 'at_month', transform: 'month' },
      { 'source-id': 1, 'field-id': 1_001, name: 'id_bucket', transform: 'bucket[16]' },
      { 'source-id': 3, 'field-id': 1_002, name: 'price', transform: 'identity' },
    ];
    await cluster.catalog('POST', '/v1/lake/namespaces', { namespace: ['query_api'] });
    const created = await cluster.catalog('POST', '/v1/lake/namespaces/query_api/tables', {
      name: 'events',
      schema: { type: 'struct', 'schema-id': 0, fields },
      'partition-spec': { 'spec-id': 0, fields: partitions },
    });
    expect(created.status).toBe(200);
  }

  test('a table that has changed tells its snapshots, and the rows that are left', async () => {
    const table = 'lake.query_api_counts.counted';
    await cluster.sql('CREATE SCHEMA lake.query_api_counts');
    await cluster.sql(`CREATE TABLE ${table} (a INT)`);
    const told = async (): Promise<unknown> => {
      const { body } = await call('GET', '/api/catalogs/lake/namespaces/query_api_counts/tables/counted');
      return [body['snapshot_count'], body['record_count']];
    };
    expect(await told()).toEqual([0, 0]);
    await cluster.sql(`INSERT INTO ${table} SELECT * FROM range(10)`);
    expect(await told()).toEqual([1, 10]);
    await cluster.sql(`INSERT INTO ${table} VALUES (11), (12)`);
    await cluster.sql(`DELETE FROM ${table} WHERE a < 3`);
    expect(await told()).toEqual([3, 9]);
    await cluster.sql(`DROP TABLE ${table} PURGE`);
    await cluster.sql('DROP SCHEMA lake.query_api_counts');
  });

  test('what is not there is 404 with the same codes', async () => {
    expect(code(await call('GET', '/api/catalogs/lake/namespaces/tpch/tables/nothing'))).toBe(
      '404 TABLE_NOT_FOUND 42P01',
    );
    expect(code(await call('GET', '/api/catalogs/lake/namespaces/nothing/tables/x'))).toBe(
      '404 SCHEMA_NOT_FOUND 3F000',
    );
    expect(code(await call('GET', '/api/catalogs/nothing/namespaces/x/tables/x'))).toBe('404 CATALOG_NOT_FOUND 3D000');
    expect(code(await call('GET', '/api/nothing'))).toBe('404 NOT_FOUND 02000');
  });

  test('paths begin with /api and have no version; those of stages are below /v1/stages', async () => {
    const { body } = await call('GET', '/openapi.json');
    const paths = Object.keys(must(body['paths'], 'the document has paths'));
    const others = paths.filter((path) => !/^\/api\/(?!v\d)/.test(path));
    const stages = others.filter((path) => path.startsWith('/v1/stages/'));
    expect(stages.length).toBeGreaterThanOrEqual(4);
    expect(others.filter((path) => !stages.includes(path)).toSorted()).toEqual([
      '/.well-known/oauth-protected-resource',
      '/health',
      '/health/ready',
      '/metrics',
      '/openapi.json',
    ]);
  });

  test('the open paths answer without a token, as the OpenAPI document says', async () => {
    for (const [path, status] of [
      ['/openapi.json', 200],
      ['/.well-known/oauth-protected-resource', 200],
      ['/health', 200],
      ['/health/ready', 200],
    ] as const)
      expect([path, (await call('GET', path, { token: null })).status]).toEqual([path, status]);
  });
});
