import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { Json } from '#shared/json.ts';
import type { Cluster } from '#test/support/cluster.ts';
import { patience } from '#test/support/run/slowness.ts';
import { filesBelow, sharedCluster } from '#test/support/resources.ts';

/** BEGIN, COMMIT and ROLLBACK, beside other sessions. */
const SCHEMA = 'lake.transactions';

let cluster: Cluster;
beforeAll(async () => {
  ({ cluster } = await sharedCluster());
  await cluster.sql(`CREATE SCHEMA ${SCHEMA}`);
});
beforeEach(async () => {
  for (const table of ['a', 'b']) {
    await cluster.sql(`DROP TABLE IF EXISTS ${SCHEMA}.${table} PURGE`);
    await cluster.sql(`CREATE TABLE ${SCHEMA}.${table} (i BIGINT, t VARCHAR)`);
    await cluster.sql(`INSERT INTO ${SCHEMA}.${table} VALUES (1, 'one'), (2, 'two')`);
  }
});
afterAll(async () => {
  for (const table of ['a', 'b', 'c', 'd']) await cluster.sql(`DROP TABLE IF EXISTS ${SCHEMA}.${table} PURGE`);
  await cluster.sql(`DROP SCHEMA ${SCHEMA}`);
});

type Rows = readonly (readonly Json[])[];
type Session = {
  readonly id: string;
  /** The rows of a statement, or the code and SQLSTATE of its error. */
  readonly run: (sql: string) => Promise<Rows | string>;
};

function session(id: string = randomUUID()): Session {
  return {
    id,
    run: async (sql) => {
      const { status, body } = await cluster.query(sql.replaceAll('@', SCHEMA), { sessionId: id });
      return status === 200
        ? (body.rows ?? []).map((row) => row.map((value) => (typeof value === 'number' ? `${value}` : value)))
        : `${body.error} ${body.sql_state}`;
    },
  };
}

/** Runs statements one after the other; each must succeed. */
async function all({ run }: Session, ...statements: readonly string[]): Promise<Rows> {
  let last: Rows = [];
  for (const sql of statements) {
    const rows = await run(sql);
    if (typeof rows === 'string') throw new Error(`${rows}: ${sql}`);
    last = rows;
  }
  return last;
}

const sum = (table: string): string => `SELECT sum(i), count(*) FROM @.${table}`;
const snapshots = async (table: string): Promise<string> =>
  String(Number((await cluster.sql(`SELECT count(*) FROM ${SCHEMA}."${table}$snapshots"`))[0]?.[0]));

async function files(table: string): Promise<readonly string[]> {
  const { body } = await cluster.catalog('GET', `/v1/lake/namespaces/transactions/tables/${table}`);
  const { location } = (body as { metadata: { location: string } }).metadata;
  return (await filesBelow(location)).filter((file) => /\.(?:parquet|avro|puffin)$/.test(file));
}

