import { exportJWK, generateKeyPair, SignJWT, createLocalJWKSet, type JWTPayload, type CryptoKey } from 'jose';
import { beforeAll, expect, test } from 'vitest';
import { authenticator, requireScope, type Authenticate } from './authenticate.ts';

let privateKey: CryptoKey;
let otherKey: CryptoKey;
let authenticate: Authenticate;
let epoch: number | undefined;
let nowMs: number;

beforeAll(async () => {
  const pair = await generateKeyPair('ES256');
  privateKey = pair.privateKey;
  otherKey = (await generateKeyPair('ES256')).privateKey;
  const keys = createLocalJWKSet({ keys: [{ ...(await exportJWK(pair.publicKey)), kid: 'k1', alg: 'ES256' }] });
  nowMs = Date.now();
  epoch = 3;
  authenticate = authenticator({ keys, epochOf: () => epoch, nowMs: () => nowMs });
});

const token = (claims: JWTPayload = {}, key = privateKey, kid = 'k1'): Promise<string> =>
  new SignJWT({
    sess_epoch: 3,
    tenant: 'default',
    scope: 'table:read namespace:read',
    preferred_username: 'admin',
    ...claims,
  })
    .setProtectedHeader({ alg: 'ES256', kid })
    .setIssuer(claims.iss ?? 'skein')
    .setAudience(claims.aud ?? 'skein')
    .setSubject('p1')
    .setJti('j1')
    .setExpirationTime(claims.exp ?? Math.floor(Date.now() / 1000) + 60)
    .sign(key);

test('a good token names its caller and scopes; other scopes are refused', async () => {
  const caller = await authenticate(`Bearer ${await token()}`);
  expect(caller.claims).toMatchObject({ sub: 'p1', tenant: 'default', jti: 'j1' });
  expect(() => requireScope(caller, 'table:read')).not.toThrow();
  expect(() => requireScope(caller, 'table:write')).toThrow(expect.objectContaining({ code: 'FORBIDDEN' }));
});

test.each<[string, () => Promise<string | undefined> | string | undefined]>([
  ['nothing', () => undefined],
  ['another scheme', () => 'Basic YTpi'],
  ['no JWT', () => 'Bearer x.y.z'],
  ['a very long token', () => `Bearer ${'x'.repeat(100_000)}`],
  ['another issuer', async () => `Bearer ${await token({ iss: 'evil' })}`],
  ['another audience', async () => `Bearer ${await token({ aud: 'evil' })}`],
  ['another key', async () => `Bearer ${await token({}, otherKey)}`],
  ['an unknown key id', async () => `Bearer ${await token({}, privateKey, 'k2')}`],
  ['an expired token', async () => `Bearer ${await token({ exp: 1_000 })}`],
  ['an older session epoch', async () => `Bearer ${await token({ sess_epoch: 2 })}`],
  ['an epoch that is no number', async () => `Bearer ${await token({ sess_epoch: 'x' })}`],
  ['no signature', async () => `Bearer ${(await token()).split('.').slice(0, 2).join('.')}.`],
])('%s is refused', async (_name, header) => {
  await expect(authenticate(await header())).rejects.toMatchObject({ code: 'UNAUTHENTICATED' });
});

test('a token that was verified once still expires and is still revoked', async () => {
  const header = `Bearer ${await token()}`;
  await authenticate(header);
  epoch = 4;
  await expect(authenticate(header)).rejects.toMatchObject({ code: 'UNAUTHENTICATED', message: /revoked/ });
  epoch = undefined;
  await expect(authenticate(header)).rejects.toMatchObject({ code: 'CATALOG_UNAVAILABLE' });
  epoch = 3;
  nowMs += 63_000;
  await expect(authenticate(header)).rejects.toMatchObject({ code: 'UNAUTHENTICATED', message: /expired/ });
});

test('a token is taken for a second after its exp, and no longer', async () => {
  epoch = 3;
  nowMs = Date.now();
  const exp = Math.floor(nowMs / 1_000) + 60;
  const header = `Bearer ${await token({ exp })}`;
  nowMs = exp * 1_000 + 900;
  await authenticate(header);
  nowMs = exp * 1_000 + 1_000;
  await expect(authenticate(header)).rejects.toMatchObject({ code: 'UNAUTHENTICATED', message: /expired/ });
});
