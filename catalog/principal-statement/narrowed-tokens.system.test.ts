import { decodeJwt } from 'jose';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { must } from '#shared/must.ts';
import type { PrincipalRequest } from '#shared/principal/principal-request.ts';
import { startTestCatalog, type TestCatalog } from '#test/support/catalog.ts';
import { PASSWORD, statementRunner, type StatementRunner } from '#test/support/run-statements.ts';

/** Statements about others by tokens that were narrowed: an administrator's token of `table:read` makes no administrators. */
let catalog: TestCatalog;
let user: StatementRunner;
beforeAll(async () => {
  catalog = await startTestCatalog();
  user = statementRunner(catalog);
  await user.createUser('ann');
});
afterAll(() => catalog[Symbol.asyncDispose]());

const send = (token: string, request: PrincipalRequest): Promise<string> =>
  catalog
    .call('RunPrincipalStatement', {
      principal: catalog.principal(token),
      statement: Buffer.from(JSON.stringify(request)),
    })
    .then(
      () => 'done',
      (error: unknown) => (error as { readonly code: string }).code,
    );
const exchange = async (pat: string, scope?: string): Promise<string> => {
  const form = { grant_type: 'pat', pat, client_id: 'service-sql', ...(scope === undefined ? {} : { scope }) };
  const { body } = await catalog.rest('POST', '/v1/oauth/tokens', {
    token: null,
    raw: new URLSearchParams(form).toString(),
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
  });
  return must(body['access_token'] as string | undefined, 'a token');
};
const newPat = async (name: string, scope?: string): Promise<string> => {
  const request = { kind: 'create_token', name, owner: null, ...(scope === undefined ? {} : { scope }) } as const;
  const [row] = await user.table('admin', request);
  return must(row?.['token'], 'a token');
};

const WEBHOOK = { url: 'https://hooks.example.org/x', secret: '0123456789abcdef', events: ['nothing'] };
const WRITES: readonly PrincipalRequest[] = [
  {
    kind: 'create_user',
    name: 'evil',
    ifNotExists: false,
    email: 'evil@example.org',
    password: PASSWORD,
    defaultRole: 'tenant_admin',
  },
  { kind: 'grant_role', role: 'tenant_admin', holder: { kind: 'USER', name: 'ann' }, isRevoke: false },
  { kind: 'grant_privilege', privilege: 'MANAGE USERS', user: 'ann', isRevoke: false },
  { kind: 'alter_user', name: 'ann', password: 'Other-Horse-9' },
  { kind: 'create_webhook', name: 'evil', ifNotExists: false, ...WEBHOOK },
  { kind: 'create_role', name: 'evil', ifNotExists: false },
  { kind: 'create_account', name: 'evil', ifNotExists: false },
  { kind: 'drop_user', name: 'ann', ifExists: false, cascade: true },
];
const READS: readonly PrincipalRequest[] = [
  { kind: 'show_audit_log', like: null, after: null, limit: 1 },
  { kind: 'describe_user', name: 'ann' },
  { kind: 'show_webhooks' },
  { kind: 'show_tokens', owner: 'ann' },
  { kind: 'show_grants', holder: { kind: 'USER', name: 'ann' } },
];
const OWN: readonly PrincipalRequest[] = [
  { kind: 'describe_user', name: 'admin' },
  { kind: 'show_tokens', owner: null },
  { kind: 'show_roles' },
];
const outcomes = async (token: string, requests: readonly PrincipalRequest[]): Promise<ReadonlySet<string>> => {
  const found = new Set<string>();
  for (const request of requests) found.add(await send(token, request));
  return found;
};
const REFUSED = new Set(['FORBIDDEN']);
const DONE = new Set(['done']);

test.each([
  ['of a personal access token', async () => exchange(await newPat('narrow', 'table:read'))],
  ['of skein token', () => catalog.mint({ scope: ['table:read', 'catalog:write'] })],
  [
    'of a personal access token that was narrowed by the request',
    async () => exchange(await newPat('wide'), 'table:read'),
  ],
])('an administrator’s token %s reads and writes about nobody else', async (_what, tokenOf) => {
  const token = await tokenOf();
  expect(await outcomes(token, [...WRITES, ...READS])).toEqual(REFUSED);
  expect(await outcomes(token, OWN)).toEqual(DONE);
});

test('who asks for the scopes has them: to read, or to write', async () => {
  const reader = await exchange(await newPat('reader', 'principal:read'));
  expect(await outcomes(reader, WRITES)).toEqual(REFUSED);
  expect(await outcomes(reader, READS)).toEqual(DONE);
  const writer = await exchange(await newPat('writer', 'principal:write'));
  expect(await outcomes(writer, READS)).toEqual(REFUSED);
  expect(await send(writer, { kind: 'create_role', name: 'made', ifNotExists: false })).toBe('done');
});

test('tenant_admin and each privilege give them to a full sign-in, and nothing else does', async () => {
  const scopesOf = async (name: string): Promise<readonly string[]> =>
    String(decodeJwt(await catalog.mint({ user: name }))['scope'])
      .split(' ')
      .filter((scope) => scope.startsWith('principal:'));
  expect(await scopesOf('admin')).toEqual(['principal:read', 'principal:write']);
  expect(await scopesOf('ann')).toEqual([]);
  for (const privilege of ['MANAGE USERS', 'MANAGE PATS', 'MANAGE SERVICE ACCOUNTS'] as const) {
    await user.run('admin', { kind: 'grant_privilege', privilege, user: 'ann', isRevoke: false });
    expect(await scopesOf('ann')).toEqual(['principal:read', 'principal:write']);
    await user.run('admin', { kind: 'grant_privilege', privilege, user: 'ann', isRevoke: true });
  }
  await expect(catalog.mint({ user: 'ann', scope: ['principal:write'] })).rejects.toMatchObject({ code: 'FORBIDDEN' });
});
