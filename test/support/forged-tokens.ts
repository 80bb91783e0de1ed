import { createSecretKey } from 'node:crypto';
import { exportSPKI, generateKeyPair, importJWK, SignJWT, type CryptoKey, type JWK, type JWTPayload } from 'jose';

/** The key that real tokens are signed with, and the claims of one. */
export type Signing = { readonly kid: string; readonly privateJwk: JWK; readonly claims: JWTPayload };

const part = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url');

/** Tokens that every service must refuse, by their fault; each has exactly one. */
export async function forgedTokens({
  kid,
  privateJwk,
  claims,
}: Signing): Promise<readonly (readonly [string, string])[]> {
  const own = (await importJWK(privateJwk, 'ES256')) as CryptoKey;
  const { d: _secret, ...publicJwk } = privateJwk;
  const publicKey = (await importJWK(publicJwk, 'ES256', { extractable: true })) as CryptoKey;
  const other = await generateKeyPair('ES256');
  const sign = (changed: object = {}, header: object = {}, key: CryptoKey = own): Promise<string> =>
    new SignJWT({ ...claims, ...changed }).setProtectedHeader({ alg: 'ES256', kid, ...header }).sign(key);
  const confused = (secret: string | Buffer): Promise<string> =>
    new SignJWT(claims).setProtectedHeader({ alg: 'HS256', kid }).sign(createSecretKey(Buffer.from(secret)));
  const good = await sign();
  const [header = '', payload = '', signature = ''] = good.split('.');
  const nowS = Math.floor(Date.now() / 1_000);
  const { exp: _exp, ...endless } = claims;
  return [
    ['no JWT', 'x.y.z'],
    ['alg none', `${part({ alg: 'none', kid })}.${payload}.`],
    ['alg none with a signature', `${part({ alg: 'None', kid })}.${payload}.${signature}`],
    ['no signature', `${header}.${payload}.`],
    ['claims of another token', `${header}.${part({ ...claims, scope: 'catalog:write' })}.${signature}`],
    ['HS256 with the public key as PEM', await confused(await exportSPKI(publicKey))],
    [
      'HS256 with the public key as JWK',
      await confused(JSON.stringify({ ...publicJwk, kid, alg: 'ES256', use: 'sig' })),
    ],
    ['another key', await sign({}, {}, other.privateKey)],
    ['another key that the token brings along', await sign({}, { jwk: publicJwk }, other.privateKey)],
    ['an unknown key id', await sign({}, { kid: 'unknown' })],
    ['no key id', await sign({}, { kid: undefined })],
    [
      'a critical header that nobody knows',
      `${part({ alg: 'ES256', kid, crit: ['x'], x: 1 })}.${payload}.${signature}`,
    ],
    ['another issuer', await sign({ iss: 'evil' })],
    ['another audience', await sign({ aud: 'evil' })],
    ['no audience', await sign({ aud: undefined })],
    ['expired', await sign({ exp: nowS - 60 })],
    ['an expiry that is no number', await sign({ exp: undefined, expires: 'never' })],
    ['no expiry', await new SignJWT(endless).setProtectedHeader({ alg: 'ES256', kid }).sign(own)],
    ['not valid yet', await sign({ nbf: nowS + 60 })],
    ['an older session epoch', await sign({ sess_epoch: -1 })],
    ['a session epoch that is no number', await sign({ sess_epoch: '99' })],
    ['roles that are no list', await sign({ roles: 'tenant_admin' })],
    ['no tenant', await sign({ tenant: undefined })],
    ['a subject that is no text', await sign({ sub: undefined, principal: ['x'] })],
    ['a scope that is no text', await sign({ scope: ['table:read'] })],
    ['very long', `${header}.${part({ ...claims, x: 'x'.repeat(9_000) })}.${signature}`],
  ];
}
