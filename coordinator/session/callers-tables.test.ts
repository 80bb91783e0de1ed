import { expect, test } from 'vitest';
import type { Action } from '#shared/authorization/action.ts';
import { SkeinError } from '#shared/error.ts';
import { principalId, tenantId } from '#shared/id.ts';
import { allowing } from '#test/support/decisions.ts';
import type { Caller } from '../auth/authenticate.ts';
import type { CatalogClient } from '../catalog-client/catalog-client.ts';
import { onePage } from '../catalog-client/pages.ts';
import type { MissingCode } from '../binding/table-source.ts';
import { callersTables } from './callers-tables.ts';

const SCHEMAS: Readonly<Record<string, readonly string[]>> = {
  default: ['events'],
  ...Object.fromEntries(Array.from({ length: 15 }, (_, i) => [`s${i}`, []])),
  tpch: ['Orders', 'region'],
  unreached: ['far'],
};
const asked: string[] = [];

const client = {
  tablesFor: () => ({ loadTables: () => Promise.resolve([]) }),
  listCatalogs: () => Promise.resolve(['lake']),
  listNamespaces: (_principal: unknown, catalog: string) => {
    asked.push(catalog);
    if (catalog !== 'lake') throw new SkeinError('CATALOG_NOT_FOUND', 'it has gone');
    return onePage(Object.keys(SCHEMAS).map((name) => [name]));
  },
  listTables: (_principal: unknown, catalog: string, [schema = '']: readonly string[]) => {
    asked.push(`${catalog}.${schema}`);
    return onePage(SCHEMAS[schema] ?? []);
  },
} as unknown as CatalogClient;

const near = (name: string, missing: MissingCode, ...actions: readonly Action[]): Promise<string | undefined> => {
  const [catalog = '', schema = '', table = ''] = name.split('.');
  const caller = { claims: { tenant: tenantId('t'), sub: principalId('p') }, decisions: allowing(...actions) };
  return callersTables(client, caller as unknown as Caller).nearest({ catalog, namespace: [schema], table }, missing);
};

test.each<[string, MissingCode, string | undefined]>([
  ['lake.default.event', 'TABLE_NOT_FOUND', 'lake.default.events'],
  ['lake.default.orders', 'TABLE_NOT_FOUND', 'lake.tpch.Orders'],
  ['lake.default.nothing', 'TABLE_NOT_FOUND', undefined],
  // Its schema is beyond those that are searched.
  ['lake.default.far', 'TABLE_NOT_FOUND', undefined],
  ['lake.tcph.orders', 'SCHEMA_NOT_FOUND', 'lake.tpch'],
  ['lak.tpch.orders', 'CATALOG_NOT_FOUND', 'lake'],
  ['gone.tpch.orders', 'SCHEMA_NOT_FOUND', undefined],
])('%s, %s: %s', async (name, missing, expected) => {
  expect(await near(name, missing, 'catalog.list', 'schema.list', 'table.list')).toBe(expected);
});

test('no list is read by a caller that may not see it', async () => {
  asked.length = 0;
  expect(await near('lak.tpch.orders', 'CATALOG_NOT_FOUND', 'table.list', 'schema.list')).toBeUndefined();
  expect(await near('lake.tcph.orders', 'SCHEMA_NOT_FOUND', 'table.list', 'catalog.list')).toBeUndefined();
  expect(await near('lake.default.event', 'TABLE_NOT_FOUND', 'catalog.list', 'schema.list')).toBeUndefined();
  expect(asked).toEqual([]);
  expect(await near('lake.default.orders', 'TABLE_NOT_FOUND', 'table.list')).toBeUndefined();
  expect(asked).toEqual(['lake.default']);
});
