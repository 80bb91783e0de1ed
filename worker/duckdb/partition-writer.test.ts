import { tableFromIPC } from 'apache-arrow';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { decodeFlightData, headerOf } from '#shared/flight/flight-data.ts';
import { encodeArrowMessage, encodeNative, freeMessage, type NativeMessage } from '../batch/arrow-message.ts';
import { arrowBuffer } from './arrow-buffer.ts';
import { ArrowInput, type ArrowRows } from './arrow-in.ts';
import { ArrowForm, schemaMessage } from './arrow-out.ts';
import { InputCallbacks, InputFunctions } from './input-functions.ts';
import { Instance, type Connection } from './instance.ts';
import { readBatch, readSchema } from './ipc-message.ts';
import { readBytes } from './memory.ts';
import { PartitionWriter } from './partition-writer.ts';
import { destroyChunk, PreparedStatement, Statement } from './statement.ts';
import { queryArrow } from '#test/support/duckdb-ipc.ts';
import { sourceSql, TYPES } from '#test/support/duckdb-types.ts';

let instance: Instance;
let connection: Connection;
let functions: InputFunctions;

beforeAll(() => {
  instance = Instance.open({ threads: '1' });
  connection = instance.connect();
  connection.run(
    "SET arrow_lossless_conversion = true; SET arrow_output_version = '1.5'; SET errors_as_json = true; SET TimeZone = 'UTC'",
  );
  functions = new InputFunctions(connection, new InputCallbacks());
});

afterAll(() => {
  functions[Symbol.dispose]();
  connection[Symbol.dispose]();
  instance[Symbol.dispose]();
});

type Divided = {
  readonly partitions: readonly (NativeMessage & { readonly rows: number })[][];
  readonly schema: Uint8Array;
  readonly dictionaries: readonly Uint8Array[];
};

/** Runs a query whose last column is the partition, and keeps its messages as a worker does. */
function divide(sql: string, count: number): Divided {
  const partitions: (NativeMessage & { readonly rows: number })[][] = Array.from({ length: count }, () => []);
  const dictionaries: Uint8Array[][] = Array.from({ length: count }, () => []);
  using prepared = new PreparedStatement(connection, sql);
  using statement = new Statement(prepared);
  while (statement.step() !== 'ready');
  using form = ArrowForm.exact(statement.result, () => instance.arrowWithoutViews());
  using writer = new PartitionWriter(statement.result, form, count);
  const send: Parameters<PartitionWriter['append']>[1] = (partition, message) => {
    if (message.kind === 'batch') partitions[partition]?.push({ ...encodeNative(message), rows: message.rows });
    else dictionaries[partition]?.push(encodeArrowMessage(message));
  };
  for (let chunk = statement.fetch(); chunk !== undefined; chunk = statement.fetch()) {
    writer.append(chunk, send);
    destroyChunk(chunk);
  }
  writer.flush(send);
  const schema = encodeArrowMessage(schemaMessage(form.fields.slice(0, -1)));
  return { partitions, schema, dictionaries: dictionaries.find((list) => list.length > 0) ?? [] };
}

function rowsOf(
  { partitions, schema, dictionaries }: Divided,
  wanted: readonly number[] = partitions.map((_, i) => i),
): ArrowRows {
  const messages = wanted.flatMap((partition) => partitions[partition] ?? []);
  return {
    fields: readSchema(decodeFlightData(schema).header),
    dictionaries: dictionaries.map((message) => {
      const { header, body } = decodeFlightData(message);
      const copy = arrowBuffer(body.slice());
      return readBatch(header, copy);
    }),
    rows: messages.reduce((sum, { rows }) => sum + rows, 0),
    batches: messages.map(({ start, bytes, bodyOffset }) =>
      readBatch(headerOf(readBytes(start, bodyOffset)), {
        address: start + BigInt(bodyOffset),
        bytes: bytes - bodyOffset,
        owner: undefined,
      }),
    ),
  };
}

const free = ({ partitions }: Divided): void => partitions.flat().forEach(freeMessage);
const read = (sql: string): unknown[] =>
  tableFromIPC(queryArrow(connection, sql).stream)
    .toArray()
    .map((row: { toJSON(): unknown }) => row.toJSON());
/** A digest of all rows, and their number. */
const digest = (table: string): unknown[] =>
  read(
    `SELECT count(*) AS c, md5(string_agg(i || '|' || coalesce(v::VARCHAR, '~'), ';' ORDER BY i)) AS m FROM ${table}`,
  );

