import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Json } from '#shared/json.ts';
import { must } from '#shared/must.ts';
import { startCluster, type StartedCluster } from '#test/support/cluster.ts';
import { startTrino, type Trino } from '#test/support/trino.ts';
import { storageOf } from '#test/support/storage-of.ts';
import { CHANGED_TABLES, makeChangedTable, rowsOfChanged } from '../clients/changed-tables.ts';

/** Trino as a client of the catalog: it writes, evolves and maintains tables, and Skein reads the same rows. */
let cluster: StartedCluster;
let trino: Trino;

beforeAll(async () => {
  cluster = await startCluster();
  trino = await startTrino(cluster.catalogUrl, await cluster.token());
  await trino.sql('CREATE SCHEMA lake.tr');
});

afterAll(async () => {
  await trino?.[Symbol.asyncDispose]();
  await cluster?.stop();
});

const run = async (...statements: readonly string[]): Promise<void> => {
  for (const sql of statements) await trino.sql(sql);
};
/** Runs a query on Trino and on Skein, checks that the rows are equal, and returns them. */
const both = async (sql: string, ours = sql): Promise<readonly (readonly Json[])[]> => {
  const theirs = await trino.sql(sql);
  expect(await cluster.sql(ours)).toEqual(theirs);
  return theirs;
};
const refusal = (sql: string): Promise<string> =>
  trino.sql(sql).then(
    () => 'no refusal',
    (error: Error) => error.message,
  );

