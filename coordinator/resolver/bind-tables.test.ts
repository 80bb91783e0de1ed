import { expect, test } from 'vitest';
import { scriptedTables } from '#test/support/scripted/tables.ts';
import type { MetadataRowsRequest } from '../binding/metadata-rows.ts';
import { bindTables } from './bind-tables.ts';
import type { LoadedTable } from '../binding/table-source.ts';

type Found = Extract<LoadedTable, { kind: 'found' }>;

const SCRIPT = scriptedTables({ 'lake.default.t': { columns: 'a long' } });

/** Binds `t`, of which the catalog has answered this. */
const bind = (answer: Partial<Found>, name = 't', source = SCRIPT): ReturnType<typeof bindTables> =>
  bindTables({
    references: [{ parts: [name], location: 14, alias: null, at: null, qualifier: 't', addresses: [] }],
    defaults: { catalog: 'lake', schema: 'default' },
    source: {
      ...source,
      loadTables: async (names, signal) =>
        (await SCRIPT.loadTables(names, signal)).map((table) =>
          table.kind === 'found' ? { ...table, ...answer } : table,
        ),
    },
    named: null,
    rows: new Map(),
    signal: new AbortController().signal,
  });

const BOUND = { id: 'i', version: '1', arguments: [{ name: 'a', type: 'BIGINT', fieldId: 1 }], mappingTables: [] };
const ROW_ACCESS = { kind: 'row_access', name: 'own', body: 'a = 1', ...BOUND } as const;
const MASKING = { kind: 'masking', name: 'masked', fieldId: 1, body: 'NULL', ...BOUND } as const;

test('a table that the principal may not select from is refused, at its name', async () => {
  expect(await bind({})).toMatchObject([{ tableName: 'lake.default.t' }]);
  await expect(bind({ actions: new Set(['table.describe']) })).rejects.toMatchObject({
    code: 'FORBIDDEN',
    position: 14,
  });
});

test('a table with policies stands below them, and one with a policy that a newer catalog knows is not read', async () => {
  for (const policy of [ROW_ACCESS, MASKING]) {
    const policies = { policies: [policy], version: '1' };
    expect(await bind({ policies: [policy], policyVersion: '1' })).toMatchObject([{ kind: 'policed', policies }]);
  }
  await expect(bind({ policies: [{ kind: 'unknown', name: 'p' }], policyVersion: '1' })).rejects.toMatchObject({
    code: 'NOT_SUPPORTED',
    position: 14,
  });
});

test('metadata tables ask for the right to read the table, and show no values of rows that a policy may hide', async () => {
  const asked: MetadataRowsRequest[] = [];
  const source = {
    ...SCRIPT,
    metadataRows: (request: MetadataRowsRequest) => {
      asked.push(request);
      return SCRIPT.metadataRows({ ...request, what: 'refs' });
    },
  };
  const policies = { policies: [ROW_ACCESS], policyVersion: '1' };
  await expect(bind({ actions: new Set(['table.describe']) }, 't$files')).rejects.toMatchObject({ code: 'FORBIDDEN' });
  for (const what of ['files', 'entries', 'manifests', 'partitions']) {
    const asking = bind(policies, `t$${what}`, source);
    await expect(asking, what).rejects.toMatchObject({ code: 'NOT_SUPPORTED', position: 14 });
  }
  await bind(policies, 't$snapshots', source);
  await bind({}, 't@v1$FILES', source);
  expect(asked.map(({ what, withValues, snapshot }) => [what, withValues, snapshot?.snapshotId])).toEqual([
    ['snapshots', false, 12n],
    ['files', true, 11n],
  ]);
});
