import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Json } from '#shared/json.ts';
import { must } from '#shared/must.ts';
import { startCluster, type StartedCluster } from '#test/support/cluster.ts';
import { startSpark, type Spark } from '#test/support/spark.ts';
import { storageOf } from '#test/support/storage-of.ts';
import { CHANGED_TABLES, makeChangedTable, rowsOfChanged } from '../clients/changed-tables.ts';

/**
 * Spark, the engine that the specification's Java client is made for: it writes, evolves and maintains tables, and Skein reads the same
 * rows.
 */
let cluster: StartedCluster;
let spark: Spark;

beforeAll(async () => {
  cluster = await startCluster();
  spark = await startSpark(cluster.catalogUrl, await cluster.token());
  await spark.sql('CREATE NAMESPACE lake.sp');
});

afterAll(async () => {
  await spark?.[Symbol.asyncDispose]();
  await cluster?.stop();
});

const run = async (...statements: readonly string[]): Promise<void> => {
  for (const sql of statements) await spark.sql(sql);
};
/** Runs a query on Spark and on Skein, checks that the rows are equal, and returns them. */
const both = async (sql: string, ours = sql): Promise<readonly (readonly Json[])[]> => {
  const theirs = await spark.sql(sql);
  expect(await cluster.sql(ours)).toEqual(theirs);
  return theirs;
};
const refusal = (sql: string): Promise<string> =>
  spark.sql(sql).then(
    () => 'no refusal',
    (error: Error) => error.message,
  );