describe('what a transaction sees and shows', () => {
  test('statements see those before them; others see nothing before COMMIT and everything after it', async () => {
    const [mine, other] = [session(), session()];
    await all(
      mine,
      'BEGIN',
      "INSERT INTO @.a VALUES (3, 'three')",
      "UPDATE @.a SET t = 'ONE' WHERE i = 1",
      'DELETE FROM @.a WHERE i = 2',
      'MERGE INTO @.b USING @.a ON a.i = b.i WHEN MATCHED THEN UPDATE SET t = a.t WHEN NOT MATCHED THEN INSERT *',
    );
    const [ofA, ofB] = ['SELECT * FROM @.a ORDER BY i', 'SELECT * FROM @.b ORDER BY i'];
    expect(await mine.run(ofA)).toEqual([
      ['1', 'ONE'],
      ['3', 'three'],
    ]);
    expect(await other.run(ofA)).toEqual([
      ['1', 'one'],
      ['2', 'two'],
    ]);
    expect(await snapshots('a')).toBe('1');
    expect(await mine.run('COMMIT')).toEqual([['COMMIT']]);
    expect(await other.run(ofA)).toEqual([
      ['1', 'ONE'],
      ['3', 'three'],
    ]);
    expect(await other.run(ofB)).toEqual([
      ['1', 'ONE'],
      ['2', 'two'],
      ['3', 'three'],
    ]);
  });

  test('it reads every table as the catalog stood at its first statement, also one that it reads later', async () => {
    const [mine, other] = [session(), session()];
    await all(mine, 'BEGIN', sum('a'));
    await all(
      other,
      'INSERT INTO @.a VALUES (10, NULL)',
      'INSERT INTO @.b VALUES (10, NULL)',
      'DELETE FROM @.b WHERE i = 1',
    );
    await all(other, 'DROP TABLE IF EXISTS @.c', 'CREATE TABLE @.c (i BIGINT)');
    expect(await mine.run(sum('a'))).toEqual([['3', '2']]);
    expect(await mine.run(sum('b'))).toEqual([['3', '2']]);
    expect(await mine.run(sum('c'))).toBe('TABLE_NOT_FOUND 42P01');
    expect(await mine.run('ROLLBACK')).toEqual([['ROLLBACK']]);
    expect(await mine.run(sum('b'))).toEqual([['12', '2']]);
    expect(await mine.run('SELECT count(*) FROM @.c')).toEqual([['0']]);
  });

  test('ROLLBACK TO keeps what came before the savepoint, also after an error; files of what came behind it go', async () => {
    const mine = session();
    const before = await files('a');
    await all(mine, 'DROP TABLE IF EXISTS @.c');
    await all(mine, 'BEGIN', 'INSERT INTO @.a VALUES (3, NULL)', 'SAVEPOINT one', 'DELETE FROM @.a WHERE i = 1');
    await all(mine, 'CREATE TABLE @.c (i BIGINT)', 'SAVEPOINT two', 'INSERT INTO @.b VALUES (7, NULL)');
    expect(await mine.run('SELECT nothing FROM @.a')).toBe('COLUMN_NOT_FOUND 42703');
    expect(await mine.run(sum('a'))).toBe('TRANSACTION_FAILED 25P02');
    await all(mine, 'ROLLBACK TO SAVEPOINT TWO');
    expect(await all(mine, sum('a'))).toEqual([['5', '2']]);
    expect(await all(mine, sum('b'))).toEqual([['3', '2']]);
    await all(mine, 'ROLLBACK TO one', 'RELEASE one');
    expect(await all(mine, sum('a'))).toEqual([['6', '3']]);
    await all(mine, 'COMMIT');
    expect(await all(session(), sum('a'))).toEqual([['6', '3']]);
    expect(await mine.run('SELECT * FROM @.c')).toBe('TABLE_NOT_FOUND 42P01');
    // The insert is one data file, its manifest and its list.
    await expect.poll(() => files('a'), { timeout: patience(10_000) }).toHaveLength(before.length + 3);
  });

  test('a savepoint that is not there fails the transaction, and is refused outside of one', async () => {
    const mine = session();
    expect(await mine.run('SAVEPOINT one')).toBe('NO_TRANSACTION 25P01');
    expect(await mine.run('ROLLBACK TO one')).toBe('NO_TRANSACTION 25P01');
    await all(mine, 'BEGIN', 'SAVEPOINT one', 'INSERT INTO @.a VALUES (3, NULL)');
    expect(await mine.run('RELEASE two')).toBe('SAVEPOINT_NOT_FOUND 3B001');
    expect(await mine.run('COMMIT')).toBe('TRANSACTION_FAILED 25P02');
    await all(mine, 'ROLLBACK TO one', 'INSERT INTO @.a VALUES (4, NULL)', 'COMMIT');
    expect(await all(mine, sum('a'))).toEqual([['7', '3']]);
  });

  test('BEGIN itself pins nothing; the first statement does', async () => {
    const [mine, other] = [session(), session()];
    await all(mine, 'BEGIN');
    await all(other, 'INSERT INTO @.a VALUES (10, NULL)');
    expect(await mine.run(sum('a'))).toEqual([['13', '3']]);
    await all(mine, 'COMMIT');
  });

  test('INSERTs of a transaction become one snapshot, whose files are all that is left', async () => {
    const mine = session();
    const before = await files('a');
    await all(mine, 'BEGIN', ...[3, 4, 5].map((i) => `INSERT INTO @.a VALUES (${i}, NULL)`));
    expect(await mine.run(sum('a'))).toEqual([['15', '5']]);
    await all(mine, 'COMMIT');
    expect(await mine.run(sum('a'))).toEqual([['15', '5']]);
    expect(await snapshots('a')).toBe('2');
    // Three data files, one manifest, one list.
    await expect.poll(async () => (await files('a')).length - before.length).toBe(5);
  });

  test('RETURNING, EXPLAIN ANALYZE, EXECUTE and time travel work as outside', async () => {
    const mine = session();
    await all(mine, 'PREPARE p (BIGINT) AS INSERT INTO @.a VALUES ($1, NULL)', 'BEGIN', 'EXECUTE p(7)');
    expect(await mine.run('DELETE FROM @.a WHERE i < 3 RETURNING i, t')).toHaveLength(2);
    await all(mine, 'EXPLAIN ANALYZE INSERT INTO @.a VALUES (8, NULL)');
    expect(await mine.run('SELECT i FROM @.a ORDER BY i')).toEqual([['7'], ['8']]);
    expect(await mine.run('SELECT count(*) FROM @."a$snapshots"')).toEqual([['4']]);
    await all(mine, 'ROLLBACK');
    expect(await mine.run('SELECT count(*) FROM @."a$snapshots"')).toEqual([['1']]);
  });
});

