import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Cluster } from '#test/support/cluster.ts';
import { sharedCluster } from '#test/support/resources.ts';

let cluster: Cluster;
const session = { sessionId: randomUUID() };
const TABLES = ['t', 'm', 'made', 'small'];

beforeAll(async () => {
  ({ cluster } = await sharedCluster());
  await cluster.sql('CREATE SCHEMA lake.explained');
  await cluster.sql('USE lake.explained', session);
  await cluster.sql(
    "CREATE TABLE t (id BIGINT, part INT) PARTITIONED BY (part, bucket(4, id) AS b) WITH ('format-version' = '3', 'write.update.mode' = 'merge-on-read', 'write.delete.mode' = 'copy-on-write')",
    session,
  );
  await cluster.sql('INSERT INTO t SELECT i, i % 2 FROM range(1000) AS r(i)', session);
});

afterAll(async () => {
  for (const table of TABLES) await cluster.sql(`DROP TABLE IF EXISTS ${table} PURGE`, session);
  await cluster.sql('DROP SCHEMA lake.explained', session);
});

const lines = async (sql: string): Promise<string> =>
  (await cluster.sql(sql, session)).map(([line]) => line as string).join('\n');
const snapshots = async (): Promise<unknown> =>
  (await cluster.sql('SELECT count(*)::INT FROM "t$snapshots"', session))[0]?.[0];

test('EXPLAIN of a write shows plan, sink and commit, and writes nothing', async () => {
  const sink = 'Sink: lake.explained.t, format 3, partitions: part (identity), b (bucket[4])';
  for (const [sql, plan, commit] of [
    ['INSERT INTO t SELECT id + 1, part FROM t WHERE id < 5', /Scan lake\.explained\.t/, 'append (append)'],
    ['INSERT INTO t VALUES (1, 2) RETURNING id', /Values|Project/, 'append (append)'],
    ['INSERT OVERWRITE t SELECT * FROM t', /Scan/, 'overwrite (the partitions that get rows)'],
    ['DELETE FROM t USING (VALUES (1)) AS v(id) WHERE t.id = v.id', /Join/, 'delete or overwrite (copy-on-write)'],
    ['DELETE FROM t', /No row is read/, 'delete or overwrite (metadata delete)'],
    ['UPDATE t SET id = id + 1 WHERE id < 3', /Scan/, 'overwrite (merge-on-read)'],
    [
      'MERGE INTO t USING (SELECT 1 AS id) AS s ON t.id = s.id WHEN MATCHED THEN DELETE',
      /Join/,
      'append, delete or overwrite (file by file: metadata delete, merge-on-read for few rows of a large file, otherwise copy-on-write)',
    ],
  ] as const) {
    const text = await lines(`EXPLAIN ${sql}`);
    expect(text, sql).toMatch(plan);
    expect(text, sql).toContain(sink);
    expect(text, sql).toContain(`Commit: ${commit}`);
    const document = JSON.parse(await lines(`EXPLAIN (FORMAT JSON) ${sql}`)) as { sink: unknown; commit: unknown };
    expect(document).toMatchObject({
      sink: { table: 'lake.explained.t' },
      commit: { mode: expect.any(String) as string },
    });
  }
  expect(await lines('EXPLAIN (TYPE DISTRIBUTED) DELETE FROM t WHERE id = 1')).toMatch(/whole on one worker|Fragment/);
  expect(await lines('EXPLAIN CREATE TABLE made AS SELECT * FROM t')).toMatch(
    /Scan[^]*Sink: made\nCommit: create the table/,
  );
  expect(await lines('EXPLAIN OPTIMIZE t')).toMatch(/^Rewrite: \d+ data files, 0 delete files\nSink: lake.explained.t/);
  expect(await snapshots()).toBe(1);
  const { body } = await cluster.query('EXPLAIN DELETE FROM lake.explained.t WHERE nothing = 1');
  expect(body).toMatchObject({
    error: 'COLUMN_NOT_FOUND',
    message: expect.stringContaining('line 1, column 44') as string,
  });
});

