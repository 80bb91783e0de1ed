import { createSecretKey } from 'node:crypto';
import type { ServerResponse } from 'node:http';
import { decodeJwt, exportSPKI, generateKeyPair, importJWK, SignJWT, type CryptoKey } from 'jose';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import type { Clock } from '#shared/clock.ts';
import type { PrincipalRequest, TrustCondition } from '#shared/principal/principal-request.ts';
import { startTestCatalog, type RestAnswer, type TestCatalog } from '#test/support/catalog.ts';
import { KNOWN_WITHIN_MS } from '#test/support/known-within.ts';
import { startOutsideIssuer, type OutsideIssuer } from '#test/support/outside-issuer.ts';
import { statementRunner } from '#test/support/run-statements.ts';
import { patience } from '#test/support/run/slowness.ts';

/** Tokens of an issuer that is shaped like those of Kubernetes and GitHub Actions: exchanged, and as they are. */
let catalog: TestCatalog;
let issuer: OutsideIssuer;
let passedMs = 0;
const clock: Clock = { nowMs: () => Date.now() + passedMs, monotonicMs: () => performance.now() + passedMs };
const SUB = 'system:serviceaccount:etl:loader';

beforeAll(async () => {
  issuer = await startOutsideIssuer();
  catalog = await startTestCatalog({ ...issuer.settings, 'catalog.outside_audiences': ['default=api://entra'] }, clock);
  await run({ kind: 'create_account', name: 'loader', ifNotExists: false });
  await run({ ...PROVIDER, name: 'k8s', issuer: issuer.issuer, audiences: ['skein:default'] });
  await trust('loader', [{ claim: 'sub', operator: '=', value: SUB }]);
});
beforeEach(() => {
  // Refusals of the test before refuse nobody.
  passedMs += 61_000;
});
afterAll(async () => {
  await catalog[Symbol.asyncDispose]();
  await issuer[Symbol.asyncDispose]();
});

const PROVIDER = { kind: 'create_provider', ifNotExists: false } as const;
const run = (request: PrincipalRequest, user = 'admin') => statementRunner(catalog).run(user, request);
const refusal = (request: PrincipalRequest, user = 'admin') => statementRunner(catalog).refusal(user, request);
const trust = (account: string, conditions: TrustCondition[], provider = 'k8s') =>
  run({ kind: 'set_trust', account, provider, conditions });
const nowS = (): number => Math.floor(clock.nowMs() / 1_000);
const sign: OutsideIssuer['sign'] = (claims, header, key) =>
  issuer.sign({ sub: SUB, iat: nowS(), exp: nowS() + 300, ...claims }, header, key);

const exchange = (subject: string, more: Record<string, string> = {}): Promise<RestAnswer> =>
  catalog.rest('POST', '/v1/oauth/tokens', {
    token: null,
    raw: new URLSearchParams({
      grant_type: 'urn:ietf:params:oauth:grant-type:token-exchange',
      subject_token: subject,
      subject_token_type: 'urn:ietf:params:oauth:token-type:jwt',
      ...more,
    }).toString(),
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
  });
const namespaces = async (token: string): Promise<number> =>
  (await catalog.rest('GET', '/v1/lake/namespaces', { token })).status;
const REFUSED = { error: 'invalid_grant', error_description: 'subject_token is not valid' };

test('a token becomes one of ours, which ends with it and renews by none', async () => {
  const answer = await exchange(await sign({}), { scope: 'table:read namespace:read' });
  expect(answer.body).toMatchObject({ token_type: 'Bearer', scope: 'namespace:read table:read' });
  expect(answer.body).not.toHaveProperty('refresh_token');
  const token = answer.body['access_token'] as string;
  const claims = decodeJwt(token);
  expect(claims).toMatchObject({ preferred_username: 'loader', auth_method: 'federated', tenant: 'default' });
  // Its own five minutes, and the minute by which clocks may differ.
  expect((claims.exp ?? 0) - nowS()).toBeLessThanOrEqual(361);
  expect(await namespaces(token)).toBe(200);
  const renewed = await exchange(token, { subject_token_type: 'urn:ietf:params:oauth:token-type:access_token' });
  expect(renewed.status).toBe(401);
  const rows = await catalog.sql(`select details ->> 'method' as method from catalog.user_audit_log
    where event_type = 'sign_in' and target_name = 'loader' limit 1`);
  expect(rows).toEqual([{ method: 'federated' }]);
});

