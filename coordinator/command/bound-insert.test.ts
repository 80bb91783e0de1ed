import { expect, test } from 'vitest';
import { fewerInserts, insertOfArrived, isInsertOfOneRow, type BoundExecution } from './bound-insert.ts';

test.each([
  ['INSERT INTO t VALUES (?, ?)', 'INSERT INTO t SELECT c0, c1 FROM @rows/arrived'],
  ['insert into t (b, a) values ( ? , 1 );', 'insert into t (b, a) SELECT c0, 1 FROM @rows/arrived'],
  [
    "INSERT INTO t VALUES (?::DECIMAL(10, 2), 'a, b', cast(? AS TIMESTAMP WITH TIME ZONE), null, -1.5)",
    "INSERT INTO t SELECT c0::DECIMAL(10, 2), 'a, b', cast(c1 AS TIMESTAMP WITH TIME ZONE), null, -1.5 FROM @rows/arrived",
  ],
  ["INSERT INTO t VALUES ($2, '$1', $1::INT)", "INSERT INTO t SELECT c1, '$1', c0::INT FROM @rows/arrived"],
  ['INSERT INTO "values" VALUES (?)', 'INSERT INTO "values" SELECT c0 FROM @rows/arrived'],
])('%s reads its rows as a table', (sql, expected) => {
  expect(insertOfArrived(sql, 1_000)).toBe(expected);
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
  'INSERT INTO t VALUES ($named)',
  'INSERT INTO t VALUES (?), (?)',
  'INSERT INTO t VALUES (?) ORDER BY 1',
  'INSERT INTO t VALUES (?::INT))',
  'UPDATE t SET x = ?',
])('%s does not', (sql) => {
  expect(insertOfArrived(sql, 1_000)).toBeUndefined();
});

test('few rows stay in the text', () => {
  expect(insertOfArrived('INSERT INTO t VALUES (?)', 499)).toBeUndefined();
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

const text = (digits: string) => ({ type: null, value: { digits } });
const positional = (...values: readonly string[]) => ({ kind: 'positional', values: values.map(text) }) as const;

test('values by number go to the places of the row, each as often as it is named', () => {
  const sql = "INSERT INTO t VALUES ($2, $1 + $2, '$1');";
  const all = [positional('1', '2'), positional('3', '4')].map((parameters) => ({ sql, parameters }));
  expect([...fewerInserts({ count: 2, all }, sql)]).toEqual([
    {
      sql: "INSERT INTO t VALUES (?, ? + ?, '$1'), (?, ? + ?, '$1')",
      parameters: positional('2', '1', '2', '4', '3', '4'),
    },
  ]);
});

test('a row of too few values is refused', () => {
  const sql = 'INSERT INTO t VALUES ($2, $1)';
  const all = [positional('1', '2'), positional('3')].map((parameters) => ({ sql, parameters }));
  expect(() => [...fewerInserts({ count: 2, all }, sql)]).toThrow('the statement has 2 parameters');
});

test.each([
  ['INSERT INTO t VALUES ($1, 2)', true],
  ['insert into t (a) values (? + 1)', true],
  ['INSERT OVERWRITE INTO t VALUES ($1)', false],
  ['INSERT OVERWRITE TABLE t VALUES ($1)', false],
  ['INSERT INTO t SELECT $1', false],
  ['INSERT INTO t VALUES ($1), ($2)', false],
  ['INSERT INTO t VALUES ($1) RETURNING a', false],
  ['SELECT $1', false],
])('each execution of %s adds one row: %s', (sql, is) => {
  expect(isInsertOfOneRow(sql)).toBe(is);
});