test('options of Postgres that say how much is shown are taken, and ANALYZE OFF runs nothing', async () => {
  const plain = await lines('EXPLAIN DELETE FROM t');
  for (const options of [
    'VERBOSE',
    '(COSTS OFF)',
    "(ANALYZE OFF, BUFFERS, TIMING false, SUMMARY 'on', WAL 0, FORMAT TEXT)",
  ]) {
    expect(await lines(`EXPLAIN ${options} DELETE FROM t`), options).toBe(plain);
  }
  expect(await snapshots()).toBe(1);
  for (const options of ['ANALYZE VERBOSE', '(ANALYZE, BUFFERS)', '(VERBOSE, ANALYZE true)']) {
    expect(await lines(`EXPLAIN ${options} SELECT 1`), options).toMatch(/rows/);
    expect(await lines(`EXPLAIN ${options} SELECT 1`), options).not.toBe(await lines('EXPLAIN SELECT 1'));
  }
  for (const options of ['(ANALYZE maybe)', '(COSTS OFF, NOPE)', '(COSTS OFF']) {
    const { body } = await cluster.query(`EXPLAIN ${options} SELECT 1`);
    expect(body, options).toMatchObject({ error: 'SYNTAX_ERROR' });
  }
});

test('EXPLAIN ANALYZE of a write does it, and shows how it went: queries, files, mode, snapshot, attempts', async () => {
  const inserted = await lines('EXPLAIN ANALYZE INSERT INTO t SELECT i, 7 FROM range(100) AS r(i) RETURNING id');
  expect(inserted).toMatch(/quanta=\d+/);
  expect(inserted).toMatch(/Sink: lake\.explained\.t.*\n {3}files=4 rows=100 bytes=\d+ elapsed_ms=[\d.]+/);
  expect(inserted).toMatch(/Commit: append \(append\)\n {3}snapshot=\d+ sequence_number=2 attempts=1 rounds=1 /);
  const [[newest] = []] = await cluster.sql(
    'SELECT snapshot_id::VARCHAR FROM "t$snapshots" ORDER BY committed_at DESC LIMIT 1',
    session,
  );
  expect(inserted).toContain(`snapshot=${newest as string} `);
  expect(await cluster.sql('SELECT count(*)::INT FROM t', session)).toEqual([[1100]]);

  const updated = JSON.parse(
    await lines('EXPLAIN (ANALYZE, FORMAT JSON) UPDATE t SET id = id WHERE id = 5 AND part = 7'),
  ) as object;
  expect(updated).toMatchObject({
    queries: [{ rows: expect.any(Number) as number }],
    sink: { table: 'lake.explained.t', files: 1, rows: 1 },
    commit: { operation: 'overwrite', mode: 'merge-on-read', attempts: 1, added_positions: 1, added_delete_files: 1 },
  });
  expect(await lines('EXPLAIN ANALYZE DELETE FROM t WHERE id = 6 AND part = 7')).toMatch(
    /Commit: overwrite \(copy-on-write\)\n.* removed_files=1 /,
  );
  expect(await lines('EXPLAIN ANALYZE DELETE FROM t WHERE part = 7')).toMatch(/Commit: delete \(metadata delete\)/);
  expect(await lines('EXPLAIN ANALYZE DELETE FROM t WHERE id < 0')).toMatch(/Commit: none/);
  expect(await cluster.sql('SELECT count(*)::INT FROM t', session)).toEqual([[1000]]);
});

test('EXPLAIN ANALYZE of MERGE, INSERT OVERWRITE, CREATE TABLE AS and OPTIMIZE; parameters, and a prepared one', async () => {
  expect(await lines('EXPLAIN ANALYZE CREATE TABLE made AS SELECT i AS id FROM range(10) AS r(i)')).toMatch(
    /Sink: lake\.explained\.made, format 2\n {3}files=1 rows=10 .*\nCommit: append \(append\)/,
  );
  expect(
    await lines(
      'EXPLAIN ANALYZE MERGE INTO made USING (VALUES (1), (77)) AS s(id) ON made.id = s.id WHEN MATCHED THEN DELETE WHEN NOT MATCHED THEN INSERT *',
    ),
  ).toMatch(/Commit: overwrite \(copy-on-write\)/);
  expect(await lines('EXPLAIN ANALYZE INSERT OVERWRITE made SELECT id FROM made WHERE id < 5')).toMatch(
    /files=1 rows=4 .*\nCommit: overwrite \(copy-on-write\)/,
  );
  await cluster.sql('INSERT INTO made VALUES (100)', session);
  expect(await lines('EXPLAIN ANALYZE OPTIMIZE made')).toMatch(/Commit: replace \(rewrite\)\n.* removed_files=2 /);
  await cluster.sql('PREPARE e AS EXPLAIN ANALYZE DELETE FROM made WHERE id = $1', session);
  expect(await lines('EXECUTE e(100)')).toMatch(/Commit: overwrite/);
  expect(await cluster.sql('SELECT id::INT FROM made ORDER BY id', session)).toEqual([[0], [2], [3], [4]]);
});
