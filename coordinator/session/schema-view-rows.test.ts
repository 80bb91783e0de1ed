import { expect, test } from 'vitest';
import { principalId, tenantId } from '#shared/id.ts';
import { allowing } from '#test/support/decisions.ts';
import type { Caller } from '../auth/authenticate.ts';
import type { SchemaViewName, ViewFilters } from '../binding/schema-views.ts';
import type { CatalogClient } from '../catalog-client/catalog-client.ts';
import type { NameFinder } from './current-names.ts';
import { EncodedBlocks } from './encoded-blocks.ts';
import { schemaViews } from './schema-view-rows.ts';
import type { SessionState } from './session.ts';

const CATALOGS = ['lake', 'cold', 'third'];
const DEFAULT = 'lake';

/** The catalogs that the catalog service was asked to list for a view. */
async function listed(view: SchemaViewName, filters: ViewFilters, chosen: string | null = null): Promise<string[]> {
  const asked: string[] = [];
  const catalog = {
    findCatalogs: () => Promise.resolve(CATALOGS),
    listCatalog: (_principal: unknown, name: string) => {
      asked.push(name);
      return Promise.resolve({ blocks: [], schemas: [] });
    },
  } as unknown as CatalogClient;
  const names = { current: () => Promise.resolve({ catalog: DEFAULT, schema: [] }) } as unknown as NameFinder;
  const caller = { claims: { tenant: tenantId('t'), sub: principalId('p') }, decisions: allowing('schema.list') };
  const session = { catalog: chosen } as unknown as SessionState;
  const parts = { catalog, names, caller: caller as unknown as Caller, session, encoded: new EncodedBlocks() };
  await schemaViews({ ...parts, take: () => undefined, isPostgres: false }).schemaView({
    view,
    title: view,
    catalog: null,
    filters,
    named: null,
    hidden: [],
    signal: AbortSignal.timeout(10_000),
  });
  return asked;
}

test.each<[SchemaViewName, ViewFilters, string[]]>([
  ['tables', { table_catalog: ['cold'] }, ['cold']],
  ['columns', { table_catalog: ['third', 'cold'] }, ['cold', 'third']],
  ['views', { table_catalog: ['nowhere'] }, []],
  ['schemata', { catalog_name: ['cold'] }, ['cold']],
  ['policy_references', { ref_database_name: ['cold'] }, ['cold']],
  ['tables', {}, [DEFAULT]],
  ['schemata', {}, [DEFAULT]],
])('a catalog is loaded when a query asks for it, and no other: %s %j', async (view, filters, expected) => {
  expect(await listed(view, filters)).toEqual(expected);
});

test('in a session that has chosen a catalog no other is loaded, whatever the filter says', async () => {
  expect(await listed('tables', { table_catalog: ['cold'] }, 'third')).toEqual(['third']);
});
