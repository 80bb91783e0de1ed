import { DuckDBInstance } from '@duckdb/node-api';
import { Message } from 'apache-arrow/ipc/metadata/message';
import { expect, test } from 'vitest';
import type { SqlText } from '#shared/task/sql-text.ts';
import { sourceSql, TYPES } from '#test/support/duckdb-types.ts';
import { queryArrow } from '#test/support/duckdb-ipc.ts';
import { Instance } from '#worker/duckdb/instance.ts';
import { fromDuckDbType } from '../planner/duckdb-type-of.ts';
import { arrowRows } from '../sink/arrow-rows.ts';
import { cutArrow, cutJson } from '../sink/cut-batch.ts';
import { jsonRows } from '../sink/json-rows.ts';
import type { ResultBatch, RowShape } from '../sink/result-sink.ts';
import { jsonPrinter } from './arrow-json.ts';

const ZONE = 'Asia/Kolkata';
const ROWS = 60;
const CUT = 7;

/** The record batches of an IPC stream. */
function batchesOf(stream: Buffer): readonly ResultBatch[] {
  const found: ResultBatch[] = [];
  for (let at = 0; at + 8 < stream.length;) {
    const length = stream.readUInt32LE(at + 4);
    const header = stream.subarray(at + 8, at + 8 + length);
    const message = Message.decode(new Uint8Array(header));
    const end = at + 8 + length + message.bodyLength;
    if (message.isRecordBatch()) {
      found.push({ rows: message.header().length, header, body: stream.subarray(at + 8 + length, end) });
    }
    at = end;
  }
  return found;
}

const sqlOf = (text: SqlText): string => text.map((part) => (typeof part === 'string' ? part : '')).join('');

async function printed(batches: readonly ResultBatch[], shape: RowShape): Promise<unknown> {
  const print = jsonPrinter(shape);
  let text = '';
  for (const batch of batches) for await (const { body } of print(batch)) text += body.toString();
  return JSON.parse(`[${text.slice(1)}]`);
}

/** A HUGEINT of 39 digits has no Arrow form. */
const SENT = TYPES.filter(([type]) => type !== 'HUGEINT');

test.each(SENT)('%s is printed as DuckDB prints it, also of batches that are cut', async (type, values) => {
  const duckdb = await (await DuckDBInstance.create(':memory:', { threads: '1' })).connect();
  await duckdb.run(`SET TimeZone = '${ZONE}'`);
  using instance = Instance.open({ threads: '1' });
  using connection = instance.connect();
  connection.run(`SET TimeZone = '${ZONE}'`);
  const nested = `[v, NULL] AS l, {'a b': v, 'c': [v]} AS s, row(v) AS r, MAP {'k': v} AS m, MAP {i: v} AS n, [v]::${type}[1] AS a`;
  for (const expressions of type.length > 100 ? ['v'] : ['v', nested]) {
    const sql = `SELECT ${expressions} FROM (${sourceSql(type, values)}) ORDER BY i LIMIT ${ROWS}`;
    const prepared = await duckdb.prepare(sql);
    const columns = Array.from({ length: prepared.columnCount }, (_, i) => ({
      name: prepared.columnName(i),
      typeName: '',
      type: fromDuckDbType(prepared.columnType(i)),
    }));
    const shape = { columns, timeZone: ZONE };
    const types = columns.map((column) => column.type);
    const texts = (await duckdb.runAndReadAll(sqlOf(jsonRows([sql], columns, 'few')))).getRows().map(String);
    const expected = JSON.parse(`[${texts.join('').slice(1)}]`) as readonly unknown[];
    const batches = batchesOf(Buffer.from(queryArrow(connection, sqlOf(arrowRows([sql], types)), instance).stream));
    expect(await printed(batches, shape)).toEqual(expected);
    const [first] = batches.map((batch) => cutArrow(batch, CUT, shape));
    expect(await printed(first === undefined ? [] : [first], shape)).toEqual(expected.slice(0, CUT));
    const json = { rows: ROWS, header: null, body: Buffer.from(texts.join('')) };
    expect(cutJson(json, CUT).body.toString()).toBe(texts.slice(0, CUT).join(''));
  }
});

test('a moment of its own is printed in ISO 8601, as DuckDB prints it', async () => {
  const duckdb = await (await DuckDBInstance.create(':memory:', { threads: '1' })).connect();
  await duckdb.run(`SET TimeZone = '${ZONE}'`);
  using instance = Instance.open({ threads: '1' });
  using connection = instance.connect();
  const sql = `SELECT unnest([TIMESTAMPTZ '2026-11-05 06:07:08.9+00', TIMESTAMPTZ '1969-12-31 23:59:59.0014+00', NULL]) AS v`;
  const type = { kind: 'scalar', name: 'TIMESTAMP WITH TIME ZONE' } as const;
  const columns = [{ name: 'v', typeName: '', type, isMoment: true }] as const;
  const texts = (await duckdb.runAndReadAll(sqlOf(jsonRows([sql], columns, 'many')))).getRows().map(String);
  expect(texts).toEqual([',["2026-11-05T06:07:08.900Z"]', ',["1969-12-31T23:59:59.001Z"]', ',[null]']);
  const batches = batchesOf(Buffer.from(queryArrow(connection, sqlOf(arrowRows([sql], [type])), instance).stream));
  expect(await printed(batches, { columns, timeZone: ZONE })).toEqual(JSON.parse(`[${texts.join('').slice(1)}]`));
});
