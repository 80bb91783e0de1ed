import { afterAll, beforeAll, expect, test } from 'vitest';
import { Random } from '#test/fuzz/random.ts';
import type { Cluster } from '#test/support/cluster.ts';
import { bagDifferences } from '#test/support/compare-rows.ts';
import { openDoors, type Door, type Doors } from '#test/support/sql-doors.ts';
import { fixedSeed } from '#test/support/seed.ts';

const USERS = ['ann', 'max'] as const;
const PASSWORD = 'Battery-Staple-7';
const DISTRIBUTIONS = ['single', 'force'] as const;
type Options = {
  readonly tenant: string;
  readonly rounds: number;
  readonly queries: number;
  readonly doors: readonly Door[];
};

/**
 * Random policies on tables, and random queries of them: each gives the rows that it gives over plain tables of the visible, masked rows, through
 * every door, whole and divided, for whoever asks, or fails as it does there. `TEST_SEED` gives other ones.
 */
export function testRandomPolicies(open: () => Promise<Cluster>, { tenant, rounds, queries, doors }: Options): void {
  const S = `${tenant}.s`;
  let cluster: Cluster;
  let root: string;
  const opened = new Map<string, Doors>();
  const done = async (...statements: readonly string[]): Promise<void> => {
    for (const sql of statements) await cluster.sql(sql, { token: root });
  };

  beforeAll(async () => {
    cluster = await open();
    await cluster.cliOk(['admin', 'tenant', 'create', tenant, '--user', 'root']);
    await cluster.cliOk(['admin', 'catalog', 'create', tenant, '--tenant', tenant]);
    root = await cluster.token({ tenant, user: 'root' });
    for (const user of USERS) await done(`CREATE USER ${user} EMAIL '${user}@example.org' PASSWORD '${PASSWORD}'`);
    for (const user of USERS) {
      for (const distribution of DISTRIBUTIONS) {
        const settings = [`SET skein.distribution = '${distribution}'`];
        const who = { tenant, user, password: PASSWORD, settings };
        opened.set(`${user} ${distribution}`, await openDoors(cluster, who));
      }
    }
    await done(
      `CREATE SCHEMA ${S}`,
      `CREATE TABLE ${S}.m (who VARCHAR, k INT, s VARCHAR)`,
      `INSERT INTO ${S}.m SELECT CASE i % 3 WHEN 0 THEN 'ann' WHEN 1 THEN 'max' END, i % 5, 's' || (i % 4) FROM range(0, 12) r(i)`,
    );
  });
  afterAll(async () => {
    for (const one of opened.values()) await one.close();
  });

  test.each(Array.from({ length: rounds }, (_, round) => round))('round %i', async (round) => {
    const seed = fixedSeed() + round * 7919;
    const random = new Random(seed);
    const table = `${S}.t${round}`;
    await done(
      `CREATE TABLE ${table} (${COLUMNS})`,
      ...[0, 30].map(
        (from) => `INSERT INTO ${table} SELECT i, nullif(i % 6, 5), 's' || (i % 5), DATE '2024-01-01' + i::INT
        FROM range(${from}, ${from + 30}) r(i)`,
      ),
    );
    for (const user of USERS) {
      const { conditions, mask: masked } = policies(S, seed, `'${user}'`);
      const named = `SELECT id, k, s, d, k AS a, s AS b, s AS val FROM ${table}`;
      const seen = conditions.map((one) => `(${one})`).join(' AND ');
      await done(
        `CREATE TABLE ${table}_${user} AS SELECT id, k, ${masked === null ? 's' : `CAST((${masked}) AS VARCHAR) AS s`}, d
       FROM (${named}) ${seen === '' ? '' : `WHERE ${seen}`}`,
      );
    }
    const { conditions, mask: masked } = policies(S, seed, 'current_user()');
    for (const [i, body] of conditions.entries()) {
      await done(
        `CREATE ROW ACCESS POLICY ${table}_p${i} AS (a INT, b VARCHAR) RETURNS BOOLEAN -> ${body}`,
        `ALTER TABLE ${table} ADD ROW ACCESS POLICY ${table}_p${i} ON (k, s)`,
      );
    }
    if (masked !== null) {
      await done(
        `CREATE MASKING POLICY ${table}_m AS (val VARCHAR) RETURNS VARCHAR -> ${masked}`,
        `ALTER TABLE ${table} ALTER COLUMN s SET MASKING POLICY ${table}_m`,
      );
    }
    for (let n = 0; n < queries; n += 1) {
      const at = random.below(2 ** 31);
      for (const user of USERS) {
        for (const distribution of DISTRIBUTIONS) {
          const session = opened.get(`${user} ${distribution}`);
          if (session === undefined) throw new Error('no such session');
          for (const door of doors) {
            const expected = await session.query(door, query(new Random(at), `${table}_${user}`));
            const sql = query(new Random(at), table);
            const given = await session.query(door, sql);
            const found = { sql, user, distribution, door, conditions, masked, error: given.error };
            expect(found).toEqual({ ...found, error: expected.error });
            expect([found, bagDifferences(given.rows, expected.rows)]).toEqual([found, null]);
          }
        }
      }
    }
  });
}

