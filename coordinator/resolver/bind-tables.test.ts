import { expect, test } from 'vitest';
import { scriptedTables } from '#test/support/scripted/tables.ts';
import { bindTables } from './bind-tables.ts';
import type { LoadedTable } from './table-source.ts';

type Found = Extract<LoadedTable, { kind: 'found' }>;

const SCRIPT = scriptedTables({ 'lake.default.t': { columns: 'a long' } });

/** Binds `t`, of which the catalog has answered this. */
const bind = (answer: Partial<Found>): ReturnType<typeof bindTables> =>
  bindTables({
    references: [{ parts: ['t'], location: 14, alias: null, at: null }],
    defaults: { catalog: 'lake', schema: 'default' },
    source: {
      ...SCRIPT,
      loadTables: async (names, signal) =>
        (await SCRIPT.loadTables(names, signal)).map((table) => ({ ...table, ...answer }) as LoadedTable),
    },
    rows: new Map(),
    signal: new AbortController().signal,
  });

test('a table that the principal may not select from is refused, at its name', async () => {
  expect(await bind({})).toMatchObject([{ tableName: 'lake.default.t' }]);
  await expect(bind({ actions: new Set(['table.describe']) })).rejects.toMatchObject({
    code: 'FORBIDDEN',
    position: 14,
  });
});

test('a table with a policy is not read, because nothing applies policies', async () => {
  await expect(bind({ policies: [{ kind: 'row_access' }], policyVersion: '1' })).rejects.toMatchObject({
    code: 'NOT_SUPPORTED',
    position: 14,
  });
});
