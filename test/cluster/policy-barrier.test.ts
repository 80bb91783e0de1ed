import { randomUUID } from 'node:crypto';
import { beforeAll, describe, expect, test } from 'vitest';
import type { Json } from '#shared/json.ts';
import type { Cluster } from '#test/support/cluster.ts';
import { sharedCluster } from '#test/support/resources.ts';

/** Rows and values that policies hide, asked for through every kind of statement. */
const T = 'policy_barrier';
const S = `${T}.s`;
let cluster: Cluster;
type Session = { readonly token: string; readonly sessionId: string };
const sessions = new Map<string, Promise<Session>>();

async function openSession(user: string, distribution: string): Promise<Session> {
  const session = { token: await cluster.token({ tenant: T, user }), sessionId: randomUUID() };
  await cluster.sql(`SET skein.distribution = '${distribution}'`, session);
  return session;
}

type Answer = { readonly rows: readonly (readonly Json[])[]; readonly failure: string; readonly message: string };

/** `force` has the query divided. */
async function run(sql: string, user = 'ann', distribution = 'auto'): Promise<Answer> {
  const key = `${user}-${distribution}`;
  const known = sessions.get(key) ?? openSession(user, distribution);
  sessions.set(key, known);
  const { body } = await cluster.query(sql, await known);
  const failure = body.error === undefined ? 'done' : `${body.sql_state} ${body.error}`;
  return { rows: body.rows ?? [], failure, message: body.message ?? '' };
}
async function done(...statements: readonly string[]): Promise<void> {
  for (const sql of statements) {
    const { failure, message } = await run(sql, 'root');
    expect([sql, failure, message]).toEqual([sql, 'done', message]);
  }
}
/** The rows, which are the same whether the query runs whole or divided. */
async function rows(sql: string, user = 'ann'): Promise<Answer['rows']> {
  const whole = await run(sql, user, 'single');
  const divided = await run(sql, user, 'force');
  expect([sql, whole.failure, whole.message]).toEqual([sql, 'done', '']);
  expect([sql, divided.failure, divided.message]).toEqual([sql, 'done', '']);
  expect(sorted(divided.rows)).toEqual(sorted(whole.rows));
  return whole.rows;
}
const sorted = (all: Answer['rows']): readonly string[] => all.map((row) => JSON.stringify(row)).toSorted();

beforeAll(async () => {
  ({ cluster } = await sharedCluster());
  await cluster.cliOk(['admin', 'tenant', 'create', T, '--user', 'root']);
  await cluster.cliOk(['admin', 'catalog', 'create', T, '--tenant', T]);
  await done(
    `CREATE SCHEMA ${S}`,
    `CREATE USER ann EMAIL 'ann@example.org' PASSWORD 'Battery-Staple-7'`,
    `CREATE USER max EMAIL 'max@example.org' PASSWORD 'Battery-Staple-7'`,
    `CREATE TABLE ${S}.m (who VARCHAR, region VARCHAR)`,
    `INSERT INTO ${S}.m VALUES ('ann', 'eu'), ('ann', 'us'), ('max', 'us')`,
    `CREATE TABLE ${S}.t (id INT, region VARCHAR, card VARCHAR, amount BIGINT)`,
    `INSERT INTO ${S}.t VALUES (1, 'eu', '1111', 10), (2, 'us', '2222', 20), (3, 'asia', 'x', 0), (4, NULL, 'y', 0)`,
    `INSERT INTO ${S}.t SELECT i, 'eu', CAST(i AS VARCHAR), i FROM range(5, 9) r(i)`,
    `CREATE ROW ACCESS POLICY ${S}.own AS (r VARCHAR) RETURNS BOOLEAN -> current_user() = 'root' OR EXISTS (SELECT 1 FROM ${S}.m WHERE who = current_user() AND region = r)`,
    `CREATE MASKING POLICY ${S}.cards AS (val VARCHAR, a BIGINT) RETURNS VARCHAR -> CASE WHEN a > 15 OR current_user() = 'root' THEN val ELSE 'hidden' END`,
    `ALTER TABLE ${S}.t ADD ROW ACCESS POLICY ${S}.own ON (region)`,
    `ALTER TABLE ${S}.t ALTER COLUMN card SET MASKING POLICY ${S}.cards USING (card, amount)`,
  );
});

