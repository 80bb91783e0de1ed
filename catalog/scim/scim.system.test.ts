import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Clock } from '#shared/clock.ts';
import type { Json } from '#shared/json.ts';
import type { PrincipalRequest } from '#shared/principal/principal-request.ts';
import { startTestCatalog, type TestCatalog } from '#test/support/catalog.ts';
import { KNOWN_WITHIN_MS } from '#test/support/known-within.ts';
import { startOutsideIssuer, type OutsideIssuer } from '#test/support/outside-issuer.ts';
import { statementRunner } from '#test/support/run-statements.ts';

/** Users and groups as Entra and Okta send them. */
let catalog: TestCatalog;
let issuer: OutsideIssuer;
let token: string;
let passedMs = 0;
const clock: Clock = { nowMs: () => Date.now() + passedMs, monotonicMs: () => performance.now() + passedMs };

beforeAll(async () => {
  issuer = await startOutsideIssuer();
  catalog = await startTestCatalog(
    { ...issuer.settings, 'catalog.scim_rate': 300, 'catalog.outside_audiences': ['default=api://second'] },
    clock,
  );
  await run({
    kind: 'create_provider',
    name: 'okta',
    ifNotExists: false,
    issuer: issuer.issuer,
    audiences: ['skein:default'],
    domains: ['example.com'],
  });
  token = await newToken('sync', 'okta');
});
afterAll(async () => {
  await catalog[Symbol.asyncDispose]();
  await issuer[Symbol.asyncDispose]();
});

const run = (request: PrincipalRequest, user = 'admin') => statementRunner(catalog).run(user, request);
async function newToken(name: string, provider: string): Promise<string> {
  const { rows } = await run({ kind: 'create_token', name, owner: null, scope: `scim:${provider}` });
  return rows[0]?.[1] ?? '';
}
const describeUser = async (name: string) =>
  (await statementRunner(catalog).table('admin', { kind: 'describe_user', name }))[0];

