import type { Cluster } from '#test/support/cluster.ts';

/** A table, its format version, and how statements change its rows. */
export type ChangedTable = readonly [name: string, version: 2 | 3, mode: 'copy-on-write' | 'merge-on-read'];

export const CHANGED_TABLES: readonly ChangedTable[] = [
  ['position_deletes', 2, 'merge-on-read'],
  ['deletion_vectors', 3, 'merge-on-read'],
  ['rewritten', 2, 'copy-on-write'],
];

/** Makes a table, and changes it by every statement that changes rows, between changes of its schema and partitions. */
export async function makeChangedTable(
  cluster: Cluster,
  table: string,
  [, version, mode]: ChangedTable,
): Promise<void> {
  const modes = ['delete', 'update', 'merge'].map((verb) => `'write.${verb}.mode' = '${mode}'`).join(', ');
  for (const sql of [
    `CREATE TABLE ${table} (id BIGINT, name VARCHAR, price DECIMAL(20, 3), day DATE, ok BOOLEAN, x DOUBLE, l INTEGER[],
       s STRUCT(a INTEGER, b VARCHAR)) PARTITIONED BY (month(day), bucket(3, id)) WITH ('format-version' = '${version}', ${modes})`,
    `INSERT INTO ${table} SELECT i, 'n' || i, i / 8, DATE '1969-12-01' + (i % 90)::INT, i % 2 = 0, i / 4, [i, NULL], {a: i, b: 'ä' || i}
       FROM range(1000) r(i)`,
    `DELETE FROM ${table} WHERE id % 5 = 0`,
    `UPDATE ${table} SET name = NULL, price = price + 1, s = {a: -1, b: 'updated'} WHERE id % 7 = 1`,
    `ALTER TABLE ${table} ADD COLUMN extra INTEGER, RENAME COLUMN name TO title, DROP COLUMN x`,
    `ALTER TABLE ${table} REPLACE PARTITION FIELD bucket(3, id) WITH truncate(100, id)`,
    `UPDATE ${table} SET extra = id % 10, day = day + 31 WHERE id BETWEEN 100 AND 299`,
    `MERGE INTO ${table} AS t USING (SELECT i AS id FROM range(900, 1100) r(i)) AS s ON t.id = s.id
       WHEN MATCHED AND s.id % 2 = 0 THEN DELETE
       WHEN MATCHED THEN UPDATE SET title = 'merged', extra = 1
       WHEN NOT MATCHED THEN INSERT (id, title, day, extra) VALUES (s.id, 'inserted', DATE '2024-02-29', 2)`,
    `DELETE FROM ${table} WHERE day >= DATE '1970-02-01' AND day < DATE '1970-03-01' AND id < 800`,
  ]) {
    await cluster.sql(sql);
  }
}

/** The rows, in SQL that every engine speaks (Spark orders by a column of the result first), each value as text or as a number that JSON holds. */
export const rowsOfChanged = (table: string): string =>
  `SELECT CAST(id AS VARCHAR(20)) AS key, title, CAST(price AS VARCHAR(30)), CAST(day AS VARCHAR(10)), ok, extra, l[1], s.a, s.b FROM ${table} ORDER BY id`;