describe('a reader', () => {
  test('sees visible rows and masked values, whoever asks', async () => {
    expect(await rows(`SELECT id, card FROM ${S}.t WHERE id < 5 ORDER BY id`)).toEqual([
      [1, 'hidden'],
      [2, '2222'],
    ]);
    expect(await rows(`SELECT id, card FROM ${S}.t ORDER BY id`, 'max')).toEqual([[2, '2222']]);
    expect(await rows(`SELECT count(*) FROM ${S}.t`, 'max')).toEqual([[1]]);
    expect(await rows(`SELECT count(*), sum(amount) FROM ${S}.t`, 'root')).toEqual([[8, '56']]);
    expect(await rows(`SELECT * FROM ${S}.t WHERE card = '1111'`)).toEqual([]);
  });

  test('evaluates nothing over a hidden row or a raw value', async () => {
    const N = `${S}.n`;
    await done(
      `CREATE TABLE ${N} (id INT, region VARCHAR, note VARCHAR, card VARCHAR, inner_ STRUCT(code VARCHAR))`,
      `INSERT INTO ${N} SELECT i, CASE i % 3 WHEN 0 THEN 'asia' ELSE 'eu' END, CASE i % 3 WHEN 0 THEN 'secret' ELSE CAST(i AS VARCHAR) END,
       'raw', {'code': CASE i % 3 WHEN 0 THEN 'secret' ELSE '7' END} FROM range(0, 300) r(i)`,
      `CREATE MASKING POLICY ${S}.zero AS (val VARCHAR) RETURNS VARCHAR -> '0'`,
      // Without a barrier DuckDB evaluates conditions of the statements before this one, which is a join.
      `CREATE TABLE ${S}.closed AS SELECT 'asia' AS area`,
      `CREATE ROW ACCESS POLICY ${S}.listed AS (r VARCHAR) RETURNS BOOLEAN -> NOT EXISTS (SELECT 1 FROM ${S}.closed WHERE area = r)`,
      `ALTER TABLE ${N} ADD ROW ACCESS POLICY ${S}.listed ON (region)`,
      `ALTER TABLE ${N} ALTER COLUMN card SET MASKING POLICY ${S}.zero`,
    );
    const cast = 'CAST(note AS INTEGER)';
    for (const sql of [
      `SELECT count(*) FROM ${N} WHERE ${cast} >= 0`,
      `SELECT count(*) FROM ${N} WHERE CAST(card AS INTEGER) = 0`,
      `SELECT count(*) FROM ${N} WHERE CAST(inner_.code AS INTEGER) = 7`,
      `SELECT count(*) FROM ${N} WHERE note LIKE 'secret%' AND error('seen') IS NULL`,
      `SELECT count(*) FROM ${N} WHERE CASE WHEN card <> '0' OR note = 'secret' THEN error(note) ELSE true END`,
      `SELECT count(*) FROM ${N} a JOIN ${N} b ON CAST(a.note AS INTEGER) = CAST(b.note AS INTEGER)`,
      `SELECT count(*) FROM ${N} a LEFT JOIN (VALUES (1), (2)) v(x) ON a.id = v.x AND CAST(a.note AS INTEGER) > 0`,
      `SELECT id FROM ${N} ORDER BY ${cast} LIMIT 3`,
      `SELECT count(*) FROM (SELECT * FROM ${N} LIMIT 1000) WHERE ${cast} >= 0`,
      `SELECT sum(${cast}), count(*) FILTER (${cast} > 5) FROM ${N}`,
      `SELECT max(x) FROM (SELECT row_number() OVER (ORDER BY ${cast}) AS x FROM ${N})`,
      `SELECT count(*) FROM ${N}, LATERAL (SELECT ${cast} AS x) WHERE x > 3`,
      `SELECT ${cast} FROM ${N} UNION ALL SELECT ${cast} FROM ${N}`,
      `SELECT count(*) FROM ${N} WHERE id IN (SELECT ${cast} FROM ${N})`,
      `WITH c AS MATERIALIZED (FROM ${N}) SELECT count(*) FROM c WHERE ${cast} > 5`,
      `SELECT count(${cast}) FROM (SELECT * FROM ${N} TABLESAMPLE 100 PERCENT)`,
    ]) {
      const [[first] = []] = await rows(sql);
      expect([sql, first]).not.toEqual([sql, 300]);
    }
    // Neither by an error nor by a plan does a statement learn the constant of a policy.
    await done(
      `CREATE TABLE ${S}.c (region VARCHAR)`,
      `CREATE ROW ACCESS POLICY ${S}.word AS (r VARCHAR) RETURNS BOOLEAN -> r = 'watchword'`,
      `ALTER TABLE ${S}.c ADD ROW ACCESS POLICY ${S}.word ON (region)`,
    );
    for (const sql of [
      `SELECT * FROM ${S}.c WHERE CAST(region AS INTEGER) > 0`,
      `SELECT * FROM ${S}.c WHERE region > 'x'`,
    ]) {
      expect(await rows(sql)).toEqual([]);
      expect(JSON.stringify((await run(`EXPLAIN ${sql}`)).rows)).toContain('policy applied');
    }
  });
});

