import { tableFromIPC } from 'apache-arrow';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ArrowInput } from './arrow-in.ts';
import { InputCallbacks, InputFunctions, inputName } from './input-functions.ts';
import { Instance, type Connection } from './instance.ts';
import { queryArrow, type ArrowResult } from '#test/support/duckdb-ipc.ts';
import { sourceSql, TYPES } from '#test/support/duckdb-types.ts';

let functions: InputFunctions;
let instance: Instance;
let connection: Connection;
let target: Instance;
let other: Connection;

beforeAll(() => {
  instance = Instance.open({ threads: '1' });
  connection = instance.connect();
  target = Instance.open({ threads: '1' });
  other = target.connect();
  functions = new InputFunctions(other, new InputCallbacks());
  for (const each of [connection, other]) {
    each.run(
      "SET arrow_lossless_conversion = true; SET arrow_output_version = '1.5'; SET errors_as_json = true; SET TimeZone = 'UTC'",
    );
  }
});

afterAll(() => {
  connection[Symbol.dispose]();
  instance[Symbol.dispose]();
  other[Symbol.dispose]();
  target[Symbol.dispose]();
});

/** Some rows as DuckDB prints them, with their type, and a digest of all: what must survive. */
const printed = (from: Connection, table: string): unknown[] =>
  tableFromIPC(
    queryArrow(
      from,
      `SELECT i, typeof(v) AS t, v::VARCHAR AS v FROM ${table} WHERE i % 97 = 0 UNION ALL
       SELECT -1, '', md5(string_agg(coalesce(v::VARCHAR, '~'), '|' ORDER BY i)) FROM ${table} ORDER BY i`,
    ).stream,
  )
    .toArray()
    .map((row: { toJSON(): unknown }) => row.toJSON());

const load = (result: ArrowResult): ArrowInput => new ArrowInput(other, result);

describe('every type, out as Arrow and back into another instance', () => {
  test.each(TYPES)('%s', (type, values) => {
    connection.run(`CREATE OR REPLACE TABLE source AS ${sourceSql(type, values)}`);
    const result = queryArrow(connection, 'SELECT * FROM source', instance);
    using input = load(result);
    void [...input.fillTable('copied', ['BIGINT', type])];
    expect(printed(other, 'copied')).toEqual(printed(connection, 'source'));
    functions.set(0, input);
    const name = inputName(0);
    // A dictionary comes back as its values: only a column says that it is an ENUM.
    const typed = type.startsWith('ENUM') ? `(SELECT i, CAST(v AS ${type}) AS v FROM ${name}())` : `${name}()`;
    expect(printed(other, typed)).toEqual(printed(connection, 'source'));
  });

  test('an ENUM inside of another value goes out and is refused on the way in', () => {
    const result = queryArrow(connection, "SELECT ['q', NULL]::ENUM('p', 'q')[] AS v");
    expect(tableFromIPC(result.stream).get(0)?.['v']?.toJSON()).toEqual(['q', null]);
    expect(() => load(result)).toThrow(expect.objectContaining({ code: 'NOT_SUPPORTED' }));
  });

  test('a result without rows', () => {
    using none = load(queryArrow(connection, "SELECT 1::BIGINT AS i, {'a': [1]} AS v WHERE false"));
    functions.set(0, none);
    expect(tableFromIPC(queryArrow(other, 'SELECT * FROM skein_input_0()').stream).numRows).toBe(0);
  });

  test('columns that a statement does not name are not touched, and the optimiser knows the rows', () => {
    using input = load(queryArrow(connection, "SELECT i, 'x' || i AS s, i * 2 AS d FROM range(70000) t(i)"));
    functions.set(1, input);
    const sums = tableFromIPC(queryArrow(other, 'SELECT sum(d)::BIGINT AS s FROM skein_input_1()').stream);
    expect(sums.get(0)?.['s']).toBe(BigInt(70_000 * 69_999));
    const plan = tableFromIPC(queryArrow(other, 'EXPLAIN SELECT s FROM skein_input_1()').stream);
    expect(String(plan.get(0)?.['explain_value'])).toContain('70,000 rows');
  });
});

describe('batches', () => {
  test('are what the Arrow library reads', () => {
    const { stream, batches } = queryArrow(
      connection,
      `SELECT i::INTEGER AS i, CASE WHEN i % 3 = 0 THEN NULL ELSE 'text ' || i END AS s, [i, NULL] AS l FROM range(200000) t(i) WHERE i % 7 < 5`,
    );
    const table = tableFromIPC(stream);
    expect(batches.length).toBeGreaterThan(2);
    const wanted = Array.from({ length: 200_000 }, (_, i) => i).filter((i) => i % 7 < 5);
    expect(table.numRows).toBe(wanted.length);
    const numbers = table.getChild('i');
    const texts = table.getChild('s');
    for (let row = 0; row < wanted.length; row += 97) {
      const i = wanted[row] ?? 0;
      expect(numbers?.get(row)).toBe(i);
      expect(texts?.get(row)).toBe(i % 3 === 0 ? null : `text ${i}`);
    }
  });

  test('are closed by bytes when rows are wide', () => {
    const { batches } = queryArrow(connection, "SELECT repeat('x', 10000) AS s FROM range(10000)");
    expect(batches.length).toBeGreaterThan(4);
    for (const batch of batches) expect(batch.rows).toBeLessThanOrEqual(2048);
  });
});
