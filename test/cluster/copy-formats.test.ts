import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { DuckDBInstance } from '@duckdb/node-api';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Cluster } from '#test/support/cluster.ts';
import { sharedCluster } from '#test/support/resources.ts';
import { putStageFile } from '#test/support/stage-files.ts';

/** Files of others that COPY INTO reads: right rows, or an error with file and line. */
let cluster: Cluster;
let dir: string;
let tables = 0;
const STAGE = 'lake.copy_formats.inbox';

beforeAll(async () => {
  dir = mkdtempSync(join(tmpdir(), 'skein-formats-'));
  ({ cluster } = await sharedCluster());
  await cluster.sql('CREATE SCHEMA lake.copy_formats');
  await cluster.sql(`CREATE STAGE ${STAGE}`);
});
afterAll(() => rmSync(dir, { recursive: true, force: true }));

type Loaded = {
  readonly columns: string;
  readonly name: string;
  readonly body: Uint8Array | string;
  readonly options?: string;
};

/** Loads one file into a table of its own. @returns the table */
async function load({ columns, name, body, options = '' }: Loaded): Promise<string> {
  tables += 1;
  const table = `lake.copy_formats.t${tables}`;
  await cluster.sql(`CREATE TABLE ${table} (${columns})`);
  await putStageFile(cluster, STAGE, name, body);
  await cluster.sql(`COPY INTO ${table} FROM '@${STAGE}/${name}' ${options}`);
  return table;
}

const JSON_FILE = 'FILE_FORMAT = (TYPE = JSON)';
const rowsOf = async (file: Loaded, list: string): Promise<unknown> =>
  cluster.sql(`SELECT ${list} FROM ${await load(file)} ORDER BY id`);

describe('numbers of JSON keep their digits', () => {
  const LONG = '0.1234567890123456789';
  const body = [
    `{"id": 1, "d": ${LONG}, "t": ${LONG}, "s": {"d": ${LONG}, "t": ${LONG}}, "l": [${LONG}, null, 1], "f": 1.5}`,
    `{"id": 2, "d": "${LONG}", "t": {"x": [${LONG}, "${LONG} "]}, "s": {}, "m": {"${LONG}": ${LONG}}, "f": ${LONG}}`,
    '{"id": 1234567890123456789, "t": 12345678901234567890123, "d": 1.5, "f": -1.234567890123456789e-3}',
    '',
  ].join('\n');
  const columns = `id BIGINT, d DECIMAL(20,19), t VARCHAR, s STRUCT(d DECIMAL(20,19), t VARCHAR), l DECIMAL(20,19)[],
    m MAP(VARCHAR, DECIMAL(20,19)), f DOUBLE`;
  const rows = [
    ['1', LONG, LONG, LONG, LONG, LONG, null, null, 1.5],
    ['2', LONG, `{"x":[${LONG},"${LONG} "]}`, null, null, null, null, LONG, 0.123_456_789_012_345_68],
    [
      '1234567890123456789',
      '1.5000000000000000000',
      '12345678901234567890123',
      null,
      null,
      null,
      null,
      null,
      Number('-1.234567890123456789e-3'),
    ],
  ];
  const list = `id::VARCHAR, d::VARCHAR, t, s.d::VARCHAR, s.t, l[1]::VARCHAR, l[2]::VARCHAR, m['${LONG}']::VARCHAR, f`;

  test.each([
    ['plain.json', body],
    ['compressed.json.gz', gzipSync(body)],
  ])('in a table: %s', async (name, bytes) => {
    const options = JSON_FILE;
    expect(await rowsOf({ columns, name: `digits/${name}`, body: bytes, options }, list)).toEqual(rows);
  });

  test('in a record beside one that cannot be loaded', async () => {
    const options = `${JSON_FILE} ON_ERROR = CONTINUE`;
    const file = { columns, name: 'digits/faults.json', body: `${body}{"id": "x", "t": ${LONG}}\n`, options };
    expect(await rowsOf(file, list)).toEqual(rows);
  });

  test('in a query, within objects that are read as text', async () => {
    // The type of an object with these members would take more than 65,536 characters.
    const key = (i: number): string => `k${i}${'x'.repeat(250)}`;
    const objects = Array.from({ length: 300 }, (_, i) => `{"${key(i)}": ${i % 2 === 1 ? LONG : '{}'}}`);
    const member = objects.map((object, i) => `{"id": ${i}, "o": ${object}}\n`).join('');
    await putStageFile(cluster, STAGE, 'digits/keys.json', member);
    const of = (name: string): string => `@${STAGE}/digits/${name}.json (FILE_FORMAT => (TYPE = JSON))`;
    const counts = [LONG, '{}'].map((value) => `count(*) FILTER (o::VARCHAR LIKE '{"k%":${value}}')::INT`);
    expect(await cluster.sql(`SELECT ${counts.join(', ')} FROM ${of('keys')}`)).toEqual([[150, 150]]);
    const mixed = `{"id": 1, "o": ${LONG}}\n{"id": 2, "o": {"x": ${LONG}}}\n`;
    await putStageFile(cluster, STAGE, 'digits/mixed.json', mixed);
    expect(await cluster.sql(`SELECT o::VARCHAR FROM ${of('mixed')} ORDER BY id`)).toEqual([[LONG], [`{"x":${LONG}}`]]);
  });

  test('a record that is no object is an error also in such a file', async () => {
    const file = {
      columns: 'id INT, t VARCHAR',
      name: 'digits/none.json',
      body: `{"t": ${LONG}}\n[1]\n`,
      options: JSON_FILE,
    };
    await expect(load(file)).rejects.toThrow(/digits\/none.json of the stage, line 2: it is no JSON object/);
  });
});