describe('a writer', () => {
  const W = `${S}.w`;
  const refused = async (sql: string): Promise<string> => (await run(sql)).failure;
  beforeAll(() =>
    done(
      `CREATE TABLE ${W} (id INT, region VARCHAR, amount BIGINT)`,
      `INSERT INTO ${W} SELECT i, CASE i % 3 WHEN 0 THEN 'eu' WHEN 1 THEN 'asia' END, i FROM range(0, 30) r(i)`,
      `ALTER TABLE ${W} ADD ROW ACCESS POLICY ${S}.own ON (region)`,
    ),
  );
  const all = async (): Promise<Answer['rows']> => (await run(`SELECT count(*), sum(amount) FROM ${W}`, 'root')).rows;

  test('changes and counts visible rows alone, and every other row stays as it is', async () => {
    expect(await all()).toEqual([[30, '435']]);
    expect(await rows(`SELECT count(*), sum(amount) FROM ${W}`)).toEqual([[10, '135']]);
    expect((await run(`UPDATE ${W} SET amount = amount + 1000 WHERE amount < 9`)).rows).toEqual([[3]]);
    expect(await all()).toEqual([[30, '3435']]);
    expect((await run(`DELETE FROM ${W} WHERE amount >= 1000 AND 1 / (amount - 1) >= 0`)).rows).toEqual([[3]]);
    expect(await all()).toEqual([[27, '426']]);
    const source = `(SELECT * FROM (VALUES (9), (10), (11)) s(id))`;
    expect((await run(`MERGE INTO ${W} t USING ${source} s ON t.id = s.id WHEN MATCHED THEN DELETE`)).rows).toEqual([
      [1],
    ]);
    expect(await all()).toEqual([[26, '417']]);
    expect((await run(`DELETE FROM ${W}`)).rows).toEqual([[6]]);
    expect(await all()).toEqual([[20, '300']]);
    expect((await run(`INSERT INTO ${W} VALUES (100, 'asia', 1)`)).rows).toEqual([[1]]);
    expect(await all()).toEqual([[21, '301']]);
    expect(await rows(`SELECT count(*) FROM ${W}`)).toEqual([[0]]);
  });

  test('rewrites all rows raw', async () => {
    await done(`INSERT INTO ${S}.t VALUES (90, 'asia', '9090', 1)`);
    const before = await run(`SELECT * FROM ${S}.t ORDER BY id`, 'root');
    const optimized = await run(`ALTER TABLE ${S}.t EXECUTE optimize`);
    expect(optimized.rows.map(([, value]) => value)).toEqual([null, null, null]);
    expect((await run(`SELECT * FROM ${S}.t ORDER BY id`, 'root')).rows).toEqual(before.rows);
    expect((await run(`ANALYZE ${S}.t (id, card)`)).rows).toEqual([
      ['id', null],
      ['card', null],
    ]);
    expect((await run(`DELETE FROM ${S}.t WHERE card = 'hidden' AND id > 5`)).rows).toEqual([[3]]);
    await done(`DELETE FROM ${S}.t WHERE id = 90`);
    const after = before.rows.filter(([id]) => Number(id) < 6);
    expect((await run(`SELECT * FROM ${S}.t ORDER BY id`, 'root')).rows).toEqual(after);
  });

  test('is refused what reaches hidden rows, and what writes or returns masks', async () => {
    for (const sql of [
      `TRUNCATE TABLE ${W}`,
      `INSERT OVERWRITE ${W} VALUES (1, 'eu', 1)`,
      `ALTER TABLE ${W} ALTER COLUMN amount SET NOT NULL`,
      `DROP TABLE ${W} PURGE`,
      `ALTER TABLE ${W} EXECUTE rollback_to_snapshot(1)`,
    ]) {
      expect([sql, await refused(sql)]).toEqual([sql, '42501 FORBIDDEN']);
    }
    for (const sql of [
      `OPTIMIZE ${W} WHERE amount = 1`,
      `UPDATE ${S}.t SET card = 'x'`,
      `MERGE INTO ${S}.t USING (SELECT 1 AS id) s ON t.id = s.id WHEN MATCHED THEN DELETE`,
      `DELETE FROM ${S}.t WHERE id = 1 RETURNING card`,
      `INSERT INTO ${S}.t VALUES (1, 'eu', 'x', 1) RETURNING card`,
      `DELETE FROM ${W} WHERE _pos = 1`,
      `DELETE FROM ${W} WHERE EXISTS (SELECT 1 FROM ${W} o WHERE o."_FILE" = 'x')`,
      `SELECT _file FROM ${W}`,
    ]) {
      expect([sql, await refused(sql)]).toEqual([sql, '0A000 NOT_SUPPORTED']);
    }
  });
});