describe('definitions', () => {
  test('CREATE TABLE, CTAS and ALTER TABLE are there for the transaction, and for others with its COMMIT', async () => {
    const [mine, other] = [session(), session()];
    await all(mine, 'DROP TABLE IF EXISTS @.c', 'DROP TABLE IF EXISTS @.d');
    await all(
      mine,
      'BEGIN',
      "CREATE TABLE @.c (i BIGINT NOT NULL, d DATE COMMENT 'when') PARTITIONED BY (month(d)) SORTED BY (i)",
      "INSERT INTO @.c VALUES (1, DATE '2024-05-06')",
      'ALTER TABLE @.c ADD COLUMN t VARCHAR',
      "INSERT INTO @.c VALUES (2, DATE '2024-06-07', 'x')",
      'CREATE TABLE @.d AS SELECT i, t FROM @.c',
      'ALTER TABLE @.a ADD COLUMN n INTEGER',
      "INSERT INTO @.a VALUES (3, 'three', 33)",
      "COMMENT ON TABLE @.a IS 'changed'",
    );
    expect(await mine.run('SELECT * FROM @.c ORDER BY i')).toEqual([
      ['1', '2024-05-06', null],
      ['2', '2024-06-07', 'x'],
    ]);
    const tables = `SHOW TABLES FROM ${SCHEMA}`;
    expect(await mine.run(tables)).toEqual([['a'], ['b'], ['c'], ['d']]);
    expect(await other.run(tables)).toEqual([['a'], ['b']]);
    expect(await other.run('SELECT * FROM @.c')).toBe('TABLE_NOT_FOUND 42P01');
    await all(mine, 'COMMIT');
    expect(await other.run('SELECT i, n FROM @.a ORDER BY i')).toEqual([
      ['1', null],
      ['2', null],
      ['3', '33'],
    ]);
    expect(await other.run('SELECT * FROM @.d ORDER BY i')).toEqual([
      ['1', null],
      ['2', 'x'],
    ]);
    expect(JSON.stringify(await other.run('SHOW CREATE TABLE @.c'))).toMatch(/NOT NULL.*when.*month.*SORTED BY/s);
  });

  test('a table that another made meanwhile is a conflict', async () => {
    const [mine, other] = [session(), session()];
    await all(
      mine,
      'DROP TABLE IF EXISTS @.c',
      'BEGIN',
      'CREATE TABLE @.c (i BIGINT)',
      'INSERT INTO @.a VALUES (3, NULL)',
    );
    await all(other, 'CREATE TABLE @.c (t VARCHAR)');
    expect(await mine.run('COMMIT')).toBe('COMMIT_CONFLICT 40001');
    expect(await other.run(sum('a'))).toEqual([['3', '2']]);
  });

  const REFUSED = [
    'DROP TABLE @.a',
    'TRUNCATE @.a',
    'ALTER TABLE @.a RENAME TO @.x',
    'UNDROP TABLE @.x',
    'CREATE SCHEMA lake.transactions_2',
    'DROP SCHEMA lake.transactions',
    "COMMENT ON SCHEMA lake.transactions IS 'x'",
    'CREATE VIEW @.v AS SELECT 1 AS x',
    'DROP VIEW @.v',
    'CREATE MATERIALIZED VIEW @.v AS SELECT 1 AS x',
    'REFRESH MATERIALIZED VIEW @.v',
    'ANALYZE @.a',
    'OPTIMIZE TABLE @.a',
    'ALTER TABLE @.a EXECUTE expire_snapshots',
    'BEGIN',
  ];

  test('what else defines or maintains something is refused inside', async () => {
    const mine = session();
    for (const sql of REFUSED) {
      await all(mine, 'BEGIN');
      expect([sql, await mine.run(sql)]).toEqual([sql, 'IN_TRANSACTION 25001']);
      await all(mine, 'ROLLBACK');
    }
    expect(await mine.run(sum('a'))).toEqual([['3', '2']]);
  });
});

