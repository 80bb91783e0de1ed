import { createHash, createSecretKey, generateKeyPairSync, randomUUID, type KeyObject } from 'node:crypto';
import { decodeJwt, SignJWT, type JWTPayload } from 'jose';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Clock } from '#shared/clock.ts';
import { startTestCatalog, type RestAnswer, type TestCatalog } from '#test/support/catalog.ts';
import { patience } from '#test/support/run/slowness.ts';

/** Grants `pat` and `jwt-bearer`. The rows of tokens and keys are written here, as the statements would. */
let catalog: TestCatalog;
let passedMs = 0;
const clock: Clock = { nowMs: () => Date.now() + passedMs, monotonicMs: () => performance.now() + passedMs };
const JWT_BEARER = 'urn:ietf:params:oauth:grant-type:jwt-bearer';
const HOUR_S = 3_600;
const inSeconds = (seconds: number): number => Math.floor(clock.nowMs() / 1_000) + seconds;

beforeAll(async () => {
  catalog = await startTestCatalog({ 'catalog.url': 'http://catalog.example:8181' }, clock);
});
afterAll(() => catalog[Symbol.asyncDispose]());

const send = (form: Record<string, string>): Promise<RestAnswer> =>
  catalog.rest('POST', '/v1/oauth/tokens', {
    token: null,
    raw: new URLSearchParams(form).toString(),
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
  });
const claimsOf = ({ body }: RestAnswer): JWTPayload => decodeJwt(body['access_token'] as string);
const minuteLater = (): void => {
  passedMs += 61_000;
};

describe('pat', () => {
  /** A token of the administrator. */
  async function newToken(name: string, scopes = ['table:read', 'catalog:write'], days = 90): Promise<string> {
    const pat = `skein_pat_${name}`;
    const digest = createHash('sha256').update(pat).digest('hex');
    await catalog.sql(`insert into catalog.access_token (principal_id, name, sha256, scopes, created_by, created_at, expires_at)
      select id, '${name}', '\\x${digest}', '{${scopes.join()}}', id, now(), to_timestamp(${inSeconds(days * 24 * HOUR_S)})
      from catalog.principal where username = 'admin'`);
    return pat;
  }
  const exchange = (pat: string, more: Record<string, string> = {}): Promise<RestAnswer> =>
    send({ grant_type: 'pat', pat, client_id: 'service-sql', ...more });

  test('is a bearer of the REST door, with its scopes, until it is dropped or over', async () => {
    const token = await newToken('bearer', ['table:read'], 1);
    const tables = (): Promise<RestAnswer> => catalog.rest('GET', '/v1/lake/namespaces/default/tables', { token });
    const answers = await Promise.all([tables(), tables(), tables()]);
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200]);
    // One sign-in stands for all.
    const signIns = `select from catalog.user_audit_log where event_type = 'sign_in' and details ->> 'method' = 'pat'`;
    const before = (await catalog.sql(signIns)).length;
    expect((await tables()).status).toBe(200);
    expect((await catalog.sql(signIns)).length).toBe(before);
    const body = { namespace: ['by_a_reader'] };
    expect((await catalog.rest('POST', '/v1/lake/namespaces', { token, body })).status).toBe(403);
    expect((await catalog.rest('GET', '/v1/config?warehouse=nowhere', { token })).status).toBe(404);
    await catalog.sql(`delete from catalog.access_token where name = 'bearer'`);
    await catalog.sql(`update catalog.principal set session_epoch = session_epoch + 1 where username = 'admin'`);
    await expect.poll(async () => (await tables()).status, { timeout: patience(20_000) }).toBe(401);
    expect((await catalog.rest('GET', '/v1/lake/namespaces', { token: 'skein_pat_unknown' })).status).toBe(401);
  });

  test('is exchanged for a token of its owner, with its scopes or fewer, which ends with it and renews by it alone', async () => {
    const answer = await exchange(await newToken('short', undefined, 1 / 48));
    expect(answer.body).toMatchObject({ token_type: 'Bearer', scope: 'catalog:write table:read' });
    const lifeS = Number(answer.body['expires_in']);
    expect(lifeS > 1_700 && lifeS <= 1_800).toBe(true);
    expect(answer.body).not.toHaveProperty('refresh_token');
    expect(claimsOf(answer)).toMatchObject({ preferred_username: 'admin', auth_method: 'pat', tenant: 'default' });
    const token = answer.body['access_token'] as string;
    expect((await catalog.rest('GET', '/v1/lake/namespaces/default/tables', { token })).status).toBe(200);
    expect((await exchange(await newToken('long'), { scope: 'table:read' })).body).toMatchObject({
      scope: 'table:read',
      expires_in: 3_600,
    });
    const renewed = await catalog.rest('POST', '/v1/oauth/tokens', {
      token,
      raw: new URLSearchParams({
        grant_type: 'urn:ietf:params:oauth:grant-type:token-exchange',
        subject_token: token,
        subject_token_type: 'urn:ietf:params:oauth:token-type:access_token',
      }).toString(),
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
    });
    expect([renewed.status, renewed.body['error']]).toEqual([400, 'invalid_request']);
  });

  test('one that is unknown, over, or of a user who is suspended is refused alike; an epoch ends none', async () => {
    const good = await newToken('good');
    const refusal = { error: 'invalid_grant', error_description: 'pat is not valid' };
    const over = await newToken('over', undefined, -1);
    for (const shown of ['skein_pat_unknown', over, 'x', 'x'.repeat(10_000)]) {
      expect([(await exchange(shown)).status, (await exchange(shown)).body]).toEqual([400, refusal]);
    }
    const set = (what: string): Promise<unknown> =>
      catalog.sql(`update catalog.principal set ${what} where username = 'admin'`);
    await set("status = 'SUSPENDED', session_epoch = session_epoch + 1");
    expect((await exchange(good)).body).toEqual(refusal);
    await set("status = 'ACTIVE'");
    expect((await exchange(good)).status).toBe(200);
    expect((await send({ grant_type: 'pat', pat: good, client_id: 'other' })).body['error']).toBe('invalid_request');
  });

  test('stands for the password of its owner at doors, and for a bearer without a name', async () => {
    const password = await newToken('door');
    const signIn = async (user: string, tenant = ''): Promise<JWTPayload> =>
      decodeJwt(
        (await catalog.call<{ token: string }>('SignIn', { user, password, tenant, address: '10.1.1.1' })).token,
      );
    for (const user of ['admin', 'ADMIN', '']) {
      expect(await signIn(user)).toMatchObject({ preferred_username: 'admin', auth_method: 'pat' });
    }
    await expect(signIn('somebody')).rejects.toMatchObject({ code: 'WRONG_PASSWORD' });
    await expect(signIn('admin', 'other')).rejects.toMatchObject({ code: 'WRONG_PASSWORD' });
  });

  test('one that is tried again and again is refused for a minute', async () => {
    for (let i = 0; i < 10; i += 1) expect((await exchange('skein_pat_guess')).status).toBe(400);
    const answer = await exchange('skein_pat_guess');
    expect([answer.status, answer.body['error']]).toEqual([429, 'temporarily_unavailable']);
    minuteLater();
    expect((await exchange('skein_pat_guess')).status).toBe(400);
  });
});

