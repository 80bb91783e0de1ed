import { afterAll, beforeAll, expect, test } from 'vitest';
import type { PolicyRequest } from '#shared/policy/policy-request.ts';
import { startTestCatalog, type TestCatalog } from '#test/support/catalog.ts';

let catalog: TestCatalog;
beforeAll(async () => {
  catalog = await startTestCatalog();
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