describe('how it ends', () => {
  test('ROLLBACK leaves no snapshot and no file, also of a table that it made', async () => {
    const mine = session();
    const before = await files('a');
    await all(mine, 'DROP TABLE IF EXISTS @.c', 'BEGIN', "INSERT INTO @.a VALUES (3, 'x')");
    await all(mine, "UPDATE @.a SET t = 'y'", 'CREATE TABLE @.c AS SELECT * FROM @.a', 'ROLLBACK');
    expect(await mine.run(sum('a'))).toEqual([['3', '2']]);
    expect(await mine.run(sum('c'))).toBe('TABLE_NOT_FOUND 42P01');
    expect([await snapshots('a'), await files('a')]).toEqual(['1', before]);
  });

  test.each(['SELECT * FROM @.none', 'SELEC 1', "SELECT error('no') FROM @.a", 'INSERT INTO @.a VALUES (1)'])(
    'after %s nothing is taken but ROLLBACK',
    async (sql) => {
      const mine = session();
      await all(mine, 'BEGIN', 'INSERT INTO @.a VALUES (3, NULL)');
      expect(await mine.run(sql)).toMatch(/^[A-Z_]+ \w{5}$/);
      for (const next of ['SELECT 1', 'COMMIT', 'INSERT INTO @.b VALUES (1, NULL)']) {
        expect([next, await mine.run(next)]).toEqual([next, 'TRANSACTION_FAILED 25P02']);
      }
      await all(mine, 'ROLLBACK');
      expect(await mine.run(sum('a'))).toEqual([['3', '2']]);
      expect(await mine.run(sum('b'))).toEqual([['3', '2']]);
    },
  );

  test('rows that another has changed meanwhile: 40001 at COMMIT, and nothing of any table', async () => {
    const [mine, other] = [session(), session()];
    await all(mine, 'BEGIN', 'INSERT INTO @.b VALUES (3, NULL)', "UPDATE @.a SET t = 'mine' WHERE i = 1");
    await all(other, "UPDATE @.a SET t = 'other' WHERE i = 1");
    expect(await mine.run('COMMIT')).toBe('COMMIT_CONFLICT 40001');
    expect(await mine.run('SELECT t FROM @.a ORDER BY i')).toEqual([['other'], ['two']]);
    expect(await mine.run(sum('b'))).toEqual([['3', '2']]);
    expect(await mine.run('COMMIT')).toBe('NO_TRANSACTION 25P01');
  });

  test('INSERTs do not conflict with those of others', async () => {
    const sessions = Array.from({ length: 4 }, () => session());
    for (const one of sessions)
      await all(one, 'BEGIN', 'INSERT INTO @.a VALUES (10, NULL)', 'INSERT INTO @.b VALUES (10, NULL)');
    await all(session(), 'DELETE FROM @.a WHERE i = 1');
    expect(await Promise.all(sessions.map((one) => one.run('COMMIT')))).toEqual(sessions.map(() => [['COMMIT']]));
    expect(await session().run(sum('a'))).toEqual([['42', '5']]);
    expect(await session().run(sum('b'))).toEqual([['43', '6']]);
  });

  test('a table that was dropped meanwhile is a conflict', async () => {
    const [mine, other] = [session(), session()];
    await all(mine, 'BEGIN', 'INSERT INTO @.b VALUES (3, NULL)', 'INSERT INTO @.a VALUES (3, NULL)');
    await all(other, 'DROP TABLE @.b');
    expect(await mine.run('COMMIT')).toBe('COMMIT_CONFLICT 40001');
    expect(await other.run(sum('a'))).toEqual([['3', '2']]);
  });

  test('the end of the session rolls back', async () => {
    const mine = session();
    await all(mine, 'BEGIN', 'INSERT INTO @.a VALUES (3, NULL)');
    const authorization = `Bearer ${await cluster.token()}`;
    const headers = { authorization, 'x-skein-session': mine.id };
    expect((await fetch(`${cluster.queryUrl}/api/session`, { method: 'DELETE', headers })).status).toBe(204);
    expect(await mine.run('COMMIT')).toBe('NO_TRANSACTION 25P01');
    expect(await mine.run(sum('a'))).toEqual([['3', '2']]);
  });
});

