import type { Browser } from 'playwright-core';
import { expect, test } from 'vitest';
import type { Cluster } from '#test/support/cluster.ts';
import { expectShown, toldTables } from '#test/support/console-tables.ts';
import { consoleSuite } from '#test/support/console-suite.ts';
import { startSpark } from '#test/support/spark.ts';

/** Tables of Spark in the console's pages, compared with PyIceberg's own answer. */

const NAMESPACE = 'console_spark';
let cluster: Cluster;
let browser: Browser;

consoleSuite((started) => {
  ({ cluster, browser } = started);
});

test('tables that Spark has made are shown as PyIceberg tells of them', async () => {
  await using spark = await startSpark(cluster.catalogUrl, await cluster.token());
  await spark.sql(`CREATE NAMESPACE lake.${NAMESPACE}`);
  for (const format of [1, 2, 3]) {
    const table = `lake.${NAMESPACE}.format_${format}`;
    for (const sql of [
      `CREATE TABLE ${table} (id BIGINT NOT NULL COMMENT '<i>key</i>', region STRING, gone STRING, point STRUCT<x: INT, y: DOUBLE>, lines ARRAY<STRUCT<sku: STRING>>)
         USING iceberg PARTITIONED BY (region) TBLPROPERTIES ('format-version' = '${format}', 'write.delete.mode' = '${format === 1 ? 'copy-on-write' : 'merge-on-read'}')`,
      `INSERT INTO ${table} SELECT id, concat('r', id % 2), 'g', named_struct('x', 1, 'y', 2D), array(named_struct('sku', 's')) FROM range(8)`,
      `ALTER TABLE ${table} CREATE TAG \`begun 'x'\``,
      `ALTER TABLE ${table} CREATE BRANCH side`,
      `ALTER TABLE ${table} DROP COLUMN gone`,
      `ALTER TABLE ${table} RENAME COLUMN point.x TO px`,
      `ALTER TABLE ${table} ADD COLUMN added STRING COMMENT 'later'`,
      `DELETE FROM ${table} WHERE id = 3`,
      `INSERT INTO ${table}.branch_side SELECT 9, 'r1', named_struct('px', 1, 'y', 2D), array(), 'new'`,
    ]) {
      await spark.sql(sql);
    }
  }
  const told = await toldTables(cluster, NAMESPACE, false);
  expect(Object.keys(told).toSorted()).toEqual(['format_1', 'format_2', 'format_3']);
  for (const table of Object.entries(told)) await expectShown({ cluster, browser }, NAMESPACE, table);
});
