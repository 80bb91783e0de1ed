import type { ServerResponse } from 'node:http';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { PrincipalRequest, RequestOf } from '#shared/principal/principal-request.ts';
import { startTestCatalog, type TestCatalog } from '#test/support/catalog.ts';
import { startOutsideIssuer, type OutsideIssuer } from '#test/support/outside-issuer.ts';
import { statementRunner } from '#test/support/run-statements.ts';

let catalog: TestCatalog;
let issuer: OutsideIssuer;
const run = (request: PrincipalRequest, user = 'admin') => statementRunner(catalog).run(user, request);
const refusal = (request: PrincipalRequest, user = 'admin') => statementRunner(catalog).refusal(user, request);
const create = (more: Partial<RequestOf<'create_provider'>> = {}): RequestOf<'create_provider'> => ({
  kind: 'create_provider',
  name: 'corp',
  ifNotExists: false,
  issuer: issuer.issuer,
  audiences: ['skein:default'],
  ...more,
});
const why = (request: PrincipalRequest): Promise<string> =>
  run(request).then(
    () => 'done',
    (error: unknown) => (error as Error).message,
  );

beforeAll(async () => {
  issuer = await startOutsideIssuer('/realms/a');
  catalog = await startTestCatalog(issuer.settings);
});
afterAll(async () => {
  await catalog[Symbol.asyncDispose]();
  await issuer[Symbol.asyncDispose]();
});

const DISCOVERY = '/realms/a/.well-known/openid-configuration';
const json =
  (document: object) =>
  (response: ServerResponse): void =>
    void response.writeHead(200).end(JSON.stringify(document));

describe('CREATE reads the issuer once, and says in one line what is wrong', () => {
  test.each([
    [
      'another issuer',
      () => json({ issuer: 'https://evil', jwks_uri: 'https://evil/k' }),
      'names another issuer: https://evil',
    ],
    ['no jwks_uri', () => json({ issuer: issuer.issuer }), 'has no jwks_uri'],
    [
      'keys over http',
      () => json({ issuer: issuer.issuer, jwks_uri: 'http://a/k' }),
      'jwks_uri of its discovery document is no address',
    ],
    [
      'only HS256',
      () =>
        json({
          issuer: issuer.issuer,
          jwks_uri: `${issuer.issuer}/keys`,
          id_token_signing_alg_values_supported: ['HS256'],
        }),
      'signs with none of',
    ],
    [
      'inner keys',
      () => json({ issuer: issuer.issuer, jwks_uri: 'https://169.254.169.254/k' }),
      'no address that is public',
    ],
    ['no JSON', () => (r: ServerResponse) => void r.writeHead(200).end('<html>'), 'is no JSON object'],
    ['404', () => (r: ServerResponse) => void r.writeHead(404).end(), 'answers 404'],
    [
      'a redirect to an inner address',
      () => (r: ServerResponse) => void r.writeHead(302, { location: 'https://127.0.0.1/' }).end(),
      'answers 302',
    ],
    ['10 MB', () => (r: ServerResponse) => void r.writeHead(200).end(' '.repeat(10_000_000)), 'more than 256 KiB'],
    [
      'a document without an end',
      () => (r: ServerResponse) => {
        const more = (): void => void (r.destroyed || r.write(' '.repeat(65_536), more));
        more();
      },
      'more than 256 KiB',
    ],
    ['a silent one', () => () => undefined, 'no answer within'],
  ] as const)('%s', async (_what, answer, words) => {
    issuer.answers = { [DISCOVERY]: answer() };
    expect(await why(create())).toContain(words);
    issuer.answers = {};
  });

  test('a host that is not public, a name that is none, and what is no address', async () => {
    expect(await why(create({ issuer: 'https://10.0.0.1' }))).toContain('no address that is public');
    expect(await why(create({ issuer: 'https://localhost' }))).toMatch(/has no address|no address that is public/);
    for (const other of ['http://issuer.example', 'https://u:p@issuer.example', 'https://issuer.example#x', 'x']) {
      expect(await why(create({ issuer: other }))).toContain('ISSUER is an address https://host/path');
    }
  });
});

test('its life: created, shown, changed, dropped; never a secret', async () => {
  issuer.facts = { authorization_endpoint: `${issuer.issuer}/authorize`, token_endpoint: `${issuer.issuer}/token` };
  await run(create({ clientId: 'skein', clientSecret: 'a very secret secret', label: 'Corp' }));
  issuer.facts = {};
  expect(await refusal(create())).toBe('ALREADY_EXISTS');
  await run(create({ ifNotExists: true }));
  const { table } = statementRunner(catalog);
  expect(await table('admin', { kind: 'show_providers' })).toMatchObject([
    { name: 'corp', issuer: issuer.issuer, client_id: 'skein', audiences: '["skein:default"]', enabled: 'true' },
  ]);
  const described = await table('admin', { kind: 'describe_provider', name: 'CORP' });
  expect(described).toMatchObject([{ has_client_secret: 'true', username_claim: 'preferred_username', users: '0' }]);
  expect(JSON.stringify(described)).not.toContain('secret secret');
  const [row] = await catalog.sql('select client_secret_sealed as sealed from catalog.identity_provider');
  expect(JSON.stringify(row)).not.toContain('secret secret');
  await run({ kind: 'alter_provider', name: 'corp', clientId: null, clientSecret: null, domains: ['example.com'] });
  expect(await table('admin', { kind: 'describe_provider', name: 'corp' })).toMatchObject([
    { client_id: null, has_client_secret: 'false', domains: '["example.com"]', label: 'Corp' },
  ]);
  // People cannot sign in at an issuer that names no endpoint for it.
  expect(await why({ kind: 'alter_provider', name: 'corp', clientId: 'skein' })).toContain(
    'has no authorization_endpoint',
  );
  expect(await refusal({ kind: 'describe_provider', name: 'nobody' })).toBe('PROVIDER_NOT_FOUND');
  await run({ kind: 'drop_provider', name: 'corp', ifExists: false });
  expect(await refusal({ kind: 'drop_provider', name: 'corp', ifExists: false })).toBe('PROVIDER_NOT_FOUND');
  await run({ kind: 'drop_provider', name: 'corp', ifExists: true });
  const events = await catalog.sql(`select event_type from catalog.user_audit_log
    where event_type like '%identity_provider' order by created_at, id`);
  expect(events.map((event) => (event as { event_type: string }).event_type)).toEqual([
    'create_identity_provider',
    'alter_identity_provider',
    'drop_identity_provider',
  ]);
});

