import { expect, test } from 'vitest';
import { defaultConfig } from '#shared/config/config-schema.ts';
import { principalId, tenantId } from '#shared/id.ts';
import { allowing } from '#test/support/decisions.ts';
import type { Caller } from '../auth/authenticate.ts';
import { OF_NUMBER, OF_SCHEMA } from '../binding/pg-rows.ts';
import type { CatalogClient } from '../catalog-client/catalog-client.ts';
import { readRelation, type Relation } from '../catalog-client/relation.ts';
import type { NameFinder } from './current-names.ts';
import { EncodedBlocks } from './encoded-blocks.ts';
import { pgRelations } from './pg-relation-rows.ts';
import type { SessionState } from './session.ts';

const TABLES = 1_000;
/** Each hundredth table has a primary key. */
const columnsOf = (i: number): string =>
  JSON.stringify({
    fields: [{ id: 1, name: 'a', required: true, type: 'long' }],
    keys: i % 100 === 0 ? [1] : [],
    summary: {},
  });

/** A list of tables in ten schemas, and how often the columns of one were read. */
function listed(): { readonly relations: readonly Relation[]; readonly read: () => number } {
  let count = 0;
  const relations = Array.from({ length: TABLES }, (_, i): Relation => {
    const columns = columnsOf(i);
    const relation = readRelation({
      id: `table-${i}`,
      oid: 16_384 + 8 * i,
      namespace_oid: 8_016_384,
      namespace: [`s${i % 10}`],
      name: `t${i}`,
      kind: 'TABLE',
      version: '1',
      summary: '{}',
      storage_summary: '',
      columns,
      policies: [],
    });
    const counted = (): ReturnType<Relation['columns']> => {
      count += 1;
      return relation.columns();
    };
    return { ...relation, columns: counted };
  });
  return { relations, read: () => count };
}

test('a question by name reads the columns of the tables of that name; one of a schema those of its tables, once', async () => {
  const { relations, read } = listed();
  const list = { blocks: [relations], schemas: [] };
  const rows = pgRelations({
    catalog: { listCatalog: () => Promise.resolve(list) } as unknown as CatalogClient,
    names: { current: () => Promise.resolve({ catalog: 'lake', schema: [] }) } as unknown as NameFinder,
    caller: {
      claims: { tenant: tenantId('t'), sub: principalId('p') },
      decisions: allowing('schema.list'),
    } as unknown as Caller,
    session: {} as unknown as SessionState,
    encoded: new EncodedBlocks(),
    take: () => undefined,
    isPostgres: true,
    tables: { loadTables: () => Promise.resolve([]) },
    activity: () => [],
    config: defaultConfig(),
  });
  const asked = async (filters: Readonly<Record<string, readonly string[]>>): Promise<readonly [number, number]> => {
    const before = read();
    const named = new Set(['oid', 'relname', 'relkind']);
    const signal = AbortSignal.timeout(10_000);
    const { rowCount } = await rows.pgRows({
      pg: 'pg_class',
      schema: 'pg_catalog',
      title: 'pg_class',
      filters,
      named,
      signal,
    });
    return [rowCount, read() - before];
  };
  expect(await asked({ relname: ['t5'] })).toEqual([1, 1]);
  expect(await asked({ relname: ['t100_pkey', 't5_pkey'] })).toEqual([1, 1]);
  const numbers = [String(16_384 + 8 * 7), String(16_384 + 8 * 300 + 1)];
  expect(await asked({ oid: numbers, [OF_NUMBER]: numbers })).toEqual([2, 2]);
  expect(await asked({ [OF_SCHEMA]: ['s0'] })).toEqual([110, 100]);
  // Tables without a key are known by now, and the index of a key wants its columns.
  expect(await asked({ [OF_SCHEMA]: ['s0'] })).toEqual([110, 10]);
});
