import { DuckDBInstance, type DuckDBConnection } from '@duckdb/node-api';
import { beforeAll, expect, test } from 'vitest';
import { arrowRows } from '#coordinator/sink/arrow-rows.ts';
import { fromDuckDbType } from '#coordinator/planner/duckdb-type-of.ts';
import { queryArrow } from '#test/support/duckdb-ipc.ts';
import { TYPES } from '#test/support/duckdb-types.ts';
import { Instance } from '#worker/duckdb/instance.ts';
import { ArrowMessages } from './arrow-messages.ts';
import { ResultSet } from './result-set.ts';

/** DuckDB itself prints the values beside the page. */
let types: DuckDBConnection;
beforeAll(async () => {
  types = await (await DuckDBInstance.create(':memory:', { threads: '1' })).connect();
});

/** The rows of a query as the console reads them, and as DuckDB casts them to VARCHAR. */
async function both(expressions: readonly string[], zone = 'UTC'): Promise<readonly (readonly (string | null)[])[]> {
  const inner = `SELECT unnest([${expressions.join(', ')}]) AS v`;
  const prepared = await types.prepare(`SELECT v, CAST(v AS VARCHAR) AS t FROM (${inner})`);
  const kinds = [0, 1].map((i) => fromDuckDbType(prepared.columnType(i)));
  const sql = arrowRows([`SELECT v, CAST(v AS VARCHAR) AS t FROM (${inner})`], kinds)
    .map((part) => (typeof part === 'string' ? part : ''))
    .join('');
  using instance = Instance.open({ threads: '1' });
  using connection = instance.connect();
  connection.run(`SET TimeZone = '${zone}'; SET arrow_lossless_conversion = false; SET arrow_output_version = '1.0'`);
  const { stream } = queryArrow(connection, sql, instance);
  const messages = new ArrowMessages();
  const result = new ResultSet();
  // Bytes come in pieces of any length.
  for (let at = 0; at < stream.length; at += 1_001) {
    for (const message of messages.add(stream.subarray(at, at + 1_001))) result.add(message);
  }
  return Array.from({ length: result.rowCount }, (_, row) => [result.text(row, 0), result.text(row, 1)]);
}

test.each(TYPES)('%s is printed as DuckDB prints it', async (type, values) => {
  // As Arrow, HUGEINT has 38 digits: the server refuses more.
  const sent = type === 'HUGEINT' ? [`'${'9'.repeat(38)}'`, '-5'] : values;
  const rows = await both([...sent.map((value) => `CAST(${value} AS ${type})`), `CAST(NULL AS ${type})`]);
  expect(rows.map(([is]) => is)).toEqual(rows.map(([, wanted]) => wanted));
  expect(rows).toHaveLength(sent.length + 1);
  expect(rows.at(-1)?.[0]).toBeNull();
});

test.each(['DOUBLE', 'FLOAT'])('numbers of every size, as %s', async (type) => {
  const numbers = [-7, -6, -5, -4, -3, -1, 0, 1, 3, 5, 7, 8, 9, 14, 15, 16, 17, 20, 30].flatMap((power) =>
    ['1', '-1.5', '123456789', '0.1', '9.999999'].map((digits) => `${digits}e${power}`),
  );
  const rows = await both(numbers.map((one) => `CAST('${one}' AS ${type})`));
  expect(rows.map(([is]) => is)).toEqual(rows.map(([, wanted]) => wanted));
});

test('texts within lists have quotes where DuckDB puts them', async () => {
  const texts = [
    '',
    ' a',
    'a ',
    'a b',
    'NULL',
    'null',
    "it's",
    '"',
    '\\',
    'a,b',
    '[',
    '}',
    '(x)',
    'a=b',
    'a:b',
    'x\ny',
    'a\tb',
    'ü',
    '<b>',
    '-',
    'a;b',
    '{}',
  ];
  const list = texts.map((text) => `'${text.replaceAll("'", "''")}'`);
  for (const one of list) {
    const rows = await both([`[${one}]`]);
    expect(rows.map(([is]) => is)).toEqual(rows.map(([, wanted]) => wanted));
  }
  const odd = await both([
    `{'a b': [DATE '2020-01-01'], 'it''s': TIMESTAMP '2020-01-01 00:00:00', 'n': NULL, 'b': '\\x00'::BLOB, 'i': INTERVAL 1 DAY, 't': TIME '10:00:00'}`,
  ]);
  expect(odd[0]?.[0]).toBe(odd[0]?.[1]);
});

test.each(['Asia/Tokyo', 'America/New_York', 'Asia/Kathmandu', 'Europe/Berlin'])('times in %s', async (zone) => {
  const rows = await both(
    [
      '1850-06-01 12:00:00+00',
      '1970-01-01 00:00:00+00',
      '2024-07-01 12:30:00.5+00',
      '2024-12-01 23:59:59.999999+00',
      '0001-01-01 00:00:00+00',
    ].map((time) => `TIMESTAMPTZ '${time}'`),
    zone,
  );
  expect(rows.map(([is]) => is)).toEqual(rows.map(([, wanted]) => wanted));
});