describe('every type, divided and read again', () => {
  test.each(TYPES)('%s', (type, values) => {
    connection.run(`CREATE OR REPLACE TABLE source AS ${sourceSql(type, values)}`);
    const divided = divide('SELECT i, v, hash(i) % 5 AS p FROM source', 5);
    using input = new ArrowInput(connection, rowsOf(divided));
    functions.set(0, input);
    expect(digest(`(SELECT i, CAST(v AS ${type}) AS v FROM skein_input_0())`)).toEqual(digest('source'));
    void [...input.fillTable('copied', ['BIGINT', type])];
    expect(digest('copied')).toEqual(digest('source'));
    for (const partition of [0, 1, 2, 3, 4]) {
      using one = new ArrowInput(connection, rowsOf(divided, [partition]));
      functions.set(1, one);
      const [row] = read(
        `SELECT count(*) AS c, count(*) FILTER (hash(i) % 5 <> ${partition}) AS w FROM skein_input_1()`,
      );
      expect(row).toEqual({ c: BigInt(one.rows), w: 0n });
    }
    functions.clear();
    free(divided);
  });
});

describe('partitions', () => {
  const digestOf = (divided: Divided, partitions?: readonly number[]): unknown[] => {
    using input = new ArrowInput(connection, rowsOf(divided, partitions));
    functions.set(0, input);
    const rows = digest('skein_input_0()');
    functions.clear();
    return rows;
  };

  test.each(['UTINYINT', 'USMALLINT', 'UINTEGER', 'UBIGINT'])('are named by a %s', (type) => {
    const divided = divide(`SELECT i, i AS v, (i % 3)::${type} AS p FROM range(10000) t(i)`, 3);
    expect(divided.partitions.map((list) => list.reduce((sum, { rows }) => sum + rows, 0))).toEqual([3334, 3333, 3333]);
    free(divided);
  });

  test('may be empty, or have one row', () => {
    const divided = divide('SELECT i, i AS v, (CASE i WHEN 7 THEN 2 ELSE 5 END)::UINTEGER AS p FROM range(9) t(i)', 7);
    expect(divided.partitions.map((list) => list.map(({ rows }) => rows))).toEqual([[], [], [1], [], [], [8], []]);
    expect(digestOf(divided, [2])).toEqual(digest('(SELECT 7 AS i, 7 AS v)'));
    expect(digestOf(divided, [0])).toEqual(digest('(SELECT 7 AS i, 7 AS v WHERE false)'));
    free(divided);
  });

  test('of no rows at all', () => {
    const divided = divide("SELECT 1 AS i, {'a': ['x']} AS v, 0::UINTEGER AS p WHERE false", 3);
    expect(divided.partitions.flat()).toEqual([]);
    expect(digestOf(divided)).toEqual(digest('(SELECT 1 AS i, NULL AS v WHERE false)'));
  });

  test('a thousand of them', () => {
    connection.run("CREATE OR REPLACE TABLE source AS SELECT i, 'row ' || i AS v FROM range(300000) t(i)");
    const divided = divide('SELECT i, v, hash(i) % 1000 AS p FROM source', 1_000);
    expect(divided.partitions.filter((list) => list.length > 0)).toHaveLength(1_000);
    expect(digestOf(divided)).toEqual(digest('source'));
    free(divided);
  });

  test('of texts that are longer than a batch', () => {
    connection.run("CREATE OR REPLACE TABLE source AS SELECT i, repeat('x' || i, 2500000) AS v FROM range(9) t(i)");
    const divided = divide('SELECT i, v, (i % 2)::UINTEGER AS p FROM source', 2);
    using input = new ArrowInput(connection, rowsOf(divided));
    functions.set(0, input);
    const lengths = 'SELECT i, length(v) AS l, md5(v) AS m FROM';
    expect(read(`${lengths} skein_input_0() ORDER BY i`)).toEqual(read(`${lengths} source ORDER BY i`));
    functions.clear();
    free(divided);
  });

  test('have batches of one to four megabytes', () => {
    const wide = divide("SELECT i, 'some text of a row ' || i AS v, hash(i) % 4 AS p FROM range(400000) t(i)", 4);
    const sizes = wide.partitions.flat().map(({ bytes }) => bytes);
    expect(Math.max(...sizes)).toBeLessThan(4e6);
    expect(sizes.reduce((sum, bytes) => sum + bytes, 0) / sizes.length).toBeGreaterThan(1e6);
    free(wide);
  });

  test.each([
    ['SELECT 1 AS i, 5::UINTEGER AS p', 'a partition that there is not'],
    ['SELECT 1 AS i, 4294967296::UBIGINT AS p', 'a partition that there is not'],
    ['SELECT 1 AS i, NULL::UINTEGER AS p', 'no partition'],
    ['SELECT 1 AS i, 1::DOUBLE AS p', 'unsigned integer'],
    ['SELECT 1::UINTEGER AS p', 'needs columns'],
  ])('%s is refused', (sql, message) => {
    expect(() => divide(sql, 5)).toThrow(message);
  });
});