describe('the order of rows', () => {
  const O = `${S}.o`;
  test('is not that of masked values: neither a reader nor a mask makes it so', async () => {
    await done(
      `CREATE TABLE ${O} (id INT, salary INT)`,
      ...[5000, 3000, 9000, 4000, 7000].map((salary, i) => `INSERT INTO ${O} VALUES (${i}, ${salary})`),
      `CREATE MASKING POLICY ${S}.salaries AS (val INT) RETURNS INT -> CASE WHEN current_user() = 'root' THEN val ELSE 0 END`,
      `ALTER TABLE ${O} ALTER COLUMN salary SET MASKING POLICY ${S}.salaries`,
      `INSERT INTO ${O} VALUES (1000, 6000)`,
    );
    // One of his own rows among theirs would tell who has more.
    for (const edit of [
      'SET SORTED BY (salary)',
      'SET SORTED BY (id)',
      'ADD PARTITION FIELD salary',
      'ADD PARTITION FIELD truncate(1000, salary), ADD COLUMN other INT',
    ]) {
      expect([edit, (await run(`ALTER TABLE ${O} ${edit}`)).failure]).toEqual([edit, '42501 FORBIDDEN']);
    }
    await run(`OPTIMIZE ${O}`);
    const order = await run(`SELECT salary FROM ${O}`, 'root');
    expect(order.rows).toHaveLength(6);
    expect(order.rows).not.toEqual([[3000], [4000], [5000], [6000], [7000], [9000]]);
    await done(`ALTER TABLE ${O} ALTER COLUMN salary UNSET MASKING POLICY`);
    const bind = `ALTER TABLE ${O} ALTER COLUMN salary SET MASKING POLICY ${S}.salaries`;
    for (const [edit, back] of [
      ['SET SORTED BY (id, salary DESC)', 'SET SORTED BY (id)'],
      ['ADD PARTITION FIELD bucket(4, salary)', 'DROP PARTITION FIELD bucket(4, salary)'],
    ]) {
      await done(`ALTER TABLE ${O} ${edit}`);
      expect([edit, (await run(bind, 'root')).failure]).toEqual([edit, '0A000 NOT_SUPPORTED']);
      await done(`ALTER TABLE ${O} ${back}`);
    }
    await done(bind);
  });
});

