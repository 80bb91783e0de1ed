import type { Browser } from 'playwright-core';
import { expect, test } from 'vitest';
import type { Cluster } from '#test/support/cluster.ts';
import { expectShown, toldTables } from '#test/support/console-tables.ts';
import { consoleSuite } from '#test/support/console-suite.ts';

/** Tables of others in the console's pages, compared with PyIceberg's own answer. */

const NAMESPACE = 'console_pyiceberg';
let cluster: Cluster;
let browser: Browser;

consoleSuite((started) => {
  ({ cluster, browser } = started);
});

test('tables of format 1 to 3 are shown as PyIceberg tells of them: columns, branches, tags, files, partitions, rows', async () => {
  const told = await toldTables(cluster, NAMESPACE, true);
  expect(Object.keys(told).toSorted()).toEqual(['format_1', 'format_2', 'format_3']);
  for (const table of Object.entries(told)) await expectShown({ cluster, browser }, NAMESPACE, table);
});