describe('jwt-bearer', () => {
  const rsa = generateKeyPairSync('rsa', { modulusLength: 2048 });
  const KEYS = {
    RS256: rsa,
    RS512: rsa,
    ES256: generateKeyPairSync('ec', { namedCurve: 'P-256' }),
    ES384: generateKeyPairSync('ec', { namedCurve: 'P-384' }),
  } as const;
  type Algorithm = keyof typeof KEYS;
  const pem = ({ publicKey }: { readonly publicKey: KeyObject }): string =>
    publicKey.export({ type: 'spki', format: 'pem' }).toString();
  let id: string;

  beforeAll(async () => {
    await catalog.call('CreateClient', {
      tenant: 'default',
      name: 'robot',
      roles: ['loader'],
      scope: ['catalog:write'],
    });
    await catalog.sql(`update catalog.role set scopes = '{table:write,catalog:write}' where name = 'loader'`);
    const [row] = (await catalog.sql(`select id from catalog.principal where username = 'robot'`)) as [{ id: string }];
    ({ id } = row);
    for (const algorithm of Object.keys(KEYS) as Algorithm[]) {
      await addKey(algorithm.toLowerCase(), pem(KEYS[algorithm]), algorithm);
    }
    await addKey('revoked', pem(KEYS.ES256), 'ES256', 'now()');
  });

  const addKey = (kid: string, key: string, algorithm: string, revokedAt = 'null', owner = 'robot'): Promise<unknown> =>
    catalog.sql(`insert into catalog.keypair (principal_id, key_id, public_key, algorithm, created_at, revoked_at)
      select id, '${kid}', '${key}', '${algorithm}', now(), ${revokedAt} from catalog.principal where username = '${owner}'`);

  type Parts = { readonly claims?: JWTPayload; readonly header?: object; readonly key?: KeyObject };
  const assertion = ({ claims, header, key }: Parts = {}): Promise<string> =>
    new SignJWT({
      iss: 'default/robot',
      sub: 'default/robot',
      aud: 'skein',
      exp: inSeconds(60),
      jti: randomUUID(),
      ...claims,
    })
      .setProtectedHeader({ alg: 'ES256', kid: 'es256', ...header })
      .sign(key ?? KEYS.ES256.privateKey);
  const grant = async (parts: Parts = {}): Promise<RestAnswer> =>
    send({ grant_type: JWT_BEARER, assertion: await assertion(parts) });

  test.each(Object.keys(KEYS) as Algorithm[])(
    'an assertion by %s gives a token with the scopes of the roles',
    async (alg) => {
      const answer = await grant({ header: { alg, kid: alg.toLowerCase() }, key: KEYS[alg].privateKey });
      expect(answer.status).toBe(200);
      expect(claimsOf(answer)).toMatchObject({ sub: id, preferred_username: 'robot', auth_method: 'keypair' });
      // Those of `loader` and of `public`, not those of the account's OAuth client.
      expect((answer.body['scope'] as string).split(' ')).toEqual(
        expect.arrayContaining(['catalog:write', 'table:read', 'table:write']),
      );
    },
  );

  test('the account is named by its id, too, and the audience by the URL of the endpoint', async () => {
    minuteLater();
    const claims = { iss: id, sub: id, aud: 'http://catalog.example:8181/v1/oauth/tokens', exp: inSeconds(HOUR_S) };
    expect((await grant({ claims })).status).toBe(200);
  });

  test('each fault is one refusal', async () => {
    await catalog.call('CreateClient', { tenant: 'default', name: 'idle' });
    await addKey('es256', pem(KEYS.ES256), 'ES256', 'null', 'idle');
    await catalog.sql(`update catalog.principal set status = 'SUSPENDED' where username = 'idle'`);
    await addKey('es256', pem(KEYS.ES256), 'ES256', 'null', 'admin');
    const jti = randomUUID();
    expect((await grant({ claims: { jti, exp: inSeconds(HOUR_S) } })).status).toBe(200);
    const publicKey = pem(KEYS.RS256);
    const faults: Readonly<Record<string, () => Parts>> = {
      'used before': () => ({ claims: { jti, exp: inSeconds(HOUR_S / 2) } }),
      'no jti': () => ({ claims: { jti: '' } }),
      'an expiry long ago': () => ({ claims: { exp: 1 } }),
      expired: () => ({ claims: { exp: inSeconds(-60) } }),
      'too long': () => ({ claims: { exp: inSeconds(HOUR_S + 60) } }),
      'another audience': () => ({ claims: { aud: 'http://other.example/v1/oauth/tokens' } }),
      'another subject': () => ({ claims: { sub: id } }),
      'unknown account': () => ({ claims: { iss: 'default/nobody', sub: 'default/nobody' } }),
      'another tenant': () => ({ claims: { iss: 'other/robot', sub: 'other/robot' } }),
      'a user': () => ({ claims: { iss: 'default/admin', sub: 'default/admin' } }),
      suspended: () => ({ claims: { iss: 'default/idle', sub: 'default/idle' } }),
      'unknown key': () => ({ header: { kid: 'unknown' } }),
      'revoked key': () => ({ header: { kid: 'revoked' } }),
      'another key': () => ({ key: generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey }),
      'another algorithm of the same key': () => ({
        header: { alg: 'RS512', kid: 'rs256' },
        key: KEYS.RS256.privateKey,
      }),
      'the public key as a secret': () => ({
        header: { alg: 'HS256', kid: 'rs256' },
        key: createSecretKey(Buffer.from(publicKey)),
      }),
    };
    for (const [what, fault] of Object.entries(faults)) {
      minuteLater();
      const { status, body } = await grant(fault());
      expect([what, status, body]).toEqual([
        what,
        400,
        { error: 'invalid_grant', error_description: 'assertion is not valid' },
      ]);
    }
    for (const text of ['nothing', 'a.b.c', 'x'.repeat(9_000)]) {
      expect((await send({ grant_type: JWT_BEARER, assertion: text })).body['error']).toBe('invalid_grant');
    }
  });

  test('wrong ones of one account from one address are refused for a minute', async () => {
    minuteLater();
    for (let i = 0; i < 10; i += 1) expect((await grant({ claims: { aud: 'wrong' } })).status).toBe(400);
    expect((await grant()).status).toBe(429);
    minuteLater();
    expect((await grant()).status).toBe(200);
  });
});