describe('a holder of MANAGE IDENTITY PROVIDERS does not grow', () => {
  const conditions = [{ claim: 'sub', operator: '=' as const, value: 'job' }];
  const exchange = async (): Promise<number> =>
    (
      await catalog.rest('POST', '/v1/oauth/tokens', {
        token: null,
        raw: new URLSearchParams({
          grant_type: 'urn:ietf:params:oauth:grant-type:token-exchange',
          subject_token: await issuer.sign({ sub: 'job' }),
          subject_token_type: 'urn:ietf:params:oauth:token-type:jwt',
        }).toString(),
        headers: { 'content-type': 'application/x-www-form-urlencoded' },
      })
    ).status;

  test('his provider opens no administrator, and he changes none that does', async () => {
    const { createUser } = statementRunner(catalog);
    await createUser('holder');
    await createUser('plain');
    expect(await refusal(create(), 'plain')).toBe('FORBIDDEN');
    await run({ kind: 'grant_privilege', privilege: 'MANAGE IDENTITY PROVIDERS', user: 'holder', isRevoke: false });
    await run(create({ name: 'his' }), 'holder');
    await run({ kind: 'create_account', name: 'job', ifNotExists: false });
    expect(await refusal({ kind: 'set_trust', account: 'job', provider: 'his', conditions }, 'holder')).toBe(
      'FORBIDDEN',
    );
    await run({ kind: 'set_trust', account: 'job', provider: 'his', conditions });
    expect(await exchange()).toBe(200);
    const answer = await run({
      kind: 'grant_role',
      role: 'tenant_admin',
      holder: { kind: 'SERVICE', name: 'job' },
      isRevoke: false,
    });
    // The grant ends the trust in a provider whose issuer may be his own.
    expect(answer.rows[0]?.[1]).toContain('the trust of his');
    expect(await exchange()).toBe(400);
    // Said again by an administrator it still opens none: the provider is not an administrator's.
    await run({ kind: 'set_trust', account: 'job', provider: 'his', conditions });
    expect(await exchange()).toBe(400);
    for (const change of [
      { kind: 'alter_provider', name: 'his', groupsClaim: 'x' },
      { kind: 'drop_provider', name: 'his', ifExists: false },
    ] as const) {
      expect(await refusal(change, 'holder')).toBe('FORBIDDEN');
    }
    await run({ kind: 'drop_provider', name: 'his', ifExists: false });
    await run(create({ name: 'ours' }));
    await run({ kind: 'set_trust', account: 'job', provider: 'ours', conditions });
    expect(await exchange()).toBe(200);
  });

  test('conditions that say no subject, or any', async () => {
    const set = (...of: RequestOf<'set_trust'>['conditions']): Promise<string> =>
      refusal({ kind: 'set_trust', account: 'job', provider: 'ours', conditions: of });
    expect(await set({ claim: 'repository', operator: '=', value: 'a' })).toBe('INVALID_REQUEST');
    for (const value of ['*', 'a*b', 'a**', 'ab']) {
      expect([value, await set({ claim: 'sub', operator: 'LIKE', value })]).toEqual([value, 'INVALID_REQUEST']);
    }
    expect(await set({ claim: 'sub', operator: 'LIKE', value: 'job:*' })).toBe('done');
  });

  test('he changes nothing that decides who somebody is at a provider that a tenant_admin has made', async () => {
    await run({ kind: 'drop_provider', name: 'ours', ifExists: true });
    await run(create({ name: 'made_by_admin' }));
    const alter = (by: string, settings: Omit<RequestOf<'alter_provider'>, 'kind' | 'name'>): Promise<string> =>
      refusal({ kind: 'alter_provider', name: 'made_by_admin', ...settings }, by);
    // A claim that its people fill in themselves, before groups of it give roles.
    const deciding: Record<string, Omit<RequestOf<'alter_provider'>, 'kind' | 'name'>> = {
      groupsClaim: { groupsClaim: 'nickname' },
      usernameClaim: { usernameClaim: 'nickname' },
      emailClaim: { emailClaim: 'nickname' },
      audiences: { audiences: ['skein:default'] },
      domains: { domains: ['example.org'] },
      clientId: { clientId: null },
    };
    for (const [setting, settings] of Object.entries(deciding)) {
      expect([setting, await alter('holder', settings)]).toEqual([setting, 'FORBIDDEN']);
      expect([setting, await alter('admin', settings)]).toEqual([setting, 'done']);
    }
    expect(await alter('holder', { label: 'Ours' })).toBe('done');
    expect(await alter('holder', { enabled: false })).toBe('done');
    expect(await alter('holder', { enabled: true, groupsClaim: 'groups' })).toBe('FORBIDDEN');
    await run({ kind: 'drop_provider', name: 'made_by_admin', ifExists: false });
  });
});
