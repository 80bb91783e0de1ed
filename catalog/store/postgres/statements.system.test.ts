import { sql } from 'kysely';
import { expect, test } from 'vitest';
import { defaultConfig } from '#shared/config/config-schema.ts';
import type { TenantId } from '#shared/id.ts';
import { silentLogger } from '#shared/log/logger.ts';
import { must } from '#shared/must.ts';
import { startTestCatalog } from '#test/support/catalog.ts';
import { connectStore, type Store } from './connect.ts';
import { listTablesOf, requireTable } from './table-store.ts';

const TENANT = 'default' as TenantId;

/** Returns the statements that this store's one connection has prepared, and how often each ran. */
async function prepared({ pool }: Store): Promise<readonly { statement: string; runs: number }[]> {
  const { rows } = await pool.query<{ statement: string; runs: number }>(
    'select statement, (generic_plans + custom_plans)::integer as runs from pg_prepared_statements order by prepare_time',
  );
  return rows;
}

test('a statement is parsed and planned once per connection; a load is one, a list of any length is one', async () => {
  await using catalog = await startTestCatalog();
  const names = Array.from({ length: 30 }, (_, i) => `t${String(i).padStart(2, '0')}`);
  for (const name of names) {
    await catalog.rest('POST', '/v1/lake/namespaces/default/tables', {
      body: { name, schema: { type: 'struct', fields: [] } },
    });
  }
  const config = defaultConfig({ 'database.url': catalog.databaseUrl, 'database.pool_max': 1 });
  const store = await connectStore(config, silentLogger);
  try {
    const list = (page: { after?: string; limit?: number }) =>
      listTablesOf(store.db, TENANT, 'lake', ['default'], page);
    expect(await list({})).toEqual(names);
    expect(await list({ after: 't09', limit: 5 })).toEqual(names.slice(10, 15));
    expect(await prepared(store)).toMatchObject([{ runs: 2 }]);

    for (const name of names) await requireTable(store.db, TENANT, 'lake', { namespace: ['default'], name });
    const [, lookUp] = await prepared(store);
    expect(must(lookUp, 'a second statement').runs).toBe(names.length);

    await store.db.transaction().execute((tx) => sql`select ${1}::integer`.execute(tx));
    await sql`select 1; select 2`.execute(store.db);
    expect(await prepared(store)).toHaveLength(3);
  } finally {
    await store.close();
  }
});
