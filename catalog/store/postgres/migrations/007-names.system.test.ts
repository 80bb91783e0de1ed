import { sql } from 'kysely';
import { expect, test } from 'vitest';
import { defaultConfig } from '#shared/config/config-schema.ts';
import { migrateSchema } from '#shared/database/own-schema.ts';
import { silentLogger } from '#shared/log/logger.ts';
import { startTestCatalog } from '#test/support/catalog.ts';
import { connectStore, type Store } from '../connect.ts';
import { CATALOG_SCHEMA } from '../migrations.ts';

const FOLDED = ['catalog.name', 'namespace.path', 'iceberg_table.name', 'iceberg_view.name'].map((one) =>
  one.split('.'),
);

/** Returns the tables' folded names beside the names that they fold, in a fixed order. */
async function foldedNames({ db }: Store): Promise<readonly string[]> {
  const all = FOLDED.map(([table, name]) => `select ${name} || ' ' || ${name}_folded as both from catalog.${table}`);
  const { rows } = await sql.raw<{ both: string }>(`${all.join(' union all ')} order by 1`).execute(db);
  return rows.map(({ both }) => both);
}

test('names that were folded as JavaScript folds them are folded again', async () => {
  await using catalog = await startTestCatalog();
  const view = {
    name: 'ÄView',
    schema: { type: 'struct', fields: [] },
    'view-version': {
      'version-id': 1,
      'timestamp-ms': 1,
      'schema-id': 0,
      summary: {},
      'default-namespace': ['default'],
      representations: [{ type: 'sql', sql: 'select 1', dialect: 'spark' }],
    },
    properties: {},
  };
  const requests = [
    ['', { namespace: ['ÜNder'] }],
    [`/${encodeURIComponent('ÜNder')}/tables`, { name: 'ÖTable', schema: { type: 'struct', fields: [] } }],
    [`/${encodeURIComponent('ÜNder')}/views`, view],
  ] as const;
  for (const [path, body] of requests) {
    expect((await catalog.rest('POST', `/v1/lake/namespaces${path}`, { body })).status).toBe(200);
  }
  const store = await connectStore(defaultConfig({ 'database.url': catalog.databaseUrl }), silentLogger);
  try {
    const folded = await foldedNames(store);
    expect(folded).toEqual(expect.arrayContaining(['lake lake', 'ÜNder Ünder', 'ÖTable Ötable', 'ÄView Äview']));
    for (const [table, name] of FOLDED) {
      await sql
        .raw(`update catalog.${table} set ${name}_folded = lower(${name} collate "und-x-icu")`)
        .execute(store.db);
    }
    expect(await foldedNames(store)).toContain('ÖTable ötable');
    await sql`delete from catalog.kysely_migration where name >= '0007_names'`.execute(store.db);
    const upToNames = Object.entries(CATALOG_SCHEMA.migrations).filter(([name]) => name <= '0007_names');
    await migrateSchema(store.db, { ...CATALOG_SCHEMA, migrations: Object.fromEntries(upToNames) });
    expect(await foldedNames(store)).toEqual(folded);
  } finally {
    await store.close();
  }
});