describe('Spark', () => {
  test('namespaces: create, describe, alter, nest, list, drop', async () => {
    await run(
      "CREATE NAMESPACE lake.sp.`dots.and ü` WITH PROPERTIES ('p' = '1')",
      "ALTER NAMESPACE lake.sp.`dots.and ü` SET PROPERTIES ('q' = '2')",
    );
    expect(await spark.sql('SHOW NAMESPACES IN lake.sp')).toEqual([['sp.`dots.and ü`']]);
    expect(JSON.stringify(await spark.sql('DESCRIBE NAMESPACE EXTENDED lake.sp.`dots.and ü`'))).toContain('(q,2)');
    expect(await refusal('CREATE NAMESPACE lake.sp')).toContain('already exists');
    await run('DROP NAMESPACE lake.sp.`dots.and ü`');
    expect(await spark.sql('SHOW NAMESPACES IN lake.sp')).toEqual([]);
  });

  test('every type, written by Spark and read by Skein', async () => {
    await run(
      `CREATE TABLE lake.sp.types (id INT, big BIGINT, f FLOAT, dd DOUBLE, price DECIMAL(10,2), ok BOOLEAN, name STRING, b BINARY, d DATE,
         tz TIMESTAMP, ts TIMESTAMP_NTZ, l ARRAY<INT>, m MAP<STRING, INT>, s STRUCT<x: INT, y: STRING>) USING iceberg`,
      `INSERT INTO lake.sp.types VALUES (1, 9223372036854775807, 1.5, -2.25, -1.50, true, "ü'", X'00FF', DATE'2024-02-29',
         TIMESTAMP'2024-02-29 01:02:03.123456', TIMESTAMP_NTZ'2024-02-29 01:02:03', array(1, NULL, 3), map('k', 1), named_struct('x', 1, 'y', 'z'))`,
      'INSERT INTO lake.sp.types (id) VALUES (2)',
    );
    expect(
      await both(
        `SELECT id, CAST(big AS STRING), f, dd, CAST(price AS STRING), ok, name, hex(b), CAST(d AS STRING), CAST(ts AS STRING), l[0], size(l),
           m['k'], s.x, s.y, date_format(tz, 'HHmmss') FROM lake.sp.types ORDER BY id`,
        `SELECT id, CAST(big AS VARCHAR), f, dd, CAST(price AS VARCHAR), ok, name, hex(b), CAST(d AS VARCHAR), CAST(ts AS VARCHAR), l[1], len(l),
           m['k'], s.x, s.y, strftime(tz, '%H%M%S') FROM lake.sp.types ORDER BY id`,
      ),
    ).toHaveLength(2);
  });

  for (const mode of ['copy-on-write', 'merge-on-read']) {
    for (const version of [2, 3]) {
      test(`insert, update, delete, merge, ${mode}, format version ${version}`, async () => {
        const table = `lake.sp.dml_${mode.slice(0, 4)}_v${version}`;
        const modes = ['delete', 'update', 'merge'].map((verb) => `'write.${verb}.mode' = '${mode}'`).join(', ');
        await run(
          `CREATE TABLE ${table} (id INT, name STRING) USING iceberg PARTITIONED BY (bucket(2, id))
             TBLPROPERTIES ('format-version' = '${version}', ${modes})`,
          `INSERT INTO ${table} SELECT CAST(id AS INT), concat('n', id) FROM range(10, 20)`,
          `UPDATE ${table} SET name = 'u' WHERE id = 10`,
          `DELETE FROM ${table} WHERE id IN (11, 13)`,
          `MERGE INTO ${table} t USING (SELECT 12 AS id, 'merged' AS name UNION ALL SELECT 99, 'new' UNION ALL SELECT 14, NULL) s ON t.id = s.id
             WHEN MATCHED AND s.name IS NULL THEN DELETE WHEN MATCHED THEN UPDATE SET * WHEN NOT MATCHED THEN INSERT *`,
        );
        expect(await both(`SELECT id, name FROM ${table} WHERE name NOT LIKE 'n1%' ORDER BY id`)).toEqual([
          [10, 'u'],
          [12, 'merged'],
          [99, 'new'],
        ]);
        expect(await both(`SELECT count(*) FROM ${table}`)).toEqual([[8]]);
      });
    }
  }

  test.each(CHANGED_TABLES)('%s, format version %i, %s: each reads what the other has changed', async (...kind) => {
    const table = `lake.sp.by_skein_${kind[0]}`;
    // Arrays begin at 0 there.
    const same = (): Promise<readonly unknown[]> =>
      both(rowsOfChanged(table).replace('l[1]', 'l[0]'), rowsOfChanged(table));
    await makeChangedTable(cluster, table, kind);
    expect((await same()).length).toBeGreaterThan(600);
    await run(
      `DELETE FROM ${table} WHERE id % 11 = 0`,
      `UPDATE ${table} SET title = 'spark' WHERE id % 13 = 1`,
      `INSERT INTO ${table} (id, title, day) VALUES (5000, 'spark', DATE'2024-01-01')`,
    );
    await same();
    await cluster.sql(`UPDATE ${table} SET title = title || '!' WHERE title = 'spark' AND id % 2 = 0`);
    await cluster.sql(`DELETE FROM ${table} WHERE id % 17 = 0`);
    // Spark keeps a table's metadata for 30 s.
    await run(`REFRESH TABLE ${table}`);
    expect((await same()).length).toBeGreaterThan(500);
    await cluster.sql(`DROP TABLE ${table} PURGE`);
  });

  test('schema and partition evolution, write order, properties', async () => {
    await run(
      'CREATE TABLE lake.sp.evolve (id INT NOT NULL, part STRING, gone INT, s STRUCT<x: INT>) USING iceberg',
      "INSERT INTO lake.sp.evolve VALUES (1, 'x', 1, named_struct('x', 1))",
      "ALTER TABLE lake.sp.evolve ADD COLUMNS (extra INT COMMENT 'more' FIRST, s.y STRING)",
      'ALTER TABLE lake.sp.evolve RENAME COLUMN part TO label',
      'ALTER TABLE lake.sp.evolve DROP COLUMN gone',
      'ALTER TABLE lake.sp.evolve ALTER COLUMN id TYPE BIGINT',
      'ALTER TABLE lake.sp.evolve ADD PARTITION FIELD bucket(4, id)',
      'ALTER TABLE lake.sp.evolve WRITE ORDERED BY label DESC NULLS LAST',
      "ALTER TABLE lake.sp.evolve SET TBLPROPERTIES ('k' = 'v')",
      "INSERT INTO lake.sp.evolve VALUES (2, 5000000000, 'y', named_struct('x', 2, 'y', 'w'))",
      'ALTER TABLE lake.sp.evolve REPLACE PARTITION FIELD bucket(4, id) WITH truncate(1, label) AS letter',
      "INSERT INTO lake.sp.evolve VALUES (3, 7, 'z', NULL)",
    );
    expect(await both('SELECT id, label, extra, s.x, s.y FROM lake.sp.evolve ORDER BY id')).toEqual([
      [1, 'x', null, 1, null],
      [7, 'z', 3, null, null],
      [5_000_000_000, 'y', 2, 2, 'w'],
    ]);
    expect(await both("SELECT id FROM lake.sp.evolve WHERE label = 'y'")).toEqual([[5_000_000_000]]);
    expect(await spark.sql("SHOW TBLPROPERTIES lake.sp.evolve ('k')")).toEqual([['k', 'v']]);
  });

  test('branches, tags, time travel, metadata tables', async () => {
    await run(
      'CREATE TABLE lake.sp.travel (id INT) USING iceberg',
      'INSERT INTO lake.sp.travel VALUES (1)',
      'ALTER TABLE lake.sp.travel CREATE TAG first',
      'ALTER TABLE lake.sp.travel CREATE BRANCH work RETAIN 7 DAYS',
      'INSERT INTO lake.sp.travel VALUES (2)',
      'INSERT INTO lake.sp.travel.branch_work VALUES (9)',
    );
    expect(await spark.sql("SELECT * FROM lake.sp.travel VERSION AS OF 'first'")).toEqual([[1]]);
    expect(await spark.sql("SELECT * FROM lake.sp.travel VERSION AS OF 'work' ORDER BY id")).toEqual([[1], [9]]);
    const snapshots = await spark.sql(
      'SELECT CAST(snapshot_id AS STRING) FROM lake.sp.travel.snapshots ORDER BY committed_at',
    );
    expect(snapshots).toHaveLength(3);
    const first = must(snapshots[0], 'a snapshot')[0] as string;
    expect(
      await both(
        `SELECT id FROM lake.sp.travel VERSION AS OF ${first}`,
        `SELECT id FROM lake.sp.travel AT (VERSION => ${first})`,
      ),
    ).toEqual([[1]]);
    expect(await spark.sql('SELECT name, type FROM lake.sp.travel.refs ORDER BY name')).toEqual([
      ['first', 'TAG'],
      ['main', 'BRANCH'],
      ['work', 'BRANCH'],
    ]);
    await run(
      "CALL lake.system.fast_forward('sp.travel', 'main', 'main')",
      'ALTER TABLE lake.sp.travel DROP BRANCH work',
    );
    expect(await both('SELECT id FROM lake.sp.travel ORDER BY id')).toEqual([[1], [2]]);
  });

  test('procedures: rollback, cherry-pick, expire, rewrite files and manifests, orphans', async () => {
    await run('CREATE TABLE lake.sp.procs (id INT) USING iceberg');
    for (let id = 1; id <= 6; id += 1) await run(`INSERT INTO lake.sp.procs VALUES (${id})`);
    const ids = (
      await spark.sql('SELECT CAST(snapshot_id AS STRING) FROM lake.sp.procs.snapshots ORDER BY committed_at')
    ).flat();
    await run(`CALL lake.system.rollback_to_snapshot('sp.procs', ${ids[3] as string})`);
    expect(await both('SELECT count(*) FROM lake.sp.procs')).toEqual([[4]]);
    await run(`CALL lake.system.cherrypick_snapshot('sp.procs', ${ids[4] as string})`);
    expect(await both('SELECT count(*), max(id) FROM lake.sp.procs')).toEqual([[5, 5]]);
    const [rewritten] = await spark.sql(
      "CALL lake.system.rewrite_data_files(table => 'sp.procs', options => map('min-input-files', '2'))",
    );
    expect(rewritten?.slice(0, 2)).toEqual([5, 1]);
    await run("CALL lake.system.rewrite_manifests('sp.procs')");
    await run(
      "CALL lake.system.expire_snapshots(table => 'sp.procs', older_than => TIMESTAMP'2999-01-01', retain_last => 1)",
    );
    expect(await spark.sql('SELECT count(*) FROM lake.sp.procs.snapshots')).toEqual([[1]]);
    await run("CALL lake.system.remove_orphan_files(table => 'sp.procs', dry_run => true)");
    await run("CALL lake.system.compute_table_stats('sp.procs')");
    expect(await both('SELECT CAST(sum(id) AS INT) FROM lake.sp.procs')).toEqual([[15]]);
  });

  test('create and replace table as select, atomically; rename; register; purge', async () => {
    await run(
      'CREATE TABLE lake.sp.ctas USING iceberg AS SELECT CAST(id AS INT) AS n FROM range(10)',
      'CREATE OR REPLACE TABLE lake.sp.ctas USING iceberg AS SELECT CAST(id AS INT) AS m FROM range(3)',
      'ALTER TABLE lake.sp.ctas RENAME TO sp.renamed',
    );
    expect(await both('SELECT m FROM lake.sp.renamed ORDER BY m')).toEqual([[0], [1], [2]]);
    const [[file] = []] = await spark.sql(
      'SELECT file FROM lake.sp.renamed.metadata_log_entries ORDER BY timestamp DESC LIMIT 1',
    );
    await run('DROP TABLE lake.sp.renamed', `CALL lake.system.register_table('sp.registered', '${file as string}')`);
    expect(await both('SELECT count(*) FROM lake.sp.registered')).toEqual([[3]]);
    await run('DROP TABLE lake.sp.registered PURGE');
    expect(await refusal('SELECT * FROM lake.sp.registered')).toContain('TABLE_OR_VIEW_NOT_FOUND');
  });

  test('views: create, replace, alter, describe, list, drop', async () => {
    await run(
      'CREATE TABLE lake.sp.base (id INT, name STRING) USING iceberg',
      "INSERT INTO lake.sp.base VALUES (1, 'a'), (2, 'b')",
      "CREATE VIEW lake.sp.v (n COMMENT 'the id') COMMENT 'a view' AS SELECT id FROM lake.sp.base",
      'CREATE OR REPLACE VIEW lake.sp.v AS SELECT id AS n, name FROM lake.sp.base WHERE id > 1',
      "ALTER VIEW lake.sp.v SET TBLPROPERTIES ('k' = 'v')",
    );
    expect(await spark.sql('SELECT * FROM lake.sp.v')).toEqual([[2, 'b']]);
    expect(JSON.stringify(await spark.sql('SHOW VIEWS IN lake.sp'))).toContain('"v"');
    expect(await refusal('CREATE TABLE lake.sp.v (a INT) USING iceberg')).toContain('already exists');
    expect(await refusal('CREATE VIEW lake.sp.base AS SELECT 1 AS a')).toContain('already exists');
    await run('ALTER VIEW lake.sp.v RENAME TO sp.w', 'DROP VIEW lake.sp.w');
    expect(await spark.sql('SHOW VIEWS IN lake.sp')).toEqual([]);
  });

  test('views that it has made give the same rows in Skein', async () => {
    await run(
      'CREATE TABLE lake.sp.viewed (id INT, name STRING, price DECIMAL(10,2), d DATE, big BIGINT, ok BOOLEAN) USING iceberg',
      `INSERT INTO lake.sp.viewed VALUES (1, 'a', 1.50, DATE'2024-01-01', 5, true), (2, 'b', 2.50, DATE'2024-02-01', 6, false),
         (3, NULL, NULL, NULL, NULL, NULL), (4, 'b', 7.25, DATE'2024-03-01', 8, true), (5, 'Zürich', -3.00, DATE'1999-12-31', -1, NULL)`,
      'USE lake.sp',
    );
    for (const [i, [columns, query]] of SAME_VIEWS.entries()) {
      const view = `lake.sp.same_${i}`;
      await run(`CREATE VIEW ${view} (${columns.join(', ')}) AS ${query}`);
      const texts = columns.map((column) => `CAST(${column} AS STRING)`).join(', ');
      expect(
        (
          await both(
            `SELECT ${texts} FROM ${view} ORDER BY ${columns.map((_, at) => `${at + 1} NULLS FIRST`).join(', ')}`,
          )
        ).length,
      ).toBeGreaterThan(0);
    }
  });

  test.each(OTHER_VIEWS)('a view that it has made is refused by name in Skein: %s', async (query) => {
    const view = `lake.sp.other_${OTHER_VIEWS.indexOf(query)}`;
    await run(`CREATE VIEW ${view} AS ${query}`);
    await spark.sql(`SELECT * FROM ${view}`);
    const refused = await cluster.sql(`SELECT * FROM ${view}`).catch((error: Error) => error.message);
    expect(refused).toContain(`NOT_SUPPORTED`);
    expect(refused).toContain(`view ${view}: its query is written in spark, and this is not read here: `);
    expect(refused).toContain('line 1, column 15');
    await cluster.sql(`DROP VIEW ${view}`);
  });

  test('the table of a materialized view is in no list, and is read by its name', async () => {
    await cluster.sql('CREATE SCHEMA lake.sp_kept');
    await cluster.sql(
      'CREATE MATERIALIZED VIEW lake.sp_kept.v AS SELECT i % 3 AS k, count(*) AS n, avg(i) AS mean FROM range(10) AS r(i) GROUP BY 1',
    );
    const storage = await storageOf(cluster, 'sp_kept', 'v');
    expect(JSON.stringify(await spark.sql('SHOW TABLES IN lake.sp_kept'))).not.toContain('storage');
    await both(
      `SELECT k, n, CAST(mean AS STRING) FROM lake.sp_kept.\`${storage}\` ORDER BY k`,
      'SELECT k, n, CAST(mean AS STRING) FROM lake.sp_kept.v ORDER BY k',
    );
  });
});

