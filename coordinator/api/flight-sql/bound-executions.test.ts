import { Int32, Schema, Field } from 'apache-arrow';
import { expect, test } from 'vitest';
import { fewerInserts, insertOfAll, type BoundExecution } from './bound-executions.ts';
import type { PreparedHandle } from './prepared-handles.ts';

/** A statement with many bound rows, of as many columns as its text has parameters. */
function prepared(sql: string, count = 1_000): PreparedHandle {
  const names = [...sql.matchAll(/\?/g)].map((_, i) => String(i + 1));
  const parameters = names.map((name) => ({ name, type: { kind: 'scalar', name: 'VARCHAR' } as const }));
  const schema = new Schema(names.map((name) => new Field(name, new Int32(), true)));
  return {
    sql,
    transaction: undefined,
    description: { kind: 'count', tag: 'INSERT', parameters },
    bound: { schema, batches: [], count, bytes: 0 },
  };
}

test.each([
  ['INSERT INTO t VALUES (?, ?)', 'INSERT INTO t SELECT c0, c1 FROM @rows/arrived'],
  ['insert into t (b, a) values ( ? , 1 );', 'insert into t (b, a) SELECT c0, 1 FROM @rows/arrived'],
  [
    "INSERT INTO t VALUES (?::DECIMAL(10, 2), 'a, b', cast(? AS TIMESTAMP WITH TIME ZONE), null, -1.5)",
    "INSERT INTO t SELECT c0 :: DECIMAL ( 10 , 2 ), 'a, b', cast ( c1 AS TIMESTAMP WITH TIME ZONE ), null, -1.5 FROM @rows/arrived",
  ],
])('%s reads its rows as a table', (sql, expected) => {
  expect(insertOfAll(prepared(sql))).toBe(expected);
});

test.each([
  'INSERT INTO t VALUES (? + 1)',
  'INSERT INTO t VALUES (lower(?))',
  'INSERT INTO t VALUES (count(?::INT))',
  'INSERT INTO t VALUES (?, 1 + 1)',
  'INSERT INTO t VALUES (?, DEFAULT)',
  'INSERT INTO t VALUES ((SELECT ?))',
  'INSERT INTO t VALUES (?) RETURNING x',
  'INSERT INTO t BY NAME VALUES (?)',
  'INSERT INTO t SELECT ?',
  'UPDATE t SET x = ?',
])('%s does not', (sql) => {
  expect(insertOfAll(prepared(sql))).toBeUndefined();
});

test('few rows stay in the text', () => {
  expect(insertOfAll(prepared('INSERT INTO t VALUES (?)', 499))).toBeUndefined();
});

/** Executions of an INSERT of one number; `onMade` is told of each that is made. */
function* numbers(count: number, onMade: (i: number) => void): Generator<BoundExecution, void> {
  for (let i = 0; i < count; i += 1) {
    onMade(i);
    yield {
      sql: 'INSERT INTO t VALUES (? + 1)',
      parameters: { kind: 'positional', values: [{ type: null, value: { digits: String(i) } }] },
    };
  }
}

const valuesOf = (execution: BoundExecution | void): number =>
  execution?.parameters?.kind === 'positional' ? execution.parameters.values.length : 0;

test('many rows become few texts, and no more of them are there than a text takes', () => {
  let made = 0;
  const count = 200_000;
  const all = numbers(count, (i) => (made = i + 1));
  const texts = fewerInserts({ count, all }, 'INSERT INTO t VALUES (? + 1)');
  const first = texts.next().value;
  expect(first?.sql.startsWith('INSERT INTO t VALUES (? + 1), (? + 1), ')).toBe(true);
  expect(made).toBeLessThan(count);
  let rows = valuesOf(first);
  for (const text of texts) rows += valuesOf(text);
  expect(rows).toBe(count);
});

test('one row stays as it is', () => {
  const all = numbers(1, () => undefined);
  expect([...fewerInserts({ count: 1, all }, 'INSERT INTO t VALUES (? + 1)')].map(({ sql }) => sql)).toEqual([
    'INSERT INTO t VALUES (? + 1)',
  ]);
});