test('it is a bearer as it is, exchanged once, until its account is told otherwise', async () => {
  const token = await sign({ jti: 'bearer' });
  const before = (await catalog.sql(`select from catalog.user_audit_log where event_type = 'sign_in'`)).length;
  expect(await Promise.all([namespaces(token), namespaces(token)])).toEqual([200, 200]);
  expect(await namespaces(token)).toBe(200);
  expect((await catalog.sql(`select from catalog.user_audit_log where event_type = 'sign_in'`)).length).toBe(
    before + 1,
  );
  await run({ kind: 'drop_trust', account: 'loader', provider: 'k8s', ifExists: false });
  await expect.poll(() => namespaces(token), { timeout: KNOWN_WITHIN_MS }).toBe(401);
  await trust('loader', [{ claim: 'sub', operator: '=', value: SUB }]);
  expect(await namespaces(token)).toBe(200);
});

test.each(['ES256', 'ES384', 'RS256', 'RS512', 'PS256', 'EdDSA'])('signed with %s', async (algorithm) => {
  passedMs += 61_000;
  await issuer.rotate(false, algorithm);
  expect((await exchange(await sign({}))).status).toBe(200);
});

test('GitHub: claims beside the subject, and a beginning', async () => {
  await run({ kind: 'create_account', name: 'deploy', ifNotExists: false });
  const prefix = 'repo:acme/app:';
  await trust('deploy', [
    { claim: 'sub', operator: 'LIKE', value: `${prefix}*` },
    { claim: 'repository_owner', operator: '=', value: 'acme' },
    { claim: 'run_attempt', operator: '=', value: '1' },
  ]);
  const claims = { sub: `${prefix}ref:refs/heads/main`, repository_owner: 'acme', run_attempt: '1' };
  const answer = await exchange(await sign(claims), {
    subject_token_type: 'urn:ietf:params:oauth:token-type:id_token',
  });
  expect(decodeJwt(answer.body['access_token'] as string)['preferred_username']).toBe('deploy');
  const others = [
    { ...claims, sub: 'repo:acme/application:ref' },
    { ...claims, repository_owner: 'evil' },
    { ...claims, repository_owner: ['acme'] },
    { ...claims, repository_owner: { acme: 'acme' } },
    { sub: claims.sub, repository_owner: 'acme' },
  ];
  for (const other of others) expect((await exchange(await sign(other))).body).toEqual(REFUSED);
  // Whose it is must be clear.
  await run({ kind: 'create_account', name: 'deploy2', ifNotExists: false });
  await trust('deploy2', [{ claim: 'sub', operator: '=', value: claims.sub }]);
  expect((await exchange(await sign(claims))).body).toEqual(REFUSED);
  await run({ kind: 'drop_account', name: 'deploy2', ifExists: false });
  expect((await exchange(await sign(claims))).status).toBe(200);
});