describe('Trino', () => {
  test('schemas: create, nest, list, drop', async () => {
    await run('CREATE SCHEMA lake."tr.deep"', 'CREATE TABLE lake."tr.deep".t (a INTEGER)');
    expect((await trino.sql('SHOW SCHEMAS FROM lake')).flat()).toEqual(expect.arrayContaining(['tr', 'tr.deep']));
    expect(await refusal('CREATE SCHEMA lake.tr')).toContain('already exists');
    expect(await refusal('DROP SCHEMA lake."tr.deep"')).toContain('Cannot drop non-empty schema');
    await run('DROP SCHEMA lake."tr.deep" CASCADE');
    expect((await trino.sql('SHOW SCHEMAS FROM lake')).flat()).not.toContain('tr.deep');
  });

  test('every type, written by Trino and read by Skein', async () => {
    await run(
      `CREATE TABLE lake.tr.types (id INTEGER, big BIGINT, f REAL, dd DOUBLE, price DECIMAL(10,2), ok BOOLEAN, name VARCHAR, b VARBINARY,
         d DATE, t TIME(6), ts TIMESTAMP(6), tz TIMESTAMP(6) WITH TIME ZONE, u UUID, l ARRAY(INTEGER), m MAP(VARCHAR, INTEGER),
         s ROW(x INTEGER, y VARCHAR))`,
      `INSERT INTO lake.tr.types VALUES (1, 9223372036854775807, REAL '1.5', -2.25, DECIMAL '-1.50', true, 'ü''', X'00FF', DATE '2024-02-29',
         TIME '01:02:03.5', TIMESTAMP '2024-02-29 01:02:03.123456', TIMESTAMP '2024-02-29 01:02:03 UTC',
         UUID '00000000-0000-4000-8000-000000000001', ARRAY[1, NULL, 3], MAP(ARRAY['k'], ARRAY[1]), ROW(1, 'z'))`,
      'INSERT INTO lake.tr.types (id) VALUES (2)',
    );
    expect(
      await both(
        `SELECT id, CAST(big AS VARCHAR), f, dd, CAST(price AS VARCHAR), ok, name, to_hex(b), CAST(d AS VARCHAR), CAST(t AS VARCHAR),
           CAST(ts AS VARCHAR), to_unixtime(tz), CAST(u AS VARCHAR), l[1], cardinality(l), m['k'], s.x, s.y FROM lake.tr.types WHERE id = 1`,
        `SELECT id, CAST(big AS VARCHAR), f, dd, CAST(price AS VARCHAR), ok, name, hex(b), CAST(d AS VARCHAR), strftime(DATE '2000-01-01' + t, '%H:%M:%S.%f'),
           CAST(ts AS VARCHAR), epoch(tz), CAST(u AS VARCHAR), l[1], len(l), m['k'], s.x, s.y FROM lake.tr.types WHERE id = 1`,
      ),
    ).toHaveLength(1);
    expect(await both('SELECT id, name, l, u FROM lake.tr.types WHERE big IS NULL')).toEqual([[2, null, null, null]]);
  });

  for (const version of [1, 2]) {
    test(`insert${version === 1 ? '' : ', update, delete, merge'}, format version ${version}`, async () => {
      const table = `lake.tr.dml_v${version}`;
      await run(
        `CREATE TABLE ${table} (id INTEGER, name VARCHAR) WITH (format_version = ${version}, partitioning = ARRAY['bucket(id, 2)'])`,
        `INSERT INTO ${table} SELECT id, 'n' || CAST(id AS VARCHAR) FROM UNNEST(sequence(10, 19)) AS s (id)`,
      );
      expect(await both(`SELECT count(*) FROM ${table}`)).toEqual([[10]]);
      if (version === 1) return;
      await run(
        `UPDATE ${table} SET name = 'u' WHERE id = 10`,
        `DELETE FROM ${table} WHERE id IN (11, 13)`,
        `MERGE INTO ${table} t USING (VALUES (12, 'merged'), (99, 'new'), (14, NULL)) AS s (id, name) ON t.id = s.id
           WHEN MATCHED AND s.name IS NULL THEN DELETE WHEN MATCHED THEN UPDATE SET name = s.name
           WHEN NOT MATCHED THEN INSERT (id, name) VALUES (s.id, s.name)`,
      );
      expect(await both(`SELECT id, name FROM ${table} WHERE name NOT LIKE 'n1%' ORDER BY id`)).toEqual([
        [10, 'u'],
        [12, 'merged'],
        [99, 'new'],
      ]);
      expect(await both(`SELECT count(*) FROM ${table}`)).toEqual([[8]]);
    });
  }

  // It reads no deletion vectors.
  test.each(CHANGED_TABLES.filter(([, version]) => version === 2))(
    '%s, format version %i, %s: each reads what the other has changed',
    async (...kind) => {
      const table = `lake.tr.by_skein_${kind[0]}`;
      await makeChangedTable(cluster, table, kind);
      expect((await both(rowsOfChanged(table))).length).toBeGreaterThan(600);
      await run(
        `DELETE FROM ${table} WHERE id % 11 = 0`,
        `UPDATE ${table} SET title = 'trino' WHERE id % 13 = 1`,
        `INSERT INTO ${table} (id, title, day) VALUES (5000, 'trino', DATE '2024-01-01')`,
      );
      await both(rowsOfChanged(table));
      await cluster.sql(`UPDATE ${table} SET title = title || '!' WHERE title = 'trino' AND id % 2 = 0`);
      await cluster.sql(`DELETE FROM ${table} WHERE id % 17 = 0`);
      expect((await both(rowsOfChanged(table))).length).toBeGreaterThan(500);
      await cluster.sql(`DROP TABLE ${table} PURGE`);
    },
  );

  test('schema and partition evolution, comments, properties', async () => {
    await run(
      'CREATE TABLE lake.tr.evolve (id INTEGER NOT NULL, part VARCHAR, gone INTEGER, s ROW(x INTEGER))',
      "INSERT INTO lake.tr.evolve VALUES (1, 'x', 1, ROW(1))",
      "ALTER TABLE lake.tr.evolve ADD COLUMN extra INTEGER COMMENT 'more'",
      'ALTER TABLE lake.tr.evolve ADD COLUMN s.y VARCHAR',
      'ALTER TABLE lake.tr.evolve RENAME COLUMN part TO label',
      'ALTER TABLE lake.tr.evolve DROP COLUMN gone',
      'ALTER TABLE lake.tr.evolve ALTER COLUMN id SET DATA TYPE BIGINT',
      "ALTER TABLE lake.tr.evolve SET PROPERTIES partitioning = ARRAY['bucket(id, 4)'], sorted_by = ARRAY['label']",
      "COMMENT ON TABLE lake.tr.evolve IS 'a table'",
      "INSERT INTO lake.tr.evolve (id, label, extra, s) VALUES (5000000000, 'y', 2, ROW(2, 'w'))",
      "ALTER TABLE lake.tr.evolve SET PROPERTIES partitioning = ARRAY['truncate(label, 1)']",
      "INSERT INTO lake.tr.evolve (id, label, extra) VALUES (7, 'z', 3)",
    );
    expect(await both('SELECT id, label, extra, s.x, s.y FROM lake.tr.evolve ORDER BY id')).toEqual([
      [1, 'x', null, 1, null],
      [7, 'z', 3, null, null],
      [5_000_000_000, 'y', 2, 2, 'w'],
    ]);
    expect(await both("SELECT id FROM lake.tr.evolve WHERE label = 'y'")).toEqual([[5_000_000_000]]);
    expect(JSON.stringify(await trino.sql('SHOW CREATE TABLE lake.tr.evolve'))).toContain("COMMENT 'a table'");
  });

  test('time travel, metadata tables, rollback', async () => {
    await run(
      'CREATE TABLE lake.tr.travel (id INTEGER)',
      'INSERT INTO lake.tr.travel VALUES (1)',
      'INSERT INTO lake.tr.travel VALUES (2)',
    );
    const ids = (
      await trino.sql('SELECT CAST(snapshot_id AS VARCHAR) FROM lake.tr."travel$snapshots" ORDER BY committed_at')
    ).flat();
    const first = must(ids.at(-2), 'two appends') as string;
    expect(
      await both(
        `SELECT id FROM lake.tr.travel FOR VERSION AS OF ${first}`,
        `SELECT id FROM lake.tr.travel AT (VERSION => ${first})`,
      ),
    ).toEqual([[1]]);
    expect((await trino.sql('SELECT name FROM lake.tr."travel$refs"')).flat()).toEqual(['main']);
    await run(`ALTER TABLE lake.tr.travel EXECUTE rollback_to_snapshot(${first})`);
    expect(await both('SELECT id FROM lake.tr.travel')).toEqual([[1]]);
  });

  test('procedures: optimize, expire, orphans, statistics', async () => {
    await run('CREATE TABLE lake.tr.procs (id INTEGER)');
    for (let id = 1; id <= 4; id += 1) await run(`INSERT INTO lake.tr.procs VALUES (${id})`);
    await run(
      'ALTER TABLE lake.tr.procs EXECUTE optimize',
      'ALTER TABLE lake.tr.procs EXECUTE optimize_manifests',
      "ALTER TABLE lake.tr.procs EXECUTE expire_snapshots(retention_threshold => '0s')",
      "ALTER TABLE lake.tr.procs EXECUTE remove_orphan_files(retention_threshold => '0s')",
      'ANALYZE lake.tr.procs',
    );
    expect((await trino.sql('SELECT count(*) FROM lake.tr."procs$snapshots"'))[0]).toEqual([1]);
    expect(await both('SELECT count(*), max(id) FROM lake.tr.procs')).toEqual([[4, 4]]);
  });

  test('create and replace table as select; rename; register', async () => {
    await run(
      'CREATE TABLE lake.tr.ctas AS SELECT n FROM UNNEST(sequence(1, 10)) AS s (n)',
      'CREATE OR REPLACE TABLE lake.tr.ctas AS SELECT CAST(n AS INTEGER) AS m FROM UNNEST(sequence(1, 3)) AS s (n)',
      'ALTER TABLE lake.tr.ctas RENAME TO lake.tr.renamed',
    );
    expect(await both('SELECT m FROM lake.tr.renamed ORDER BY m')).toEqual([[1], [2], [3]]);
    const [[path] = []] = await trino.sql('SELECT "$path" FROM lake.tr.renamed LIMIT 1');
    const location = (path as string).replace(/\/data\/.*$/, '');
    await run(
      "CALL lake.system.unregister_table('tr', 'renamed')",
      `CALL lake.system.register_table('tr', 'registered', '${location}')`,
    );
    expect(await both('SELECT count(*) FROM lake.tr.registered')).toEqual([[3]]);
    await run('DROP TABLE lake.tr.registered');
    expect(await refusal('SELECT * FROM lake.tr.registered')).toContain('does not exist');
  });

  test('views: create, replace, rename, comment, list, drop', async () => {
    await run(
      'CREATE TABLE lake.tr.base (id INTEGER, name VARCHAR)',
      "INSERT INTO lake.tr.base VALUES (1, 'a'), (2, 'b')",
      'CREATE VIEW lake.tr.v AS SELECT id FROM lake.tr.base',
      'CREATE OR REPLACE VIEW lake.tr.v SECURITY INVOKER AS SELECT id, name FROM lake.tr.base WHERE id > 1',
    );
    expect(await trino.sql('SELECT * FROM lake.tr.v')).toEqual([[2, 'b']]);
    expect(
      (await trino.sql("SELECT table_name FROM lake.information_schema.views WHERE table_schema = 'tr'")).flat(),
    ).toEqual(['v']);
    expect(await refusal('CREATE TABLE lake.tr.v (a INTEGER)')).toContain('already exists');
    await run('ALTER VIEW lake.tr.v RENAME TO lake.tr.w', "COMMENT ON VIEW lake.tr.w IS 'c'", 'DROP VIEW lake.tr.w');
    expect((await trino.sql('SHOW TABLES FROM lake.tr')).flat()).not.toContain('w');
  });

  test('names of every kind', async () => {
    await run(
      'CREATE TABLE lake.tr."we ird.näme /+%25" (a INTEGER)',
      'INSERT INTO lake.tr."we ird.näme /+%25" VALUES (7)',
    );
    expect(await both('SELECT a FROM lake.tr."we ird.näme /+%25"')).toEqual([[7]]);
  });

  test('views that it has made give the same rows in Skein', async () => {
    await run(
      'CREATE TABLE lake.tr.viewed (id INTEGER, name VARCHAR, price DECIMAL(10,2), d DATE, big BIGINT, ok BOOLEAN, ts TIMESTAMP(6))',
      `INSERT INTO lake.tr.viewed VALUES (1, 'a', DECIMAL '1.50', DATE '2024-01-01', 5, true, TIMESTAMP '2024-01-01 10:00:00'),
         (2, 'b', DECIMAL '2.50', DATE '2024-02-01', 6, false, TIMESTAMP '2024-01-02 10:00:00.5'), (3, NULL, NULL, NULL, NULL, NULL, NULL),
         (4, 'b', DECIMAL '7.25', DATE '2024-03-01', 8, true, NULL), (5, 'Zürich', DECIMAL '-3.00', DATE '1999-12-31', -1, NULL, NULL)`,
    );
    for (const [i, [columns, query]] of SAME_VIEWS.entries()) {
      const view = `lake.tr.same_${i}`;
      await run(`CREATE VIEW ${view} AS ${query.replaceAll('@', 'lake.tr.viewed')}`);
      // Trino writes a DOUBLE as 1.0E0.
      const texts = columns
        .map((column) => `CAST(${column === 'mean' ? 'CAST(mean AS DECIMAL(12, 3))' : column} AS VARCHAR)`)
        .join(', ');
      const rows = await both(`SELECT ${texts} FROM ${view} ORDER BY ${columns.map((_, at) => at + 1).join(', ')}`);
      expect(rows.length).toBeGreaterThan(0);
    }
  });

  test.each(OTHER_VIEWS)('a view that it has made is refused by name in Skein: %s', async (query) => {
    const view = `lake.tr.other_${OTHER_VIEWS.indexOf(query)}`;
    await run(`CREATE VIEW ${view} AS ${query.replaceAll('@', 'lake.tr.viewed')}`);
    await trino.sql(`SELECT * FROM ${view}`);
    const refused = await cluster.sql(`SELECT * FROM ${view}`).catch((error: Error) => error.message);
    expect(refused).toContain('NOT_SUPPORTED');
    expect(refused).toContain(`view ${view}: its query is written in trino, and this is not read here: `);
    expect(refused).toContain('line 1, column 15');
    await cluster.sql(`DROP VIEW ${view}`);
  });

  test('the table of a materialized view is in no list, and is read by its name', async () => {
    await cluster.sql('CREATE SCHEMA lake.tr_kept');
    await cluster.sql(
      'CREATE MATERIALIZED VIEW lake.tr_kept.v AS SELECT i % 3 AS k, count(*) AS n, avg(i) AS mean FROM range(10) AS r(i) GROUP BY 1',
    );
    const storage = await storageOf(cluster, 'tr_kept', 'v');
    expect((await trino.sql('SHOW TABLES FROM lake.tr_kept')).flat()).not.toContain(storage);
    await both(
      `SELECT k, n, mean FROM lake.tr_kept."${storage}" ORDER BY k`,
      'SELECT k, n, mean FROM lake.tr_kept.v ORDER BY k',
    );
  });
});

