import { DuckDBInstance, type DuckDBConnection } from '@duckdb/node-api';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Json } from '#shared/json.ts';
import { parseFields, type Field } from '#shared/iceberg/type.ts';
import { missingValues } from './missing-values.ts';

let connection: DuckDBConnection;
beforeAll(async () => {
  connection = await (await DuckDBInstance.create(':memory:')).connect();
});
afterAll(() => connection.closeSync());

const struct = (...fields: readonly Json[]): Json => ({ type: 'struct', fields });
const field = (id: number, name: string, type: Json, required: boolean) => ({ id, name, type, required });
const list = (id: number, element: Json, required: boolean): Json => ({
  type: 'list',
  'element-id': id,
  element,
  'element-required': required,
});

const COLUMN = field(
  1,
  "it's",
  struct(
    field(2, 'a', 'int', true),
    field(3, 'l', list(4, struct(field(5, 'b', 'int', true), field(6, 'c', 'int', false)), false), false),
    field(
      7,
      'm',
      {
        type: 'map',
        'key-id': 8,
        key: 'string',
        'value-id': 9,
        value: list(10, 'int', true),
        'value-required': true,
      },
      false,
    ),
  ),
  false,
);

/** The places that a value lacks. */
async function missingOf(value: string, required = false): Promise<readonly string[]> {
  const [column] = parseFields([{ ...COLUMN, required }]) as readonly [Field];
  const type = 'STRUCT(a INT, l STRUCT(b INT, c INT)[], m MAP(VARCHAR, INT[]))';
  const places = missingValues(column, 'v');
  const list = places.map(({ sql }) => sql).join(', ');
  const answer = await connection.runAndReadAll(`SELECT ${list} FROM (SELECT (${value})::${type} AS v)`);
  const [row = []] = answer.getRows();
  return places.filter((_, i) => row[i] === true).map(({ path }) => path);
}

test.each<[string, readonly string[]]>([
  ['NULL', []],
  ["{'a': 1, 'l': NULL, 'm': NULL}", []],
  ["{'a': NULL, 'l': NULL, 'm': NULL}", ["it's.a"]],
  ["{'a': 1, 'l': [], 'm': MAP {}}", []],
  ["{'a': 1, 'l': [NULL, {'b': 1, 'c': NULL}], 'm': MAP {'x': [1, 2], 'y': []}}", []],
  ["{'a': 1, 'l': [{'b': 1, 'c': 1}, {'b': NULL, 'c': 1}], 'm': NULL}", ["it's.l.element.b"]],
  ["{'a': 1, 'l': NULL, 'm': MAP {'x': [1], 'y': NULL}}", ["it's.m.value"]],
  ["{'a': NULL, 'l': NULL, 'm': MAP {'x': [1], 'y': [1, NULL]}}", ["it's.a", "it's.m.value.element"]],
])('%s lacks %j', async (value, expected) => {
  expect(await missingOf(value)).toEqual(expected);
});

test('a required column comes first', async () => {
  expect(await missingOf('NULL', true)).toEqual(["it's"]);
});