test('a token by a key or a personal access token has no scope of the OAuth client that its account has', async () => {
  minuteLater();
  await catalog.call('CreateClient', { tenant: 'default', name: 'both', scope: ['catalog:write', 'table:read'] });
  const digest = createHash('sha256').update('skein_pat_both').digest('hex');
  await catalog.sql(`insert into catalog.access_token (principal_id, name, sha256, scopes, created_by, created_at, expires_at)
    select id, 'both', '\\x${digest}', '{catalog:write,table:read}', id, now(), to_timestamp(${inSeconds(HOUR_S)})
    from catalog.principal where username = 'both'`);
  const { body } = await send({ grant_type: 'pat', pat: 'skein_pat_both', client_id: 'service-sql' });
  // `public` has no `catalog:write`.
  expect(body['scope']).toBe('table:read');
});

test('skein token gives no more than the scopes of the roles, and leaves a row of the audit log', async () => {
  await catalog.sql(`insert into catalog.principal (tenant_id, username, password_hash, roles, is_bootstrap_principal)
    select tenant_id, 'plain', password_hash, '{}', false from catalog.principal where username = 'admin'`);
  const scope = decodeJwt(await catalog.mint({ user: 'plain' }))['scope'];
  expect(scope).not.toContain('catalog:write');
  expect(scope).toContain('table:write');
  await expect(catalog.mint({ user: 'plain', scope: ['catalog:write'] })).rejects.toMatchObject({ code: 'FORBIDDEN' });
  const rows = await catalog.sql(`select actor_id, target_name, details->>'scope' as scope from catalog.user_audit_log
    where event_type = 'mint_token' and target_name = 'plain'`);
  expect(rows).toEqual([{ actor_id: null, target_name: 'plain', scope }]);
});