/** Views, by the names of their columns. `@` is the table. */
const SAME_VIEWS: readonly (readonly [readonly string[], string])[] = [
  [['id', 'name'], "SELECT id, name FROM @ WHERE id > 1 AND name LIKE 'b%'"],
  [['name', 'n', 's', 'low'], 'SELECT name, count(*) n, sum(price) s, min(d) low FROM @ v GROUP BY name'],
  [['name', 'mean'], 'SELECT name, avg(big) mean FROM @ GROUP BY 1 HAVING count(*) >= 1'],
  [['name'], 'SELECT name FROM @ ORDER BY name LIMIT 2'],
  [['name'], 'SELECT name FROM @ ORDER BY name DESC LIMIT 2'],
  [['x', 'y'], 'SELECT a.id x, b.name y FROM @ a LEFT JOIN @ b ON a.id = b.big'],
  [['x', 'y'], 'SELECT a.id x, b.id y FROM @ a CROSS JOIN @ b WHERE a.id < b.id'],
  [['id', 'x', 'y'], "SELECT id, name || '-' || 'it''s' x, coalesce(price, 0) y FROM @"],
  [['x', 'y', 'z'], 'SELECT id + 1 x, big * 2 - id y, price * price z FROM @'],
  [['id', 'late'], "SELECT id, d > DATE '2024-01-15' late FROM @ WHERE d <> DATE '2024-03-01'"],
  [['id'], "SELECT id FROM @ WHERE ts < TIMESTAMP '2024-01-02 10:00:00.500001'"],
  [['id', 'x', 'y', 'z'], 'SELECT id, length(name) x, substr(name, 2, 3) y, year(d) z FROM @'],
  [['id', 'x'], "SELECT id, CASE WHEN ok THEN 'yes' WHEN NOT ok THEN 'no' ELSE 'unknown' END x FROM @"],
  [
    ['id', 'r'],
    'WITH q AS (SELECT id, big m FROM @ WHERE big IS NOT NULL) SELECT id, row_number() OVER (ORDER BY m) r FROM q',
  ],
  [['id', 'r'], 'SELECT id, rank() OVER (PARTITION BY name ORDER BY price) r FROM @'],
  [['id'], 'SELECT id FROM @ WHERE id IN (SELECT id FROM @ WHERE price BETWEEN 1 AND 3)'],
  [['id'], 'SELECT id FROM @ v WHERE EXISTS (SELECT 1 FROM @ w WHERE w.big = v.id)'],
  [['name'], 'SELECT DISTINCT name FROM @ UNION ALL SELECT name FROM @ WHERE id = 1'],
  [['name'], 'SELECT name FROM @ INTERSECT SELECT name FROM @ WHERE id > 1'],
  [['id'], 'SELECT id FROM @ WHERE id % 2 = 1'],
  [['n'], 'SELECT n FROM (SELECT count(DISTINCT name) n FROM @) x'],
];
const OTHER_VIEWS: readonly string[] = [
  'SELECT id / 2 AS x FROM @',
  'SELECT upper(name) AS x FROM @',
  'SELECT avg(price) AS x FROM @',
  'SELECT CAST(price AS INTEGER) AS x FROM @',
  'SELECT x FROM UNNEST(ARRAY[1, 2]) AS u (x)',
  'SELECT current_date AS x',
  'SELECT CAST(id AS DOUBLE) > 1.5E0 AS x FROM @',
];
