import { afterAll, beforeAll, expect, test } from 'vitest';
import type { PrincipalRequest } from '#shared/principal/principal-request.ts';
import { startTestCatalog, type TestCatalog } from '#test/support/catalog.ts';
import { statementRunner, type StatementRunner } from '#test/support/run-statements.ts';
import { patience } from '#test/support/run/slowness.ts';

/** The lists of people and of the audit log, as the console asks for them, of a large organisation. */

const USERS = 100_000;
const EVENTS = 1_000_000;
/** Budget of an answer on two idle cores. */
const BUDGET_MS = 300;

let catalog: TestCatalog;
let user: StatementRunner;
beforeAll(async () => {
  catalog = await startTestCatalog();
  user = statementRunner(catalog);
  const [tenant] = (await catalog.sql(`SELECT tenant_id AS id FROM catalog.principal WHERE username = 'admin'`)) as [
    { readonly id: string },
  ];
  await catalog.sql(`INSERT INTO catalog.principal (tenant_id, username, kind, is_bootstrap_principal, roles, email, display_name)
    SELECT '${tenant.id}', 'user' || i, 'USER', false, '{}', 'mail' || (i * 7) || '@example.org', 'Person ' || md5(i::text) FROM generate_series(1, ${USERS}) AS r(i)`);
  await catalog.sql(`INSERT INTO catalog.user_audit_log (id, tenant_id, created_at, event_type, target_id, target_name, details)
    SELECT gen_random_uuid(), '${tenant.id}', now() - (i || ' seconds')::interval, (ARRAY['create_user', 'drop_user', 'grant_role', 'sign_in'])[1 + i % 4], gen_random_uuid(), 'user' || (i % ${USERS}), '{}'
    FROM generate_series(1, ${EVENTS}) AS r(i)`);
  await catalog.sql('ANALYZE catalog.principal');
  await catalog.sql('ANALYZE catalog.user_audit_log');
});
afterAll(() => catalog[Symbol.asyncDispose]());

const users = { kind: 'show_users', like: null, status: null, after: null, limit: 100 } as const;
const audit = {
  kind: 'search_audit_log',
  event: null,
  actor: null,
  target: null,
  from: null,
  to: null,
  after: null,
  limit: 100,
} as const;
const CASES: readonly (readonly [name: string, request: PrincipalRequest, rows: number])[] = [
  ['users by name', { ...users, search: 'USER99999' }, 1],
  ['users by email', { ...users, search: 'mail699993@' }, 1],
  ['users by display name', { ...users, search: 'person ' }, 100],
  ['users, none', { ...users, search: 'nobody is so' }, 0],
  ['users of a role', { ...users, role: 'tenant_admin' }, 1],
  ['users with a privilege', { ...users, privilege: 'BYPASS POLICIES' }, 0],
  ['audit by event', { ...audit, event: 'drop%' }, 100],
  ['audit by target', { ...audit, target: 'user77' }, 10],
  ['audit by actor', { ...audit, actor: 'admin' }, 0],
  ['audit by event and target', { ...audit, event: 'create_user', target: 'user8' }, 10],
  ['audit by event that there is not', { ...audit, event: 'none%' }, 0],
  ['audit by time', { ...audit, from: '2001-01-01T00:00:00Z', to: '2002-01-01T00:00:00Z' }, 0],
];

test.each(CASES)('%s', async (name, request, rows) => {
  const times: number[] = [];
  for (let i = 0; i < 5; i += 1) {
    const start = performance.now();
    const answer = await user.run('admin', request);
    times.push(performance.now() - start);
    expect([name, answer.rows.length]).toEqual([name, rows]);
  }
  const median = times.toSorted((a, b) => a - b)[2] ?? 0;
  console.log(`${name}: ${median.toFixed(1)} ms`);
  expect(median).toBeLessThanOrEqual(patience(BUDGET_MS));
});
