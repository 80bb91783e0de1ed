import { DuckDBInstance, type DuckDBConnection } from '@duckdb/node-api';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { Random } from '#test/fuzz/random.ts';
import type { Cluster } from '#test/support/cluster.ts';
import { sharedCluster } from '#test/support/resources.ts';
import { fixedSeed } from '#test/support/seed.ts';

/**
 * Random DELETE, UPDATE, MERGE and INSERT on tables of the cluster and on DuckDB's own: the same statements, the same rows and counts after
 * each, the same rows of RETURNING. `TEST_SEED` gives other ones.
 */
const SCHEMA = 'lake.dml_random';
const STATEMENTS = 16;
const TABLES = {
  plain: '',
  parts: "PARTITIONED BY (bucket(3, id), k) WITH ('write.delete.mode' = 'copy-on-write')",
  lists: "PARTITIONED BY (month(d)) WITH ('format-version' = '2', @)",
  vectors: "PARTITIONED BY (k) WITH ('format-version' = '3', @)",
} as const;
const MARKED = ['delete', 'update', 'merge'].map((verb) => `'write.${verb}.mode' = 'merge-on-read'`).join(', ');
const COLUMNS = 'id BIGINT, k INTEGER, s VARCHAR, d DATE';

let cluster: Cluster;
let duckdb: DuckDBConnection;
beforeAll(async () => {
  ({ cluster } = await sharedCluster());
  duckdb = await (await DuckDBInstance.create()).connect();
  await cluster.sql(`CREATE SCHEMA ${SCHEMA}`);
  await both(`CREATE TABLE @.other (${COLUMNS})`);
  await both("INSERT INTO @.other SELECT i * 3, i % 5, 'o' || i, DATE '2024-01-01' + i::INT FROM range(40) AS r(i)");
});
afterAll(async () => {
  for (const table of [...Object.keys(TABLES), 'other']) await cluster.sql(`DROP TABLE ${SCHEMA}.${table} PURGE`);
  await cluster.sql(`DROP SCHEMA ${SCHEMA}`);
  duckdb.closeSync();
});

const inDuckDb = async (sql: string): Promise<readonly (readonly unknown[])[]> =>
  (await duckdb.runAndReadAll(sql.replaceAll('@', 'main'))).getRowsJson();

/** The counts of both. */
async function both(sql: string): Promise<readonly [number, number]> {
  const [ours] = await cluster.sql(sql.replaceAll('@', SCHEMA));
  const [theirs] = await inDuckDb(sql);
  return [Number(ours?.[0]), Number(theirs?.[0])];
}

/** A condition on the columns of `t`, which may be NULL. */
function condition(random: Random, depth = 0): string {
  if (depth < 2 && random.chance(0.4)) {
    const [a, b] = [condition(random, depth + 1), condition(random, depth + 1)];
    return random.chance(0.2) ? `NOT (${a})` : `(${a} ${random.pick(['AND', 'OR'])} ${b})`;
  }
  const from = random.below(120);
  return random.pick([
    `t.id BETWEEN ${from} AND ${from + random.below(30)}`,
    `t.id % ${2 + random.below(5)} = ${random.below(3)}`,
    `t.k = ${random.below(5)}`,
    't.k IS NULL',
    `t.s > 'n${random.below(100)}'`,
    `t.d < DATE '2024-01-01' + ${random.below(150)}`,
    't.d IS NULL',
    `t.id IN (SELECT o.id FROM @.other AS o WHERE o.k = ${random.below(5)})`,
    `EXISTS (SELECT 1 FROM @.other AS o WHERE o.id = t.id + ${random.below(4)})`,
    `t.id > (SELECT avg(x.id) FROM @.TABLE AS x)`,
  ]);
}

const SETS = {
  k: (random: Random) =>
    random.pick(['t.k + 1', 'NULL', `${random.below(5)}`, 't.id % 5', '(SELECT max(o.k) FROM @.other AS o)']),
  s: (random: Random) => random.pick(["t.s || 'x'", 'NULL', "'n' || t.id", 'CAST(t.k AS VARCHAR)', 't.id']),
  d: (random: Random) => random.pick([`t.d + ${random.below(40)}`, 'NULL', "DATE '2024-02-29'"]),
};