test('what must not open is refused alike', async () => {
  const own = issuer.keys[0] ?? {};
  const publicKey = (await importJWK(own, own.alg, { extractable: true })) as CryptoKey;
  const confused = async (secret: string): Promise<string> =>
    new SignJWT({ ...decodeJwt(await sign({})) })
      .setProtectedHeader({ alg: 'HS256', kid: own.kid ?? '' })
      .sign(createSecretKey(Buffer.from(secret)));
  const part = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url');
  const good = await sign({});
  const [head = '', payload = ''] = good.split('.');
  const other = await generateKeyPair(own.alg ?? 'EdDSA');
  const asked = issuer.asked.length;
  const forged = {
    'alg none': `${part({ alg: 'none', kid: own.kid })}.${payload}.x`,
    'no signature': `${head}.${payload}.AA`,
    'HS256 with the public key as PEM': await confused(await exportSPKI(publicKey)),
    'HS256 with the public key as JWK': await confused(JSON.stringify(own)),
    'another key': await sign({}, {}, other.privateKey),
    'a key that it brings along': await sign({}, { jwk: own, kid: 'x' }, other.privateKey),
    'a key that it points at': await sign(
      {},
      { jku: `${issuer.issuer}/keys`, x5u: issuer.issuer, kid: 'y' },
      other.privateKey,
    ),
    'another audience': await sign({ aud: 'sts.amazonaws.com' }),
    'the audience of another tenant': await sign({ aud: 'skein:other' }),
    'no audience': await sign({ aud: undefined }),
    'another issuer': await sign({ iss: 'https://issuer.example.org' }),
    'its issuer with a slash': await sign({ iss: `${issuer.issuer}/` }),
    'another subject': await sign({ sub: 'system:serviceaccount:etl:other' }),
    'no subject': await sign({ sub: undefined }),
    over: await sign({ iat: nowS() - 400, exp: nowS() - 61 }),
    'no end': await sign({ exp: undefined }),
    'no beginning': await sign({ iat: undefined }),
    'a life of more than a day': await sign({ exp: nowS() + 86_500 }),
    'not valid yet': await sign({ nbf: nowS() + 100 }),
    'from the future': await sign({ iat: nowS() + 100 }),
    'a logout token': await sign({}, { typ: 'logout+jwt' }),
  };
  for (const [what, token] of Object.entries(forged)) {
    const { status, body } = await exchange(token);
    expect([what, status, body]).toEqual([what, 400, REFUSED]);
    expect([what, await namespaces(token)]).toEqual([what, 401]);
  }
  // An unknown key asks the issuer once, and nothing else does.
  expect(issuer.asked.slice(asked).filter((path) => path !== '/keys' && !path.startsWith('/.well-known'))).toEqual([]);
  expect(issuer.asked.length - asked).toBeLessThanOrEqual(2);
  expect((await exchange(await sign({ exp: nowS() - 30, iat: nowS() - 90 }))).status).toBe(200);
  // The row about refusals is the tenant's, and says why.
  passedMs += 61_000;
  await expect
    .poll(
      () =>
        catalog.sql(`select from catalog.user_audit_log where event_type = 'sign_in_refused'
      and details ->> 'method' = 'federated' and details -> 'reasons' ? 'not trusted'`),
      { timeout: patience(10_000) },
    )
    .not.toEqual([]);
});

test('one issuer in two tenants: the audience decides, and nobody takes that of another', async () => {
  await catalog.call('CreateTenant', { name: 'other', admin_user: 'admin', admin_password: 'Long-enough-1' });
  const runner = statementRunner({
    ...catalog,
    mint: (request) => catalog.mint({ tenant: 'other', ...request }),
  });
  const named = { ...PROVIDER, name: 'k8s', issuer: issuer.issuer };
  for (const audience of ['skein:default', 'api://entra', 'sts']) {
    expect(await runner.refusal('admin', { ...named, audiences: [audience] })).toBe('INVALID_REQUEST');
  }
  expect(await refusal({ ...named, name: 'again', audiences: ['skein:default'] })).toBe('INVALID_STATE');
  await run({ ...named, name: 'entra', audiences: ['api://entra'] });
  await runner.run('admin', { ...named, audiences: ['skein:other'] });
  await runner.run('admin', { kind: 'create_account', name: 'loader', ifNotExists: false });
  const conditions: TrustCondition[] = [{ claim: 'sub', operator: '=', value: SUB }];
  await runner.run('admin', { kind: 'set_trust', account: 'loader', provider: 'k8s', conditions });
  const tenantOf = async (aud: string | string[]): Promise<unknown> => {
    const { body } = await exchange(await sign({ aud }));
    return body['access_token'] === undefined ? body['error'] : decodeJwt(body['access_token'] as string)['tenant'];
  };
  expect(await tenantOf('skein:other')).toBe('other');
  expect(await tenantOf('skein:default')).toBe('default');
  expect(await tenantOf(['skein:default', 'x'])).toBe('default');
  // For both at once it is nobody's.
  expect(await tenantOf(['skein:default', 'skein:other'])).toBe('invalid_grant');
  // Another provider of the same issuer knows nobody by its subjects.
  expect(await tenantOf('api://entra')).toBe('invalid_grant');
  await run({ kind: 'drop_provider', name: 'entra', ifExists: false });
});