describe('a transaction', () => {
  const X = `${S}.x`;
  test('keeps the policies of a table that it changes, takes new ones at once, and does not commit over them', async () => {
    await done(`CREATE TABLE ${X} (id INT, region VARCHAR)`, `INSERT INTO ${X} VALUES (1, 'eu'), (2, 'asia')`);
    const count = async (): Promise<Json | undefined> => (await run(`SELECT count(*) FROM ${X}`, 'max')).rows[0]?.[0];
    for (const ending of ['COMMIT', 'ROLLBACK']) {
      await run('BEGIN', 'max');
      expect((await run(`INSERT INTO ${X} VALUES (3, 'us')`, 'max')).rows).toEqual([[1]]);
      expect(await count()).toBe(ending === 'COMMIT' ? 3 : 1);
      if (ending === 'COMMIT') await done(`ALTER TABLE ${X} ADD ROW ACCESS POLICY ${S}.own ON (region)`);
      expect(await count()).toBe(1);
      const { failure } = await run(ending, 'max');
      expect(failure).toBe(ending === 'COMMIT' ? '40001 COMMIT_CONFLICT' : 'done');
      await run('ROLLBACK', 'max');
    }
    expect((await run(`SELECT count(*) FROM ${X}`, 'root')).rows).toEqual([[2]]);
  });

  test('reads mapping tables as they were committed, whatever it has seen or changed of them', async () => {
    await run('BEGIN', 'max');
    expect((await run(`SELECT count(*) FROM ${X}`, 'max')).rows).toEqual([[0]]);
    await done(`INSERT INTO ${S}.m VALUES ('max', 'asia')`);
    expect((await run(`SELECT count(*) FROM ${X}`, 'max')).rows).toEqual([[1]]);
    await run('ROLLBACK', 'max');
    await done(`DELETE FROM ${S}.m WHERE who = 'max' AND region = 'asia'`);
    expect((await run(`SELECT count(*) FROM ${X}`, 'max')).rows).toEqual([[0]]);
  });
});

describe('the roles of a session', () => {
  test('are seen by policies at once, also by plans that were made before', async () => {
    const R = `${S}.r`;
    await done(
      `CREATE TABLE ${R} (id INT, v VARCHAR)`,
      // Each in a file of its own: a plan for other roles would leave one of them out.
      `INSERT INTO ${R} VALUES (1, 'a')`,
      `INSERT INTO ${R} VALUES (2, 'b')`,
      `CREATE ROW ACCESS POLICY ${S}.admins AS (i INT) RETURNS BOOLEAN -> i = 1 OR is_role_in_session('tenant_admin')`,
      `CREATE MASKING POLICY ${S}.role AS (v VARCHAR) RETURNS VARCHAR -> current_role() || '/' || current_tenant()`,
      `ALTER TABLE ${R} ADD ROW ACCESS POLICY ${S}.admins ON (id)`,
      `ALTER TABLE ${R} ALTER COLUMN v SET MASKING POLICY ${S}.role`,
    );
    const asked = `SELECT id, v FROM ${R} ORDER BY id`;
    expect((await run(asked)).rows).toEqual([[1, `public/${T}`]]);
    const all = [1, 2].map((id) => [id, `public/${T}`]);
    expect((await run(asked, 'root')).rows).toEqual(all);
    await done('USE ROLE tenant_admin');
    expect((await run(asked, 'root')).rows).toEqual([1, 2].map((id) => [id, `tenant_admin/${T}`]));
    await done('USE ROLE public');
    expect((await run(asked, 'root')).rows).toEqual([[1, `public/${T}`]]);
    // A prepared statement is bound anew each time.
    await done('USE ROLE ALL', `PREPARE again AS ${asked}`);
    expect((await run('EXECUTE again', 'root')).rows).toEqual(all);
    await done('USE ROLE public');
    expect((await run('EXECUTE again', 'root')).rows).toEqual([[1, `public/${T}`]]);
    await done(`ALTER ROW ACCESS POLICY ${S}.admins SET BODY -> i = 2`);
    expect((await run('EXECUTE again', 'root')).rows).toEqual([[2, `public/${T}`]]);
    await done(`ALTER ROW ACCESS POLICY ${S}.admins SET BODY -> i = 1 OR is_role_in_session('tenant_admin')`);
    await done('USE ROLE ALL');
    expect((await run(asked, 'root')).rows).toEqual(all);
    expect((await run('USE ROLE tenant_admin')).failure).toBe('42704 ROLE_NOT_FOUND');
  });
});