const COLUMNS = 'id BIGINT, k INT, s VARCHAR, d DATE';

/** A policy's condition over `a` (an INT), `b` (a VARCHAR); `user` is how it says who asks. */
const condition = (S: string, random: Random, user: string): string =>
  random.pick([
    `a IN (SELECT m.k FROM ${S}.m AS m WHERE m.who = ${user})`,
    `EXISTS (SELECT 1 FROM ${S}.m AS m WHERE m.who = ${user} AND m.s = b)`,
    `a > (SELECT min(m.k) FROM ${S}.m AS m WHERE m.who = ${user})`,
    `a % ${2 + random.below(3)} <> 0 OR ${user} = 'ann'`,
    `b > 's${random.below(4)}' AND length(${user}) = 3`,
    `NOT (a = ${random.below(5)})`,
  ]);

const mask = (S: string, random: Random, user: string): string =>
  random.pick([
    `CASE WHEN ${user} = 'ann' THEN val ELSE 'hidden' END`,
    `left(val, 1) || '*'`,
    `(SELECT max(m.s) FROM ${S}.m AS m WHERE m.who = ${user} AND m.s <= val)`,
    'NULL',
  ]);

type Round = { readonly conditions: readonly string[]; readonly mask: string | null };

/** The same policies, by the text that says who asks. */
function policies(S: string, seed: number, user: string): Round {
  const random = new Random(seed);
  const conditions = Array.from({ length: random.below(3) }, () => condition(S, random, user));
  return { conditions, mask: conditions.length === 0 || random.chance(0.7) ? mask(S, random, user) : null };
}

/** Predicates of a user, some of which raise on some rows. */
const where = (random: Random, t: string): string =>
  random.pick([
    `${t}.id < ${random.below(60)}`,
    `${t}.k = ${random.below(5)}`,
    `${t}.s IN ('s1', 'hidden', 's*')`,
    `CAST(${t}.s AS VARCHAR) LIKE '${random.pick(['s%', 'h%', '%*'])}'`,
    `CAST(replace(${t}.s, 's', '') AS INTEGER) >= 0`,
    `${t}.d > DATE '2024-01-${10 + random.below(15)}'`,
    `length(${t}.s) = 2 AND ${t}.k IS NOT NULL`,
    'true',
  ]);

function query(random: Random, table: string): string {
  const [w, v] = [where(random, 't'), where(random, 'u')];
  return random.pick([
    `SELECT * FROM ${table} t WHERE ${w}`,
    `SELECT t.s, count(*), sum(t.id), max(t.d) FROM ${table} t WHERE ${w} GROUP BY ALL`,
    `SELECT count(*) FROM ${table} t`,
    `SELECT t.id, u.s FROM ${table} t JOIN ${table} u ON t.k = u.k WHERE ${w} AND ${v}`,
    `SELECT t.id, u.id FROM ${table} t LEFT JOIN (SELECT * FROM ${table} u WHERE ${v}) u ON t.s = u.s WHERE ${w}`,
    `SELECT t.id, row_number() OVER (PARTITION BY t.s ORDER BY t.id) FROM ${table} t WHERE ${w}`,
    `SELECT id, s FROM ${table} t WHERE ${w} ORDER BY id LIMIT ${1 + random.below(9)}`,
    `SELECT s FROM ${table} t WHERE ${w} UNION SELECT s FROM ${table} u WHERE ${v}`,
    `SELECT id FROM ${table} t WHERE ${w} EXCEPT SELECT id FROM ${table} u WHERE ${v}`,
    `WITH c AS (SELECT * FROM ${table} t WHERE ${w}) SELECT a.id, b.s FROM c a JOIN c b ON a.id = b.id + 1`,
    `SELECT t.id FROM ${table} t WHERE EXISTS (SELECT 1 FROM ${table} u WHERE u.k = t.k AND u.id > t.id AND ${v})`,
    `SELECT t.id, (SELECT max(u.s) FROM ${table} u WHERE u.k = t.k) FROM ${table} t WHERE ${w}`,
    `SELECT COLUMNS('[ks]') FROM ${table} t WHERE ${w}`,
    `SELECT t FROM ${table} t WHERE ${w}`,
    `PIVOT (SELECT s, id FROM ${table} t WHERE ${w}) ON s USING count(*)`,
    `SELECT x FROM ${table} t, LATERAL (SELECT t.id + 1 AS x) WHERE ${w}`,
  ]);
}
