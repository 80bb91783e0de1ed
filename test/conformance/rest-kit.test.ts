import { existsSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { startTestCatalog } from '#test/support/catalog.ts';
import type { JunitTest } from '#test/support/junit-report.ts';
import { runKit } from '#test/support/rest-kit.ts';

/**
 * Runs the whole Iceberg REST Compatibility Kit: Iceberg's own tests of a catalog and its views, which use the Java client, against our
 * catalog. Each of its test methods is a test here. The kit disables the tests of nested namespaces and of names with slashes;
 * NestedCatalogTests.java enables them.
 */
const TESTS = 157;
/** The kit chooses locations directly below /tmp, so that is the warehouse; the kit and the server must share a file system. */
const WAREHOUSE = '/tmp';
const FOLDERS = ['a', 'b', 'db', 'newdb', 'new.db', 'new', 'ns', 'ns_1', 'ns_2', 'ns1', 'ns2', 'other_ns', 'parent'];

/**
 * The kit runs these against no REST service: a path cannot name a namespace without levels, and the test of unique locations configures
 * the kit's own server.
 */
const SKIPPED_BY_THE_KIT = [
  'NestedCatalogTests createAndDropEmptyNamespace',
  'NestedCatalogTests createTableInUniqueLocation',
  'NestedCatalogTests listNamespacesWithEmptyNamespace',
  'NestedCatalogTests listTablesInEmptyNamespace',
  'NestedCatalogTests namespacePropertiesOnEmptyNamespace',
  'RESTCompatibilityKitViewCatalogTests listViewsInEmptyNamespace',
];

const label = ({ suite, name }: JunitTest): string => `${suite} ${name}`;

describe('the Iceberg REST Compatibility Kit', async () => {
  const { tests, output } = await runHere();

  test('ran whole', () => {
    expect(tests.length, output).toBe(TESTS);
    expect(
      tests
        .filter(({ state }) => state === 'skipped')
        .map(label)
        .sort(),
    ).toEqual(SKIPPED_BY_THE_KIT);
  });

  for (const one of tests.filter(({ state }) => state !== 'skipped')) {
    test(label(one), () => {
      if (one.state === 'failed') throw new Error(one.text);
    });
  }
});

async function runHere(): ReturnType<typeof runKit> {
  const made = FOLDERS.map((folder) => join(WAREHOUSE, folder)).filter((folder) => !existsSync(folder));
  await using catalog = await startTestCatalog({ 'bootstrap.warehouse': `file://${WAREHOUSE}` });
  try {
    return await runKit('files', { uri: catalog.running.url, warehouse: 'lake', token: catalog.token });
  } finally {
    for (const folder of made) await rm(folder, { recursive: true, force: true });
  }
}
