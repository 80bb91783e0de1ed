import { expect, test } from 'vitest';
import type { LoadedTable, TableName, TableSource } from '../binding/table-source.ts';
import { leasedTables, statementTables } from './statement-tables.ts';

const name = (table: string): TableName => ({ catalog: 'lake', namespace: ['s'], table });
const never = new AbortController().signal;

/** A catalog in which every load finds a newer commit. */
function busyCatalog(): TableSource & { readonly asked: string[][] } {
  let version = 0;
  const asked: string[][] = [];
  return {
    asked,
    loadTables: (names) => {
      asked.push(names.map(({ table }) => table));
      version += 1;
      const load = ({ table }: TableName): LoadedTable =>
        table === 'gone'
          ? { kind: 'missing', code: 'TABLE_NOT_FOUND' }
          : ({ kind: 'found', name: name(table.toLowerCase()), version: `v${version}` } as LoadedTable);
      return Promise.resolve(names.map(load));
    },
    nearest: () => Promise.resolve(undefined),
  };
}

const versions = async (tables: TableSource, ...names: readonly string[]): Promise<readonly string[]> =>
  (await tables.loadTables(names.map(name), never)).map((one) => (one.kind === 'missing' ? one.code : one.version));

test('a table is loaded once, and keeps its snapshot for the whole statement', async () => {
  const catalog = busyCatalog();
  const tables = statementTables(catalog);
  expect(await versions(tables, 'a', 'gone')).toEqual(['v1', 'TABLE_NOT_FOUND']);
  expect(await versions(tables, 'b', 'a', 'gone')).toEqual(['v2', 'v1', 'TABLE_NOT_FOUND']);
  expect(catalog.asked).toEqual([['a', 'gone'], ['b']]);
});

test('another spelling of its name is the same table', async () => {
  const tables = statementTables(busyCatalog());
  expect(await versions(tables, 'a')).toEqual(['v1']);
  expect(await versions(tables, 'A', 'a')).toEqual(['v1', 'v1']);
});

test('a query is given what a lease holds, each table once; all else, and all once they are forgotten, is what the catalog says', async () => {
  const catalog = busyCatalog();
  const tables = statementTables(catalog);
  let leases = 0;
  const query = leasedTables(tables, {
    loadTables: (names, signal) => catalog.loadTables(names, signal),
    leasedTables: (names) => {
      leases += 1;
      if (names.some(({ table }) => table !== 'a')) return null;
      return names.map(({ table }) => ({ kind: 'found', name: name(table), version: 'leased' }) as LoadedTable);
    },
  });
  expect(await versions(query, 'a')).toEqual(['leased']);
  expect(await versions(query, 'a', 'b')).toEqual(['leased', 'v1']);
  expect(leases).toBe(2);
  expect(catalog.asked).toEqual([['b']]);
  expect(await versions(tables, 'a')).toEqual(['v2']);
  query.forget();
  expect(await versions(query, 'a', 'b')).toEqual(['v3', 'v3']);
  expect(leases).toBe(2);
});