describe('its rules', () => {
  test('READ ONLY changes nothing', async () => {
    const mine = session();
    for (const sql of ['INSERT INTO @.a VALUES (3, NULL)', 'CREATE TABLE @.c (i BIGINT)']) {
      await all(mine, 'START TRANSACTION READ ONLY', sum('a'));
      expect(await mine.run(sql)).toBe('READ_ONLY_TRANSACTION 25006');
      await all(mine, 'ROLLBACK');
    }
  });

  test('it needs a session; SERIALIZABLE is not there; ROLLBACK may come at any time', async () => {
    const { body } = await cluster.query('BEGIN');
    expect([body.error, body.sql_state]).toEqual(['NOT_SUPPORTED', '0A000']);
    const mine = session();
    expect(await mine.run('BEGIN ISOLATION LEVEL SERIALIZABLE')).toBe('NOT_SUPPORTED 0A000');
    expect(await mine.run('ROLLBACK')).toEqual([['ROLLBACK']]);
    expect(await mine.run('COMMIT')).toBe('NO_TRANSACTION 25P01');
  });

  test('one statement at a time; ROLLBACK stops the one that runs', async () => {
    const mine = session();
    await all(mine, 'BEGIN', 'INSERT INTO @.a VALUES (3, NULL)');
    const long = mine.run('SELECT sum(x.i * y.i * z.i) FROM range(100000) x(i), range(100000) y(i), range(100) z(i)');
    await expect.poll(() => mine.run('SELECT 1')).toBe('TRANSACTION_BUSY 25000');
    expect(await mine.run('ROLLBACK')).toEqual([['ROLLBACK']]);
    expect(await long).toBe('QUERY_CANCELLED 57014');
    expect(await mine.run(sum('a'))).toEqual([['3', '2']]);
  });
});
