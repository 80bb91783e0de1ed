import { exportJWK, generateKeyPair, SignJWT, type CryptoKey, type JWK, type JWTPayload } from 'jose';
import { beforeEach, expect, test } from 'vitest';
import type { Action } from '#shared/authorization/action.ts';
import { SkeinError } from '#shared/error.ts';
import { TokenVerifier } from '#shared/token-verifier.ts';
import { allowing } from '#test/support/decisions.ts';
import { forgedTokens } from '#test/support/forged-tokens.ts';
import type { PrincipalStanding } from '../catalog-client/catalog-client.ts';
import { authenticator, catalogKeys, mayDo, requireAction, type Authenticate } from './authenticate.ts';

const pair = await generateKeyPair('ES256', { extractable: true });
const publicJwk: JWK = { ...(await exportJWK(pair.publicKey)), kid: 'k1', alg: 'ES256' };

const standingOf = (...actions: readonly Action[]): PrincipalStanding => ({
  decisions: allowing(...actions),
  defaultRole: null,
  defaultWarehouse: null,
  mustChangePassword: false,
});

let epoch: number | undefined;
let nowMs: number;
/** The catalog's answer about a token's principal; `asked` counts the calls. */
let authorize: () => Promise<PrincipalStanding>;
let asked: number;
let signingKeys: () => Promise<string>;
let authenticate: Authenticate;

beforeEach(() => {
  [epoch, nowMs, asked] = [3, Date.now(), 0];
  authorize = () => Promise.resolve(standingOf('table.select'));
  signingKeys = () => Promise.resolve(JSON.stringify({ keys: [publicJwk] }));
  const keys = catalogKeys({ signingKeys: () => signingKeys() });
  const verifier = new TokenVerifier({ keys, epochOf: () => epoch, hasEnded: () => false, nowMs: () => nowMs });
  authenticate = authenticator(verifier, {
    authorize: () => {
      asked += 1;
      return authorize();
    },
  });
});

const CLAIMS: JWTPayload = {
  iss: 'skein',
  aud: 'skein',
  sub: 'p1',
  jti: 'j1',
  tenant: 'default',
  preferred_username: 'admin',
  roles: ['tenant_admin'],
  scope: 'table:read',
  sess_epoch: 3,
  auth_method: 'client',
};
const inSeconds = (seconds: number): number => Math.floor(Date.now() / 1_000) + seconds;

const token = (claims: JWTPayload = {}, key: CryptoKey = pair.privateKey): Promise<string> =>
  new SignJWT({ ...CLAIMS, exp: inSeconds(60), ...claims }).setProtectedHeader({ alg: 'ES256', kid: 'k1' }).sign(key);

test('a good token names its caller, and what the catalog allows it; all else is refused', async () => {
  const caller = await authenticate(`bearer  ${await token()} `);
  expect(caller.claims).toMatchObject({ sub: 'p1', tenant: 'default', jti: 'j1' });
  expect([mayDo(caller, 'table.select'), mayDo(caller, 'table.create')]).toEqual([true, false]);
  expect(() => requireAction(caller, 'table.select')).not.toThrow();
  expect(() => requireAction(caller, 'table.create')).toThrow(expect.objectContaining({ code: 'FORBIDDEN' }));
  const refused = new Map([['table.create', { allowed: false, reason: 'the token lacks a scope' }]] as const);
  expect(() => requireAction({ decisions: refused }, 'table.create')).toThrow('the token lacks a scope');
});

test('the catalog is asked once for a token, and again after it did not answer', async () => {
  const header = `Bearer ${await token()}`;
  authorize = () => Promise.reject(new SkeinError('CATALOG_UNAVAILABLE', 'no'));
  await expect(authenticate(header)).rejects.toMatchObject({ code: 'CATALOG_UNAVAILABLE' });
  authorize = () => Promise.resolve(standingOf());
  const [first, second] = [await authenticate(header), await authenticate(header)];
  expect([first === second, asked]).toEqual([true, 2]);
  await authenticate(`Bearer ${await token({ jti: 'j2' })}`);
  expect(asked).toBe(3);
});

test.each([undefined, '', 'Bearer', 'Basic YTpi', 'Bearer a b'])('the header %j is refused', async (header) => {
  await expect(authenticate(header)).rejects.toMatchObject({ code: 'UNAUTHENTICATED' });
});

const signing = { kid: 'k1', privateJwk: await exportJWK(pair.privateKey), claims: { ...CLAIMS, exp: inSeconds(60) } };

test.each(await forgedTokens(signing))('refused: %s', async (_what, forged) => {
  await expect(authenticate(`Bearer ${forged}`)).rejects.toMatchObject({ code: 'UNAUTHENTICATED' });
  expect(asked).toBe(0);
});

test('without the keys no token is judged', async () => {
  signingKeys = () => Promise.reject(new SkeinError('CATALOG_UNAVAILABLE', 'no'));
  await expect(authenticate(`Bearer ${await token()}`)).rejects.toMatchObject({ code: 'CATALOG_UNAVAILABLE' });
  signingKeys = () => Promise.resolve('no JSON');
  await expect(authenticate(`Bearer ${await token()}`)).rejects.toMatchObject({ code: 'CATALOG_UNAVAILABLE' });
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
  const exp = inSeconds(60);
  const header = `Bearer ${await token({ exp })}`;
  nowMs = exp * 1_000 + 900;
  await authenticate(header);
  nowMs = exp * 1_000 + 1_000;
  await expect(authenticate(header)).rejects.toMatchObject({ code: 'UNAUTHENTICATED', message: /expired/ });
});