type ScimAnswer = { readonly status: number; readonly body: Record<string, Json>; readonly headers: Headers };
async function scim(
  method: string,
  path: string,
  body?: object,
  { by = token, headers = {} }: { readonly by?: string; readonly headers?: Record<string, string> } = {},
): Promise<ScimAnswer> {
  const answer = await fetch(`${catalog.running.url}/scim/v2${path}`, {
    method,
    headers: {
      authorization: `Bearer ${by}`,
      ...(body === undefined ? {} : { 'content-type': 'application/scim+json' }),
      ...headers,
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const text = await answer.text();
  return {
    status: answer.status,
    headers: answer.headers,
    body: text === '' ? {} : (JSON.parse(text) as Record<string, Json>),
  };
}
const user = (userName: string, more: object = {}): object => ({
  schemas: ['urn:ietf:params:scim:schemas:core:2.0:User'],
  userName,
  name: { givenName: 'A', familyName: 'B' },
  emails: [{ primary: true, type: 'work', value: userName }],
  active: true,
  ...more,
});
const patch = (...Operations: object[]): object => ({
  schemas: ['urn:ietf:params:scim:api:messages:2.0:PatchOp'],
  Operations,
});
const idOf = ({ body }: ScimAnswer): string => body['id'] as string;

test('the token: a tenant_admin makes it, for SCIM of one provider, and it opens nothing else', async () => {
  const { refusal, createUser } = statementRunner(catalog);
  await createUser('manager');
  await run({ kind: 'grant_privilege', privilege: 'MANAGE PATS', user: 'manager', isRevoke: false });
  const make = { kind: 'create_token', name: 't', owner: null, scope: 'scim:okta' } as const;
  expect(await refusal('manager', make)).toBe('FORBIDDEN');
  expect(await refusal('admin', { ...make, scope: 'scim:nobody' })).toBe('PROVIDER_NOT_FOUND');
  expect(await refusal('admin', { ...make, scope: 'scim:okta table:read' })).toBe('INVALID_REQUEST');
  expect((await catalog.rest('GET', '/v1/lake/namespaces', { token })).status).toBe(401);
  const exchanged = await catalog.rest('POST', '/v1/oauth/tokens', {
    token: null,
    raw: new URLSearchParams({ grant_type: 'pat', pat: token, client_id: 'service-sql' }).toString(),
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
  });
  expect([exchanged.status, exchanged.body['error']]).toEqual([400, 'invalid_grant']);
  const { rows } = await run({ kind: 'create_token', name: 'plain', owner: null, scope: 'table:read principal:write' });
  for (const by of ['', 'skein_pat_x', rows[0]?.[1] ?? '', catalog.token]) {
    expect((await scim('GET', '/Users', undefined, { by })).status).toBe(401);
  }
});

test('Okta: looked for, made, read, changed, deactivated and let back, deleted', async () => {
  expect(
    (await scim('GET', '/Users?filter=userName%20eq%20%22ann%40example.com%22&startIndex=1&count=100')).body,
  ).toEqual({
    schemas: ['urn:ietf:params:scim:api:messages:2.0:ListResponse'],
    totalResults: 0,
    startIndex: 1,
    itemsPerPage: 0,
    Resources: [],
  });
  const made = await scim(
    'POST',
    '/Users',
    user('ann@example.com', { externalId: '00u1', displayName: 'Ann', password: 'Hunter2-and-more' }),
  );
  expect([made.status, made.body]).toMatchObject([
    201,
    { userName: 'ann@example.com', active: true, externalId: '00u1' },
  ]);
  expect(JSON.stringify(made.body)).not.toContain('Hunter2');
  expect(made.headers.get('location')).toBe(`${catalog.running.url}/scim/v2/Users/${idOf(made)}`);
  expect(await describeUser('ann@example.com')).toMatchObject({
    status: 'PROVISIONED',
    identity_source: 'EXTERNAL',
    email: 'ann@example.com',
    display_name: 'Ann',
  });
  expect(JSON.stringify(await catalog.sql('select resource from catalog.scim_user'))).not.toContain('Hunter2');
  expect((await scim('POST', '/Users', user('ANN@example.com'))).body).toMatchObject({
    status: '409',
    scimType: 'uniqueness',
  });
  const path = `/Users/${idOf(made)}`;
  const tag = made.headers.get('etag') ?? '';
  const put = await scim('PUT', path, user('ann@example.com', { externalId: '00u1', displayName: 'Ann B' }), {
    headers: { 'if-match': tag },
  });
  expect([put.status, put.body['displayName']]).toEqual([200, 'Ann B']);
  expect((await scim('PUT', path, user('ann@example.com'), { headers: { 'if-match': tag } })).status).toBe(412);
  const mine = await catalog.mint({ user: 'ann@example.com' });
  expect((await catalog.rest('GET', '/v1/lake/namespaces', { token: mine })).status).toBe(200);
  const off = await scim('PATCH', path, patch({ op: 'replace', value: { active: false } }));
  expect(off.body).toMatchObject({ active: false });
  // Out within a second of the answer.
  await expect
    .poll(async () => (await catalog.rest('GET', '/v1/lake/namespaces', { token: mine })).status, {
      timeout: KNOWN_WITHIN_MS,
    })
    .toBe(401);
  expect((await describeUser('ann@example.com'))?.['status']).toBe('SUSPENDED');
  expect((await scim('PATCH', path, patch({ op: 'Replace', path: 'active', value: 'True' }))).body['active']).toBe(
    true,
  );
  expect((await scim('DELETE', path)).status).toBe(204);
  expect((await describeUser('ann@example.com'))?.['status']).toBe('DEACTIVATED');
  expect((await scim('GET', path)).body).toMatchObject({
    status: '404',
    schemas: ['urn:ietf:params:scim:api:messages:2.0:Error'],
  });
});

test('a user of SQL is nobody that SCIM changes until he is linked', async () => {
  await statementRunner(catalog).createUser('carl');
  const made = await scim('POST', '/Users', user('carl', { externalId: '00carl', active: false }));
  expect(made.status).toBe(201);
  expect((await describeUser('carl'))?.['status']).toBe('ACTIVE');
  expect((await describeUser('carl-2'))?.['status']).toBe('SUSPENDED');
  // One who is linked with the id that SCIM sends is that user.
  await statementRunner(catalog).createUser('dora');
  await catalog.sql(`insert into catalog.principal_identity (provider_id, subject, external_id, principal_id, linked_at)
    select i.id, 'of this application', '00dora', p.id, now() from catalog.identity_provider i, catalog.principal p where p.username = 'dora'`);
  await scim('POST', '/Users', user('dora@example.com', { externalId: '00dora', active: false }));
  expect((await describeUser('dora'))?.['status']).toBe('SUSPENDED');
});

test('whom an administrator has suspended here, no provider lets back', async () => {
  const made = await scim('POST', '/Users', user('held', { externalId: '00held' }));
  const path = `/Users/${idOf(made)}`;
  const statusOf = async (): Promise<unknown> => (await describeUser('held'))?.['status'];
  const say = (active: boolean): Promise<ScimAnswer> =>
    scim('PATCH', path, patch({ op: 'replace', path: 'active', value: active }));
  await run({ kind: 'set_user_state', name: 'held', to: 'SUSPEND' });
  const put = await scim('PUT', path, user('held', { externalId: '00held', active: true }));
  expect([put.status, put.body['active'], await statusOf()]).toEqual([200, false, 'SUSPENDED']);
  await scim('PATCH', path, patch({ op: 'replace', path: 'displayName', value: 'H' }));
  // Also when it has said meanwhile that he is not active, which suspends nobody who is suspended.
  for (const active of [true, false, true]) await say(active);
  expect(await statusOf()).toBe('SUSPENDED');
  await run({ kind: 'set_user_state', name: 'held', to: 'UNSUSPEND' });
  await say(false);
  await say(true);
  expect(await statusOf()).toBe('ACTIVE');
  // An administrator holds one whom the provider has suspended.
  await say(false);
  await run({ kind: 'set_user_state', name: 'held', to: 'SUSPEND' });
  await say(true);
  expect(await statusOf()).toBe('SUSPENDED');
  // A change of another kind forgets nothing.
  await run({ kind: 'set_user_state', name: 'held', to: 'UNSUSPEND' });
  await say(false);
  await run({ kind: 'alter_user', name: 'held', comment: 'away' });
  await say(true);
  expect(await statusOf()).toBe('ACTIVE');
  // The id of another who is linked is nobody else's.
  expect((await scim('PATCH', path, patch({ op: 'replace', path: 'externalId', value: '00dora' }))).status).toBe(409);
});

test('what says nothing of active lets nobody back', async () => {
  const made = await scim('POST', '/Users', user('gone', { externalId: '00gone', active: false }));
  const path = `/Users/${idOf(made)}`;
  const silent = { userName: 'gone', externalId: '00gone' };
  const remove = patch({ op: 'remove', path: 'active' });
  const nothing = patch({ op: 'replace', path: 'active', value: null });
  for (const [method, body] of [
    ['PUT', silent],
    ['PUT', { ...silent, active: null }],
    ['PATCH', remove],
    ['PATCH', nothing],
  ] as const) {
    expect([(await scim(method, path, body)).body['active'], (await describeUser('gone'))?.['status']]).toEqual([
      false,
      'SUSPENDED',
    ]);
  }
  expect((await scim('PUT', path, { ...silent, active: true })).body['active']).toBe(true);
});

test('of two providers both must say that one is active', async () => {
  await run({
    kind: 'create_provider',
    name: 'second',
    ifNotExists: false,
    issuer: issuer.issuer,
    audiences: ['api://second'],
  });
  const by = await newToken('sync second', 'second');
  await statementRunner(catalog).createUser('both');
  await catalog.sql(`insert into catalog.principal_identity (provider_id, subject, external_id, principal_id, linked_at)
    select i.id, '00both', '00both', p.id, now() from catalog.identity_provider i, catalog.principal p
    where p.username = 'both' and i.name in ('okta', 'second')`);
  const body = user('both', { externalId: '00both' });
  const [one, other] = [await scim('POST', '/Users', body), await scim('POST', '/Users', body, { by })];
  const statusOf = async (): Promise<unknown> => (await describeUser('both'))?.['status'];
  const say = (active: boolean, made: ScimAnswer, token?: string): Promise<ScimAnswer> =>
    scim(
      'PATCH',
      `/Users/${idOf(made)}`,
      patch({ op: 'replace', value: { active } }),
      token === undefined ? {} : { by: token },
    );
  await say(false, one);
  await say(false, other, by);
  await say(true, one);
  expect(await statusOf()).toBe('SUSPENDED');
  await say(true, other, by);
  expect(await statusOf()).toBe('ACTIVE');
  await run({ kind: 'drop_provider', name: 'second', ifExists: false });
});

test('halves of characters, which are stored as one sign, name nobody', async () => {
  for (const half of ['\ud800', 'x\udfff']) {
    expect((await scim('POST', '/Users', user(half))).status).toBe(400);
    expect((await scim('POST', '/Users', user('halved', { externalId: half }))).status).toBe(400);
    expect((await scim('POST', '/Groups', { displayName: half })).status).toBe(400);
  }
  expect((await scim('GET', '/Users?filter=userName%20eq%20%22%5Cud800%22')).body).toMatchObject({
    scimType: 'invalidFilter',
  });
});

describe('groups', () => {
  test('Entra: made, members added and removed, renamed, deleted; their roles follow', async () => {
    const [one, two] = [await scim('POST', '/Users', user('g1')), await scim('POST', '/Users', user('g2'))];
    await run({ kind: 'create_role', name: 'reader', ifNotExists: false, scope: 'table:read' });
    for (const group of ['Readers', 'Readers of all']) {
      await run({
        kind: 'grant_group_role',
        role: 'reader',
        group,
        provider: 'okta',
        withAdministration: false,
        isRevoke: false,
      });
    }
    const made = await scim('POST', '/Groups', {
      schemas: ['urn:ietf:params:scim:schemas:core:2.0:Group'],
      displayName: 'Readers',
      externalId: '8aa1',
      members: [],
    });
    expect([made.status, made.body['members']]).toEqual([201, []]);
    const path = `/Groups/${idOf(made)}`;
    const rolesOf = async (name: string): Promise<unknown> => (await describeUser(name))?.['roles'];
    await scim(
      'PATCH',
      path,
      patch({ op: 'Add', path: 'members', value: [{ $ref: null, value: idOf(one) }, { value: idOf(two) }] }),
    );
    expect([await rolesOf('g1'), await rolesOf('g2')]).toEqual(['reader', 'reader']);
    expect(
      await catalog.sql(`select details ->> 'provider' as provider, jsonb_array_length(details -> 'added') as added
        from catalog.user_audit_log where event_type = 'change_group_members' and target_name = 'Readers'`),
    ).toEqual([{ provider: 'okta', added: 2 }]);
    const epoch = (await describeUser('g2'))?.['session_epoch'];
    await scim('PATCH', path, patch({ op: 'Remove', path: 'members', value: [{ $ref: null, value: idOf(two) }] }));
    expect([await rolesOf('g1'), await rolesOf('g2')]).toEqual(['reader', '']);
    expect(Number((await describeUser('g2'))?.['session_epoch'])).toBe(Number(epoch) + 1);
    await scim('PATCH', path, patch({ op: 'Replace', path: 'displayName', value: 'Others' }));
    expect(await rolesOf('g1')).toBe('');
    await scim('PATCH', path, patch({ op: 'Replace', path: 'displayName', value: 'Readers of all' }));
    expect(await rolesOf('g1')).toBe('reader');
    const query = encodeURIComponent('displayName eq "Readers of all"');
    expect((await scim('GET', `/Groups?excludedAttributes=members&filter=${query}`)).body).toMatchObject({
      totalResults: 1,
      Resources: [{ displayName: 'Readers of all' }],
    });
    const has = encodeURIComponent(`id eq "${idOf(made)}" and members eq "${idOf(one)}"`);
    expect((await scim('GET', `/Groups?filter=${has}`)).body['totalResults']).toBe(1);
    expect(
      (await scim('PUT', path, { displayName: 'Readers', members: [{ value: crypto.randomUUID() }] })).status,
    ).toBe(400);
    expect((await scim('DELETE', path)).status).toBe(204);
    expect(await rolesOf('g1')).toBe('');
  });

  test('the last active tenant_admin is not taken out of the group that makes him one', async () => {
    const member = { value: idOf(await scim('POST', '/Users', user('chief'))) };
    for (const group of ['Platform', 'Chiefs']) {
      await run({
        kind: 'grant_group_role',
        role: 'tenant_admin',
        group,
        provider: 'okta',
        withAdministration: true,
        isRevoke: false,
      });
    }
    const path = `/Groups/${idOf(await scim('POST', '/Groups', { displayName: 'Platform', members: [member] }))}`;
    const { rows } = await run({ kind: 'create_token', name: 'chiefs', owner: null, scope: 'scim:okta' }, 'chief');
    const by = rows[0]?.[1] ?? '';
    const setAdmin = (status: string) =>
      catalog.sql(`update catalog.principal set status = '${status}' where username = 'admin'`);
    await setAdmin('SUSPENDED');
    try {
      const refused = [
        await scim('PATCH', path, patch({ op: 'Remove', path: 'members', value: [member] }), { by }),
        await scim('PATCH', path, patch({ op: 'Replace', path: 'displayName', value: 'Staff' }), { by }),
        await scim('PUT', path, { displayName: 'Platform', members: [] }, { by }),
        await scim('DELETE', path, undefined, { by }),
      ];
      expect(refused.map(({ status, body }) => [status, body['scimType']])).toEqual(
        refused.map(() => [400, 'mutability']),
      );
      const [chief] = await catalog.sql(`select roles from catalog.principal where username = 'chief'`);
      expect(chief).toEqual({ roles: ['tenant_admin'] });
      const moved = await scim('PATCH', path, patch({ op: 'Replace', path: 'displayName', value: 'Chiefs' }), { by });
      expect(moved.status).toBe(200);
    } finally {
      await setAdmin('ACTIVE');
    }
    expect((await scim('DELETE', path)).status).toBe(204);
    expect(await describeUser('chief')).toMatchObject({ roles: '' });
  });

  test('a group named like a role, or tenant_admin, gives none', async () => {
    const one = await scim('POST', '/Users', user('g3'));
    for (const displayName of ['tenant_admin', 'reader']) {
      await scim('POST', '/Groups', { displayName, members: [{ value: idOf(one) }] });
    }
    expect(await describeUser('g3')).toMatchObject({ roles: '', groups: 'reader, tenant_admin' });
  });
});

test('another provider, and another tenant, see and change nothing of it', async () => {
  const made = await scim('POST', '/Users', user('own'));
  await catalog.call('CreateTenant', { name: 'rival', admin_user: 'root', admin_password: 'Long-enough-1' });
  const rival = statementRunner({ ...catalog, mint: (request) => catalog.mint({ tenant: 'rival', ...request }) });
  await rival.run('root', {
    kind: 'create_provider',
    name: 'okta',
    ifNotExists: false,
    issuer: issuer.issuer,
    audiences: ['skein:rival'],
  });
  const { rows } = await rival.run('root', { kind: 'create_token', name: 'sync', owner: null, scope: 'scim:okta' });
  const by = rows[0]?.[1] ?? '';
  const path = `/Users/${idOf(made)}`;
  expect((await scim('GET', '/Users', undefined, { by })).body['totalResults']).toBe(0);
  for (const [method, body] of [
    ['GET'],
    ['PUT', user('x')],
    ['PATCH', patch({ op: 'replace', value: { active: false } })],
    ['DELETE'],
  ] as const) {
    expect([method, (await scim(method, path, body, { by })).status]).toEqual([method, 404]);
  }
  expect((await scim('POST', '/Groups', { displayName: 'x', members: [{ value: idOf(made) }] }, { by })).status).toBe(
    400,
  );
  expect((await scim('GET', path)).body['active']).toBe(true);
});

test('what it describes of itself, bodies that are none, and the limit', async () => {
  expect((await scim('GET', '/ServiceProviderConfig')).body).toMatchObject({
    patch: { supported: true },
    etag: { supported: true },
  });
  expect((await scim('GET', '/Schemas')).body['totalResults']).toBe(2);
  expect((await scim('GET', '/ResourceTypes')).body['totalResults']).toBe(2);
  for (const path of ['/ResourceTypes/Group', '/Schemas/urn:ietf:params:scim:schemas:core:2.0:User']) {
    const { body } = await scim('GET', path);
    expect(body['meta']).toMatchObject({ location: `${catalog.running.url}/scim/v2${path}` });
  }
  // All else is refused in SCIM's form, and tells nothing without a token.
  for (const [method, path] of [
    ['GET', '/Me'],
    ['POST', '/Bulk'],
    ['POST', '/Users/.search'],
    ['PUT', '/Users'],
    ['GET', ''],
    ['GET', '/Schemas/x'],
  ] as const) {
    const refused = await scim(method, path, method === 'GET' ? undefined : {});
    expect([refused.status, refused.body['schemas']]).toEqual([404, ['urn:ietf:params:scim:api:messages:2.0:Error']]);
    expect((await scim(method, path, undefined, { by: 'skein_pat_x' })).status).toBe(401);
  }
  for (const body of [
    {},
    { userName: 7 },
    user('x', { note: 'a\0b' }),
    user('x', { note: '\ud800' }),
    user('x', { active: 'maybe' }),
    user('x', { note: 'x'.repeat(20_000) }),
  ]) {
    expect((await scim('POST', '/Users', body)).status).toBe(400);
  }
  expect((await scim('GET', '/Users?filter=userName%20co%20%22x%22')).body).toMatchObject({
    scimType: 'invalidFilter',
  });
  expect((await scim('GET', '/Users?filter=userName%20eq%20%22%5Cu0000%22')).status).toBe(400);
  expect((await scim('GET', '/Users/nobody')).status).toBe(404);
  let limited: ScimAnswer | undefined;
  for (let i = 0; i < 400 && limited === undefined; i += 1) {
    const answer = await scim('GET', '/Users?count=0');
    if (answer.status === 429) limited = answer;
  }
  expect(Number(limited?.headers.get('retry-after'))).toBeGreaterThan(0);
  passedMs += 61_000;
  expect((await scim('GET', '/Users?count=0')).status).toBe(200);
});

test('the token ends with its owner as tenant_admin, when it is dropped, and with its provider', async () => {
  await statementRunner(catalog).createUser('boss');
  const boss = { role: 'tenant_admin', holder: { kind: 'USER', name: 'boss' } } as const;
  await run({ kind: 'grant_role', ...boss, isRevoke: false });
  const { rows } = await run({ kind: 'create_token', name: 'his', owner: null, scope: 'scim:okta' }, 'boss');
  const by = rows[0]?.[1] ?? '';
  const status = async (shown: string): Promise<number> =>
    (await scim('GET', '/Users?count=0', undefined, { by: shown })).status;
  expect(await status(by)).toBe(200);
  await run({ kind: 'grant_role', ...boss, isRevoke: true });
  expect(await status(by)).toBe(401);
  await run({ kind: 'drop_token', name: 'sync', owner: null, ifExists: false });
  expect(await status(token)).toBe(401);
  const next = await newToken('next', 'okta');
  expect(await status(next)).toBe(200);
  await run({ kind: 'drop_provider', name: 'okta', ifExists: false });
  expect(await status(next)).toBe(401);
});