describe('JSON is read by the types of the table', () => {
  const columns = `id INT, l INT[], s STRUCT(a INT, b STRUCT(c VARCHAR)[]), m MAP(VARCHAR, INT[]), b BINARY, d DATE`;
  const list = 'id, l, s, m, b::VARCHAR, d';

  test('empty lists and objects, null, members that are missing, more, or come late', async () => {
    const body = [
      '{"id": 1, "l": [], "s": {}, "m": {}, "b": null, "d": null}',
      '{"id": 2, "l": null, "s": null, "m": null, "extra": {"x": []}}',
      '{"id": 3, "l": [null, 1], "s": {"a": 7, "more": [1]}, "m": {"": [], "k": null}, "b": "a\\\\xFF"}',
      '{"id": 4, "s": {"b": [{"c": "late"}, null, {}, {"e": 1}]}, "d": "2024-02-29"}',
      '{"id": 5}',
      '',
    ].join('\n');
    const rows = [
      [1, [], { a: null, b: null }, {}, null, null],
      [2, null, null, null, null, null],
      [3, [null, 1], { a: 7, b: null }, { '': [], k: null }, 'a\\xFF', null],
      [4, null, { a: null, b: [{ c: 'late' }, null, { c: null }, { c: null }] }, null, null, '2024-02-29'],
      [5, null, null, null, null, null],
    ];
    expect(await rowsOf({ columns, name: 'types/1.json', body, options: JSON_FILE }, list)).toEqual(rows);
    const bad = `${body}{"id": 6, "s": {"a": "x"}}\n{"id": 7, "l": {}}\n{"id": 8, "m": [1]}\n{"id": 9, "s": {"b": [{"c": 1}, 2]}}\n`;
    const options = `${JSON_FILE} ON_ERROR = CONTINUE`;
    expect(await rowsOf({ columns, name: 'types/2.json', body: bad, options }, list)).toEqual(rows);
  });

  test('a member of the wrong kind is an error with its line and column', async () => {
    const body = '{"id": 1, "s": {}}\n{"id": 2, "s": {"b": {}}}\n';
    await expect(load({ columns, name: 'types/3.json', body, options: JSON_FILE })).rejects.toThrow(
      /types\/3.json of the stage, line 2, column s: /,
    );
  });

  test('members as the first document spells them, within others too', async () => {
    const body = '{"ID": 1, "S": {"A": 1, "B": [{"C": "x"}]}}\n{"ID": 2, "S": {"B": []}}\n';
    expect(await rowsOf({ columns, name: 'types/4.json', body, options: JSON_FILE }, 'id, s')).toEqual([
      [1, { a: 1, b: [{ c: 'x' }] }],
      [2, { a: null, b: [] }],
    ]);
  });
});

test('structs of Parquet that lack a field, or have more, in lists and maps too', async () => {
  const path = join(dir, 'one.parquet');
  const connection = await (await DuckDBInstance.create(':memory:')).connect();
  const query = `SELECT 1 AS id, [{'a': 1, 'z': 0}, NULL] AS l, {'b': 'x'} AS s, MAP {'k': {'a': 5}} AS m`;
  await connection.run(`COPY (${query}) TO '${path}' (FORMAT parquet)`);
  connection.closeSync();
  const columns =
    'id INT, l STRUCT(a INT, b VARCHAR)[], s STRUCT(a INT, b VARCHAR), m MAP(VARCHAR, STRUCT(a INT, b INT))';
  const file = { columns, name: 'lack/1.parquet', body: readFileSync(path), options: 'FILE_FORMAT = (TYPE = PARQUET)' };
  expect(await rowsOf(file, '*')).toEqual([
    [1, [{ a: 1, b: null }, null], { a: null, b: 'x' }, { k: { a: 5, b: null } }],
  ]);
});

