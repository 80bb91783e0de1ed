import { expect, test } from 'vitest';
import { openFixture } from './fixture.ts';
import { DuckdbEngine } from './duckdb-engine.ts';
import { runSlt } from './run-slt.ts';
import { parseSlt } from './slt-file.ts';

const run = async (text: string): Promise<readonly string[]> => {
  const connection = await openFixture();
  try {
    return await runSlt(parseSlt(text, { name: 'Ada' }), new DuckdbEngine(connection));
  } finally {
    connection.closeSync();
  }
};

test('right answers pass, in every sort mode and layout', async () => {
  const text = `
query IT
SELECT 1, 'x' UNION ALL SELECT 2, NULL
----
1\tx
2\tNULL

query I rowsort
SELECT * FROM (VALUES (3), (1)) v(x)
----
1
3

query II valuesort
SELECT 2, 1
----
1
2

query R
SELECT 0.1::DOUBLE + 0.2::DOUBLE
----
0.3

query II colnames
SELECT 1 AS a, 2 AS b WHERE false
----
a\tb

query TI rowsort colnames
SELECT * FROM (VALUES ('b', 2), ('a', 1)) v(x, y)
----
x\ty
a\t1
b\t2

query TI
SELECT 'rows=7', 2
----
<REGEX>:rows=\\d+\t2

statement error 42703
SELECT nothing

onlyif skein
query I
SELECT 1
----
2

query I
SELECT count(*) FROM t.employees WHERE name = '\${name}' AND length('\${repeat('ab', 3)}') = 6
----
1
`;
  expect(await run(text)).toEqual([]);
});

test('a wrong value, count, width, name or pattern, a missing error and a surprising one are each reported', async () => {
  const text = `
query I
SELECT 1
----
2

query I
SELECT 1
----

query II
SELECT 1
----
1\t1

statement error 42601
SELECT 1

statement ok
SELECT nothing

query R
SELECT 1.0001
----
1.0002

query II
SELECT 1 WHERE false
----

query I colnames
SELECT 1 AS a
----
b
1

query T
SELECT 'many rows=7'
----
<REGEX>:rows=\\d+
`;
  const failures = await run(text);
  expect(failures.map((failure) => failure.split(':')[0])).toEqual([
    'line 2',
    'line 7',
    'line 11',
    'line 16',
    'line 19',
    'line 22',
    'line 27',
    'line 31',
    'line 37',
  ]);
});

test('a file that is not in the format is refused with its line', () => {
  expect(() => parseSlt('statement maybe\nSELECT 1')).toThrow('line 1');
  expect(() => parseSlt('statement error\nSELECT 1')).toThrow('line 1');
  expect(() => parseSlt('query I sorted\nSELECT 1')).toThrow('line 1');
  expect(() => parseSlt("\nquery I\nSELECT '${unknown}'\n----\n1")).toThrow('line 2: unknown name');
});
