import { expect, test } from 'vitest';
import { namesOld, withNewNames, type NameChange } from './name-change.ts';
import type { ViewMetadata, ViewVersion } from './view-metadata.ts';

const SCHEMA: NameChange = { kind: 'namespace', catalog: 'Lake', from: ['sales', 'eu'], to: ['north'] };
const CATALOG: NameChange = { kind: 'catalog', from: 'Lake', to: 'sea' };

test.each([
  ['SELECT * FROM t', false, false],
  ['SELECT * FROM "sales.eu".t', true, false],
  ['SELECT * FROM sales.eu.t', true, false],
  ['SELECT * FROM SALES . "EU" /* . */ . t', true, false],
  ['SELECT * FROM `sales`.`eu`.`t`', true, false],
  ['SELECT * FROM sales.t', false, false],
  ['SELECT * FROM "sales.euro".t', false, false],
  ['SELECT * FROM x."sales.eu".t', false, false],
  ['SELECT * FROM lake."sales.eu".t', true, true],
  ['SELECT * FROM lake.other.t', false, true],
  // A column of a table that is called so.
  ['SELECT lake.v FROM lake', false, false],
  ["SELECT 'sales.eu.t', $$sales.eu.t$$ -- sales.eu.t", false, false],
  [`SELECT * FROM a, "sales.eu"."t ""x"""`, true, false],
  // A text of another dialect, which ours does not read to its end.
  ["SELECT * FROM sales.eu.t WHERE x = 'it\\'s'", true, false],
] as const)('%s', (sql, namesSchema, namesCatalog) => {
  expect([namesOld(sql, 'lake', SCHEMA), namesOld(sql, 'lake', CATALOG)]).toEqual([namesSchema, namesCatalog]);
});

test('a query whose names without a catalog are those of another one names the schema with its catalog alone', () => {
  expect(namesOld('SELECT * FROM "sales.eu".t', 'other', SCHEMA)).toBe(false);
  expect(namesOld('SELECT * FROM LAKE."sales.eu".t', 'other', SCHEMA)).toBe(true);
});

const version = (id: number, more: Partial<ViewVersion>): ViewVersion => ({
  'version-id': id,
  'timestamp-ms': id,
  'schema-id': 0,
  summary: {},
  'default-namespace': [],
  representations: [],
  ...more,
});
const view = (...versions: readonly ViewVersion[]): ViewMetadata => ({
  'view-uuid': 'u',
  'format-version': 1,
  location: 'file:///v',
  properties: {},
  schemas: [],
  'current-version-id': 1,
  versions,
  'version-log': [],
});
const changed = (one: Partial<ViewVersion>, change: NameChange, catalog = 'Lake') => {
  const next = withNewNames(view(version(1, {}), version(2, one)), catalog, change).versions[1];
  return [next?.['default-catalog'], next?.['default-namespace'], next?.['storage-table']];
};

test('the places in all versions of a document follow, and nothing else does', () => {
  const storage = { namespace: ['sales', 'eu', 'de'], name: 's' };
  expect(changed({ 'default-namespace': ['sales', 'eu'] }, SCHEMA)).toEqual([undefined, ['north'], undefined]);
  // Our own statements write all levels as one.
  expect(changed({ 'default-namespace': ['Sales.eu.de'], 'default-catalog': 'LAKE' }, SCHEMA)).toEqual([
    'LAKE',
    ['north', 'de'],
    undefined,
  ]);
  expect(changed({ 'default-namespace': ['x'], 'storage-table': storage }, SCHEMA)).toEqual([
    undefined,
    ['x'],
    { namespace: ['north', 'de'], name: 's' },
  ]);
  expect(changed({ 'default-namespace': ['a'], 'default-catalog': 'lake' }, CATALOG)).toEqual([
    'sea',
    ['a'],
    undefined,
  ]);
});

test.each([
  ['another schema', { 'default-namespace': ['sales'] }, SCHEMA, 'Lake'],
  ['a longer name', { 'default-namespace': ['sales', 'europe'] }, SCHEMA, 'Lake'],
  ['names of another catalog', { 'default-namespace': ['sales', 'eu'], 'default-catalog': 'other' }, SCHEMA, 'Lake'],
  ['a view of another catalog', { 'default-namespace': ['sales', 'eu'] }, SCHEMA, 'other'],
  ['another catalog', { 'default-catalog': 'other' }, CATALOG, 'other'],
  ['a view without a catalog', {}, CATALOG, 'Lake'],
] as const)('a document stays the same object: %s', (_what, one, change, catalog) => {
  const metadata = view(version(1, one));
  expect(withNewNames(metadata, catalog, change)).toBe(metadata);
});