describe('rows that leave for other tables', () => {
  test('are those that the writer sees; a materialized view is not made of them', async () => {
    expect((await run(`CREATE TABLE ${S}.copy AS SELECT id, card FROM ${S}.t`)).failure).toBe('done');
    expect((await run(`SELECT * FROM ${S}.copy ORDER BY ALL`, 'root')).rows).toEqual(
      (await run(`SELECT id, card FROM ${S}.t ORDER BY ALL`)).rows,
    );
    const view = `CREATE MATERIALIZED VIEW ${S}.mv AS SELECT id FROM ${S}.t`;
    expect((await run(view)).failure).toBe('42501 FORBIDDEN');
    await done(`CREATE VIEW ${S}.v AS SELECT id, card FROM ${S}.t`);
    expect((await run(`SELECT * FROM ${S}.v ORDER BY ALL`)).rows).toEqual(
      (await run(`SELECT id, card FROM ${S}.t ORDER BY ALL`)).rows,
    );
    expect((await run(`CREATE MATERIALIZED VIEW ${S}.mv AS SELECT id FROM ${S}.v`, 'root')).failure).toBe(
      '42501 FORBIDDEN',
    );
  });
});

describe('nothing tells', () => {
  const HIDDEN =
    /asia|regions|current_user|m\.who|"m"|@field|files=|row_groups|prunes|snapshot(?!=none)|about \d|\b(?:8|9|30|29) rows/;
  const text = async (sql: string, distribution: string): Promise<string> => {
    const { rows: lines, failure, message } = await run(sql, 'ann', distribution);
    expect([sql, failure, message]).toEqual([sql, 'done', message]);
    return lines.map(([line]) => (typeof line === 'string' ? line : '')).join('\n');
  };

  test('how a table with policies was read: EXPLAIN, of every kind and of DML', async () => {
    const query = `SELECT region, count(*) FROM ${S}.t WHERE amount > 1 GROUP BY region`;
    for (const distribution of ['single', 'force']) {
      for (const how of ['', '(TYPE DISTRIBUTED)', 'ANALYZE', '(FORMAT JSON)']) {
        const told = await text(`EXPLAIN ${how} ${query}`, distribution);
        expect([how, distribution, HIDDEN.exec(told)?.[0]]).toEqual([how, distribution, undefined]);
        if (how === '' || how === 'ANALYZE') expect(told).toContain('policy applied');
      }
    }
    for (const how of ['', 'ANALYZE']) {
      const told = await text(`EXPLAIN ${how} DELETE FROM ${S}.w WHERE id = 2`, 'auto');
      expect([how, HIDDEN.exec(told)?.[0]]).toEqual([how, undefined]);
    }
  });

  test('counts and places: metadata tables', async () => {
    expect((await run(`SELECT max(summary), max(manifest_list) FROM ${S}."t$snapshots"`)).rows).toEqual([[null, null]]);
    // How many files there are after an INSERT and OPTIMIZE tells whether a hidden row is in the partition of the new one.
    for (const what of ['files', 'entries', 'manifests', 'partitions']) {
      const counted = await run(`SELECT count(*) FROM ${S}."t$${what}"`);
      expect([what, counted.failure]).toEqual([what, '0A000 NOT_SUPPORTED']);
    }
    expect((await run(`SELECT count(*) > 0, max(operation) IS NOT NULL FROM ${S}."t$snapshots"`)).rows).toEqual([
      [true, true],
    ]);
  });

  test('errors within a body', async () => {
    await done(
      `CREATE TABLE ${S}.e (id INT, v VARCHAR)`,
      `INSERT INTO ${S}.e VALUES (1, 'secret')`,
      `CREATE ROW ACCESS POLICY ${S}.raises AS (x VARCHAR) RETURNS BOOLEAN -> CAST(x AS INT) > 0`,
      `ALTER TABLE ${S}.e ADD ROW ACCESS POLICY ${S}.raises ON (v)`,
    );
    for (const distribution of ['single', 'force']) {
      const { failure, message } = await run(`SELECT count(*) FROM ${S}.e`, 'ann', distribution);
      expect([failure, message]).toEqual([
        '22000 POLICY_FAILED',
        'a policy of a table that the statement reads failed',
      ]);
    }
  });
});
