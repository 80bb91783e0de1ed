import { Client as PgClient } from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { systemClock } from '#shared/clock.ts';
import { newUuidV7 } from '#shared/uuid-v7.ts';
import type { PolicyRequest } from '#shared/policy/policy-request.ts';
import { startTestCatalog, type TestCatalog } from '#test/support/catalog.ts';

let catalog: TestCatalog;
let laterMs = 0;
beforeAll(async () => {
  const clock = { ...systemClock, monotonicMs: () => systemClock.monotonicMs() + laterMs };
  catalog = await startTestCatalog({}, clock);
  const made = await catalog.rest('POST', '/v1/lake/namespaces', { body: { namespace: ['s'] } });
  expect(made.status).toBe(200);
});
afterAll(() => catalog[Symbol.asyncDispose]());

const create = async (name: string): Promise<string> => {
  const request: PolicyRequest = {
    kind: 'create_policy',
    policy: { catalog: 'lake', namespace: ['s'], name },
    policyKind: 'row_access',
    orReplace: false,
    ifNotExists: false,
    arguments: [{ name: 'a', shown: 'a', type: 'BIGINT' }],
    returns: 'BOOLEAN',
    body: 'true',
    mappings: [],
  };
  return catalog
    .call('RunPolicyStatement', {
      principal: catalog.principal(await catalog.mint({ user: 'admin' })),
      statement: Buffer.from(JSON.stringify(request)),
    })
    .then(
      () => 'done',
      (error: unknown) => (error as { readonly code: string }).code,
    );
};

test('a table that is renamed between the gate of an operation and the operation is closed', async () => {
  expect(await create('gate')).toBe('done');
  const fields = [{ id: 1, name: 'a', required: false, type: 'long' }];
  const body = { name: 'secret', schema: { type: 'struct', 'schema-id': 0, fields } };
  expect((await catalog.rest('POST', '/v1/lake/namespaces/s/tables', { body })).status).toBe(200);
  await catalog.sql(`insert into catalog.policy_binding (table_id, policy_id, kind, field_ids)
    select t.id, p.id, 'row_access', '{1}' from catalog.iceberg_table t, catalog.policy p where t.name = 'secret' and p.name = 'gate'`);
  const client = new PgClient({ connectionString: catalog.databaseUrl });
  await client.connect();
  try {
    for (const [path, sent] of ASKED) {
      const name = `moved${path.slice(1)}`;
      // The keys in use are counted anew, behind the gate: there the request waits.
      laterMs += 24 * 3_600_000;
      await client.query('begin; lock table catalog.idempotency_key in access exclusive mode');
      const key = newUuidV7(Date.now());
      const answered = catalog.rest('POST', `/v1/lake/namespaces/s/tables/${name}${path}`, {
        body: sent,
        headers: { 'idempotency-key': key },
      });
      await expect.poll(async () => (await client.query(WAITS)).rows.length).toBe(1);
      await client.query(`update catalog.iceberg_table set name = '${name}', name_folded = '${name}'`);
      await client.query('commit');
      const { status, body: told } = await answered;
      expect([path, status, JSON.stringify(told)]).toEqual([path, 403, expect.stringContaining('through SQL')]);
    }
  } finally {
    await client.end();
  }
  await catalog.sql(`delete from catalog.policy_binding; delete from catalog.policy where name = 'gate'`);
});

const ASKED = [
  ['', { requirements: [], updates: [] }],
  ['/plan', {}],
  ['/unregister', {}],
] as const;
const WAITS = `select from pg_locks l join pg_class c on c.oid = l.relation
  where c.relname = 'idempotency_key' and not l.granted and l.mode = 'AccessShareLock'`;

test('an organisation has at most 1,000 policies', async () => {
  expect(await create('first')).toBe('done');
  await catalog.sql(
    `insert into catalog.policy (tenant_id, namespace_id, kind, name, name_folded, arguments, returns, body, owner)
     select tenant_id, namespace_id, kind, 'p' || i, 'p' || i, arguments, returns, body, owner
     from catalog.policy, generate_series(1, 998) i`,
  );
  expect(await create('last')).toBe('done');
  expect(await create('beyond')).toBe('LIMIT_REACHED');
});