/** Views, by the names of their columns. */
const SAME_VIEWS: readonly (readonly [readonly string[], string])[] = [
  [['a', 'b'], 'SELECT id, name FROM viewed WHERE id > 1 AND name LIKE "b%"'.replaceAll('"', "'")],
  [['a', 'b', 'c', 'd'], 'SELECT `name`, count(*), sum(price), min(d) FROM lake.sp.viewed v GROUP BY `name`'],
  [['a', 'b'], 'SELECT name, avg(big) FROM viewed GROUP BY name HAVING count(*) >= 1'],
  [['a'], 'SELECT name FROM viewed ORDER BY name LIMIT 2'],
  [['a'], 'SELECT name FROM viewed ORDER BY name DESC LIMIT 2'],
  [['a', 'b'], 'SELECT a.id, b.name FROM viewed a LEFT JOIN viewed b ON a.id = b.big'],
  [['a', 'b'], 'SELECT a.id, b.id FROM viewed a CROSS JOIN viewed b WHERE a.id < b.id'],
  [['a', 'b', 'c'], "SELECT id, concat(name, '-', 'x'), coalesce(price, 0) FROM viewed"],
  [['a', 'b', 'c'], 'SELECT id + 1, big * 2 - id, -price FROM viewed'],
  [['a', 'b'], "SELECT id, d > '2024-01-15' FROM viewed WHERE d <> DATE'2024-03-01'"],
  [['a', 'b', 'c', 'd'], 'SELECT id, length(name), substring(name, 2, 3), year(d) FROM viewed'],
  [['a', 'b'], "SELECT id, CASE WHEN ok THEN 'yes' WHEN NOT ok THEN 'no' ELSE 'unknown' END FROM viewed"],
  [
    ['a', 'b'],
    'WITH q AS (SELECT id, big m FROM viewed WHERE big IS NOT NULL) SELECT id, row_number() OVER (ORDER BY m) FROM q',
  ],
  [['a', 'b'], 'SELECT id, rank() OVER (PARTITION BY name ORDER BY price) FROM viewed'],
  [['a'], 'SELECT id FROM viewed WHERE id IN (SELECT id FROM viewed WHERE price BETWEEN 1 AND 3)'],
  [['a'], 'SELECT id FROM viewed v WHERE EXISTS (SELECT 1 FROM viewed w WHERE w.big = v.id)'],
  [['a'], 'SELECT DISTINCT name FROM viewed UNION ALL SELECT name FROM viewed WHERE id = 1'],
  [['a'], 'SELECT id FROM viewed WHERE id % 2 = 1'],
  [['a'], 'SELECT n FROM (SELECT count(DISTINCT name) n FROM viewed) x'],
];
const OTHER_VIEWS: readonly string[] = [
  'SELECT id / 2 AS x FROM lake.sp.viewed',
  'SELECT upper(name) AS x FROM lake.sp.viewed',
  'SELECT CAST(price AS INT) AS x FROM lake.sp.viewed',
  "SELECT id FROM lake.sp.viewed WHERE id = '1'",
  'SELECT explode(array(1, 2)) AS x',
  'SELECT current_date() AS x',
  'SELECT a.id FROM lake.sp.viewed a LEFT ANTI JOIN lake.sp.viewed b ON a.id = b.id',
];