describe('CSV', () => {
  const columns = 'id INT, a VARCHAR, b VARCHAR';
  const rows = [
    [1, 'x\ry', 'u'],
    [2, 'x\ny', 'v'],
    [3, 'x\r\ny', 'w'],
  ];
  const header = '"i\rd","a\nb",b';

  test.each([
    ['line feeds', ['\n', '\n', '\n', '\n']],
    ['both', ['\r\n', '\r\n', '\r\n', '\r\n']],
    ['carriage returns', ['\r', '\r', '\r', '\r']],
    ['all three', ['\r\n', '\n', '\r', '\n']],
    ['all three, in another order', ['\r', '\r\n', '\n', '']],
  ])('lines that end with %s', async (name, [first = '', ...ends]) => {
    const lines = ['1,"x\ry",u', '2,"x\ny",v', '3,"x\r\ny",w'].map((line, i) => `${line}${ends[i]}`);
    const body = `${header}${first}${lines.join('')}`;
    const options = 'FILE_FORMAT = (SKIP_HEADER = 1)';
    expect(await rowsOf({ columns, name: `ends/${name}.csv`, body, options }, '*')).toEqual(rows);
    const read = `FROM '@${STAGE}/ends/${name}.csv' (FILE_FORMAT => (PARSE_HEADER = TRUE))`;
    expect(await cluster.sql(`SELECT "i\rd"::INT AS id, "a\nb", b ${read} ORDER BY 1`)).toEqual(rows);
  });

  test('a compressed file of them', async () => {
    const body = gzipSync('1,"x\ry",u\r2,"x\ny",v\n3,"x\r\ny",w\r\n');
    expect(await rowsOf({ columns, name: 'ends/all.csv.gz', body }, '*')).toEqual(rows);
  });

  test('an error in such a file has its line', async () => {
    const body = '1,"x\ry",u\r2,b,c\nbad,c,d\r\n';
    await expect(load({ columns, name: 'ends/bad.csv', body })).rejects.toThrow(
      /ends\/bad.csv of the stage, line 3, column id/,
    );
  });

  test('ERROR_ON_COLUMN_COUNT_MISMATCH = FALSE leaves out what is too much and pads what is missing', async () => {
    const body = '1,"a\nb"\n2,c,d,e,"f\n,g"\n3\n';
    const options = 'FILE_FORMAT = (ERROR_ON_COLUMN_COUNT_MISMATCH = FALSE)';
    const wanted = [
      [1, 'a\nb', null],
      [2, 'c', 'd'],
      [3, null, null],
    ];
    expect(await rowsOf({ columns, name: 'counts/1.csv', body, options }, '*')).toEqual(wanted);
    const faults = {
      columns,
      name: 'counts/2.csv',
      body: `${body}x,y,z,!\n`,
      options: `${options} ON_ERROR = CONTINUE`,
    };
    expect(await rowsOf(faults, '*')).toEqual(wanted);
  });

  test('a text that is no TIMESTAMP WITH TIME ZONE is an error with its line, and no NULL', async () => {
    const own = 'id INT, a TIMESTAMP WITH TIME ZONE, b TIMESTAMP WITH TIME ZONE[], u UUID';
    const body = '1,2024-02-29 12:00:00+00,[2024-02-29 12:00:00+00],\n2,x,,\n3,,[x],\n4,,,x\n5,,,\n';
    await expect(load({ columns: own, name: 'zones/1.csv', body })).rejects.toThrow(
      /zones\/1.csv of the stage, line 2, column a: /,
    );
    const options = 'ON_ERROR = CONTINUE';
    const noon = '2024-02-29 12:00:00+00';
    expect(await rowsOf({ columns: own, name: 'zones/2.csv', body, options }, 'id, a::VARCHAR, b[1]::VARCHAR')).toEqual(
      [
        [1, noon, noon],
        [5, null, null],
      ],
    );
    const formatted = "FILE_FORMAT = (TIMESTAMP_FORMAT = 'DD.MM.YYYY HH24:MI')";
    const file = { columns: own, name: 'zones/3.csv', body: '1,29.02.2024 12:00,,\n', options: formatted };
    expect(await rowsOf(file, 'a::VARCHAR')).toEqual([[noon]]);
  });

  test('ESCAPE beside the default of NULL_IF', async () => {
    const body = String.raw`1,"a\"b",\N
2,\N,"\\N"
3,,N
`;
    const options = String.raw`FILE_FORMAT = (ESCAPE = '\')`;
    expect(await rowsOf({ columns, name: 'escape/1.csv', body, options }, '*')).toEqual([
      [1, 'a"b', null],
      [2, null, String.raw`\N`],
      [3, null, 'N'],
    ]);
  });
});
