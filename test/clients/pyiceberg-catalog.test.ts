import { expect, test } from 'vitest';
import { startTestCatalog } from '#test/support/catalog.ts';
import { python } from '#test/support/python.ts';

test('PyIceberg creates, evolves, writes, commits at once with itself, renames, registers and drops', async () => {
  await using catalog = await startTestCatalog();
  const seen: unknown = JSON.parse(
    await python('test/clients/pyiceberg_catalog.py', catalog.running.url, catalog.token),
  );
  expect(seen).toEqual({
    namespaces: [[['py', 'deep']], { l: 'w' }],
    evolved: [[2, 3, 4], ['a', 'b', 'c'], 1, 5],
    overwritten: [[9], [2, 3, 4]],
    staged: [7],
    'stale append': [0, 7, 8],
    concurrent: [0, 7, 8, 100, 101, 102, 103, 104, 105, 106, 107],
    tables: [[['py', 't']], [['py', 'deep', 'renamed']], false],
    errors: [true, true, true, true, true],
    registered: [9],
    left: [['default']],
  });
}, 300_000);