function set(random: Random): string {
  const columns = (['k', 's', 'd'] as const).filter(() => random.chance(0.5));
  return (columns.length === 0 ? (['k'] as const) : columns).map((one) => `${one} = ${SETS[one](random)}`).join(', ');
}

function statement(random: Random, next: number): string {
  const where = random.chance(0.9) ? ` WHERE ${condition(random)}` : '';
  const rows = `SELECT i, i % 5, 'n' || i, DATE '2024-01-01' + (i % 150)::INT FROM range(${next}, ${next + 1 + random.below(30)}) AS r(i)`;
  const matched = `WHEN MATCHED AND ${condition(random)} THEN ${random.chance(0.4) ? 'DELETE' : `UPDATE SET ${set(random)}`}`;
  const source = random.chance(0.3) ? ` WHEN NOT MATCHED BY SOURCE AND ${condition(random)} THEN DELETE` : '';
  const insert = random.chance(0.6) ? ' WHEN NOT MATCHED THEN INSERT (id, s, k) VALUES (o.id, o.s, o.k + 1)' : '';
  return random.pick([
    `INSERT INTO @.TABLE ${rows}`,
    `DELETE FROM @.TABLE AS t WHERE ${condition(random)}`,
    `DELETE FROM @.TABLE AS t WHERE (${condition(random)}) AND (${condition(random)})`,
    `DELETE FROM @.TABLE AS t USING @.other AS o WHERE o.id = t.id + ${random.below(3)} AND (${condition(random)})`,
    `UPDATE @.TABLE AS t SET ${set(random)}${where}`,
    `UPDATE @.TABLE AS t SET s = o.s, k = o.k FROM @.other AS o WHERE o.id = t.id AND (${condition(random)})`,
    `MERGE INTO @.TABLE AS t USING @.other AS o ON t.id = o.id ${matched} WHEN MATCHED THEN UPDATE SET d = o.d${insert}${source}`,
  ]);
}

test.each(Object.entries(TABLES))(
  'table %s has the rows that DuckDB has after each statement',
  async (table, more) => {
    const random = new Random(fixedSeed() + table.length);
    await cluster.sql(`CREATE TABLE ${SCHEMA}.${table} (${COLUMNS}) ${more.replace('@', MARKED)}`);
    await inDuckDb(`CREATE TABLE @.${table} (${COLUMNS})`);
    const fill = `INSERT INTO @.${table} SELECT i, i % 6, 'n' || i, DATE '2024-01-01' + (i % 100)::INT FROM range(100) AS r(i)`;
    await both(fill);
    await both(`INSERT INTO @.${table} VALUES (100, NULL, NULL, NULL), (101, 1, NULL, NULL)`);
    const done: string[] = [];
    for (let i = 0; i < STATEMENTS; i += 1) {
      const sql = statement(random, 200 + i * 40).replaceAll('TABLE', table);
      done.push(sql);
      const columns = 'id::INT, k, s, d::VARCHAR';
      const rows = `SELECT ${columns} FROM`;
      const sorted = (all: readonly (readonly unknown[])[]) => all.map((row) => JSON.stringify(row)).toSorted();
      if (!sql.startsWith('MERGE') && random.chance(0.5)) {
        const returned = await inDuckDb(`${sql} RETURNING ${columns}`);
        const answer = await cluster.sql(`${sql} RETURNING ${columns}`.replaceAll('@', SCHEMA));
        expect(sorted(answer), done.join(';\n')).toEqual(sorted(returned));
      } else {
        const [ours, theirs] = await both(sql);
        expect(ours, done.join(';\n')).toBe(theirs);
      }
      const expected = sorted(await inDuckDb(`${rows} @.${table}`));
      expect(sorted(await cluster.sql(`${rows} ${SCHEMA}.${table}`)), done.join(';\n')).toEqual(expected);
    }
  },
  120_000,
);