test('an issuer that is silent keeps its own tokens waiting, and nobody else’s', async () => {
  const silent = `${issuer.issuer}/silent`;
  const json = (document: object) => (response: ServerResponse) =>
    void response.writeHead(200).end(JSON.stringify(document));
  const documents = ['/silent/.well-known/openid-configuration', '/silent/keys'] as const;
  issuer.answers = {
    [documents[0]]: json({ issuer: silent, jwks_uri: `${silent}/keys` }),
    [documents[1]]: json({ keys: issuer.keys }),
  };
  await run({ ...PROVIDER, name: 'silent', issuer: silent, audiences: ['skein:default'] });
  await trust('loader', [{ claim: 'sub', operator: '=', value: SUB }], 'silent');
  expect((await exchange(await sign({ iss: silent }))).status).toBe(200);
  // Its keys are to be read again, and the other issuer's too.
  passedMs += 301_000;
  issuer.answers = { [documents[0]]: () => undefined };
  let answered = 0;
  const waiting = Array.from({ length: 20 }, async (_none, i) => {
    const { status } = await exchange(await sign({ iss: silent, jti: String(i) }));
    answered += 1;
    return status;
  });
  await expect.poll(() => issuer.asked.filter((path) => path === documents[0]).length).toBe(2);
  const beganMs = performance.now();
  for (let i = 0; i < 10; i += 1) expect((await exchange(await sign({ jti: `other ${i}` }))).status).toBe(200);
  expect([answered, performance.now() - beganMs < patience(2_000)]).toEqual([0, true]);
  // After its five seconds the keys that are known go on, and all have asked it once.
  expect(new Set(await Promise.all(waiting))).toEqual(new Set([200]));
  expect(issuer.asked.filter((path) => path === documents[0])).toHaveLength(2);
  issuer.answers = {};
  await run({ kind: 'drop_provider', name: 'silent', ifExists: false });
});

test('keys that are rotated, an issuer that is away, and one that is dropped', async () => {
  passedMs += 61_000;
  const before = await sign({});
  await issuer.rotate(false);
  expect((await exchange(await sign({}))).status).toBe(200);
  // The key that was taken away opens no more.
  expect((await exchange(before)).status).toBe(400);
  issuer.answers = { '/.well-known/openid-configuration': (response) => void response.writeHead(503).end() };
  passedMs += 300_000;
  expect((await exchange(await sign({}))).status).toBe(200);
  passedMs += 86_400_000;
  expect((await exchange(await sign({}))).status).toBe(400);
  issuer.answers = {};
  passedMs += 61_000;
  const bearer = await sign({ jti: 'last' });
  expect(await namespaces(bearer)).toBe(200);
  await run({ kind: 'alter_provider', name: 'k8s', enabled: false });
  await expect.poll(() => namespaces(bearer), { timeout: KNOWN_WITHIN_MS }).toBe(401);
  await run({ kind: 'alter_provider', name: 'k8s', enabled: true });
  expect(await namespaces(bearer)).toBe(200);
  await run({ kind: 'drop_provider', name: 'k8s', ifExists: false });
  await expect.poll(() => namespaces(bearer), { timeout: KNOWN_WITHIN_MS }).toBe(401);
});
