import { createHash, randomBytes } from 'node:crypto';
import { decodeJwt, type JWTPayload } from 'jose';
import { Client as PgClient } from 'pg';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Clock } from '#shared/clock.ts';
import { SCOPES } from '#shared/authorization/token-claims.ts';
import { startTestCatalog, type RestAnswer, type TestCatalog } from '#test/support/catalog.ts';
import { patience } from '#test/support/run/slowness.ts';

let catalog: TestCatalog;
let passedMs = 0;
/** Time between two readings of the clock. */
let tickMs = 0;
const clock: Clock = { nowMs: () => Date.now() + (passedMs += tickMs), monotonicMs: () => performance.now() };
const HOUR_MS = 3_600_000;
const TOKENS = '/v1/oauth/tokens';
const EXCHANGE = 'urn:ietf:params:oauth:grant-type:token-exchange';
const ACCESS_TOKEN = 'urn:ietf:params:oauth:token-type:access_token';
/** The scopes of a client whose account has neither tenant_admin nor a privilege. */
const ALL = Object.keys(SCOPES)
  .filter((scope) => !scope.startsWith('principal:'))
  .join(' ');

type Client = { readonly client_id: string; readonly client_secret: string };
type Form = Record<string, string>;
type Granted = {
  readonly access_token: string;
  readonly refresh_token?: string;
  readonly scope: string;
  readonly expires_in: number;
};

beforeAll(async () => {
  catalog = await startTestCatalog({}, clock);
});
afterAll(() => catalog[Symbol.asyncDispose]());

const send = (form: Form | string, headers: Record<string, string> = {}): Promise<RestAnswer> =>
  catalog.rest('POST', TOKENS, {
    token: null,
    raw: typeof form === 'string' ? form : new URLSearchParams(form).toString(),
    headers: { 'content-type': 'application/x-www-form-urlencoded', ...headers },
  });
const granted = async (form: Form, headers: Record<string, string> = {}): Promise<Granted> => {
  const answer = await send(form, headers);
  expect(answer.body).toHaveProperty('access_token');
  expect([answer.status, answer.headers.get('cache-control')]).toEqual([200, 'no-store']);
  return answer.body as unknown as Granted;
};
/** Returns status and code of a refusal; checks that it has exactly the members of RFC 6749 and must not be cached. */
const refused = async (form: Form | string, headers: Record<string, string> = {}): Promise<[number, unknown]> => {
  const answer = await send(form, headers);
  expect(Object.keys(answer.body)).toEqual(['error', 'error_description']);
  expect(answer.headers.get('cache-control')).toBe('no-store');
  expect(answer.headers.get('content-type')).toContain('application/json');
  return [answer.status, answer.body['error']];
};
const newClient = (name: string, more: object = {}): Promise<Client> =>
  catalog.call<Client>('CreateClient', { tenant: 'default', name, ...more });
const basic = ({ client_id, client_secret }: Client): Record<string, string> => ({
  authorization: `Basic ${Buffer.from(`${client_id}:${client_secret}`).toString('base64')}`,
});
const bearer = (token: string): Record<string, string> => ({ authorization: `Bearer ${token}` });
const signIn = (client: Client, more: Form = {}): Promise<Granted> =>
  granted({ grant_type: 'client_credentials', ...client, ...more });
const statusWith = async (token: string): Promise<number> =>
  (await catalog.rest('GET', '/v1/lake/namespaces', { token })).status;
const claimsOf = (token: string): JWTPayload => decodeJwt(token);

describe('client_credentials', () => {
  let client: Client;
  beforeAll(async () => {
    client = await newClient('etl', { roles: ['writer'], scope: ['table:read', 'namespace:read', 'table:write'] });
  });

  test('by form, by HTTP Basic, and by the secret alone; the token is of the service account', async () => {
    const { client_id, client_secret } = client;
    const grant_type = 'client_credentials';
    const answer = await send({ grant_type, client_id, client_secret, scope: 'catalog' });
    expect(answer.body).toEqual({
      access_token: expect.any(String) as string,
      token_type: 'Bearer',
      expires_in: 3_600,
      issued_token_type: ACCESS_TOKEN,
      scope: 'namespace:read table:read table:write',
      refresh_token: expect.stringMatching(/^skein_rt_/) as string,
    });
    expect(claimsOf(answer.body['access_token'] as string)).toEqual({
      iss: 'skein',
      aud: 'skein',
      sub: expect.stringMatching(/^[0-9a-f-]{36}$/) as string,
      tenant: 'default',
      preferred_username: 'etl',
      roles: ['writer'],
      scope: 'namespace:read table:read table:write',
      sess_epoch: 0,
      auth_method: 'client',
      jti: expect.stringMatching(/^[0-9a-f-]{36}$/) as string,
      iat: expect.any(Number) as number,
      exp: expect.any(Number) as number,
    });
    const bare = `Basic ${Buffer.from(client_secret).toString('base64')}`;
    for (const [form, headers] of [
      [{ grant_type }, basic(client)],
      [{ grant_type, client_id }, basic(client)],
      [{ grant_type, client_secret }, {}],
      [{ grant_type }, { authorization: bare }],
      [{ grant_type, client_id, client_secret }, bearer('a token of a parent session')],
    ] as const) {
      const { access_token } = await granted(form, headers);
      expect(claimsOf(access_token)['preferred_username']).toBe('etl');
      expect(await statusWith(access_token)).toBe(200);
    }
  });

  test.each([
    ['catalog', 'namespace:read table:read table:write'],
    ['sign', 'namespace:read table:read table:write'],
    ['PRINCIPAL_ROLE:ALL', 'namespace:read table:read table:write'],
    ['table:read catalog', 'table:read'],
    ['table:read catalog:write', 'table:read'],
    ['catalog:write', ''],
    ['table:read something-else', 'table:read'],
    ['', 'namespace:read table:read table:write'],
  ])('the scope %j is granted as %j and echoed', async (scope, echoed) => {
    const { access_token, ...more } = await signIn(client, { scope });
    expect([more.scope, claimsOf(access_token)['scope']]).toEqual([echoed, echoed]);
  });

  test.each(['bogus', 'catalog bogus', 'TABLE:READ'])('the scope %j is invalid_scope', async (scope) => {
    const { status, body } = await send({ grant_type: 'client_credentials', ...client, scope });
    expect([status, body]).toEqual([
      400,
      {
        error: 'invalid_scope',
        error_description: `scope names none of ${Object.keys(SCOPES).join(', ')}`,
      },
    ]);
  });

  test('a wrong secret, an unknown client and no secret are invalid_client, and the answers do not differ', async () => {
    const { client_id, client_secret } = client;
    const grant_type = 'client_credentials';
    const wrong = await send({ grant_type, client_id, client_secret: `${client_secret}x` });
    const unknown = await send({ grant_type, client_id: randomBytes(16).toString('hex'), client_secret });
    expect(wrong.status).toBe(401);
    expect(wrong.headers.get('www-authenticate')).toBe('Basic realm="skein"');
    expect(unknown.body).toEqual(wrong.body);
    for (const form of [
      { grant_type },
      { grant_type, client_id },
      { grant_type, client_id, client_secret: '' },
      { grant_type, client_secret: 'x' },
      { grant_type, client_id: 'é\u{1F600}', client_secret: 'ü' },
      { grant_type, client_id: 'x'.repeat(10_000), client_secret },
    ]) {
      expect(await refused(form), JSON.stringify(form).slice(0, 100)).toEqual([401, 'invalid_client']);
    }
    expect(await refused({ grant_type }, bearer(catalog.token))).toEqual([401, 'invalid_client']);
    expect(await refused({ grant_type, client_secret }, basic(client))).toEqual([400, 'invalid_request']);
  });

  test('a suspended account is unauthorized_client, and only to who has the secret', async () => {
    const other = await newClient('suspended');
    const { access_token } = await signIn(other);
    await catalog.sql(
      "update catalog.principal set status = 'SUSPENDED', session_epoch = 1 where username = 'suspended'",
    );
    const form = { grant_type: 'client_credentials', ...other };
    expect(await refused(form)).toEqual([400, 'unauthorized_client']);
    expect(await refused({ ...form, client_secret: 'x' })).toEqual([401, 'invalid_client']);
    await expect.poll(() => statusWith(access_token)).toBe(401);
  });
});

describe('refresh_token', () => {
  const renew = (client: Client, token: string | undefined, more: Form = {}): Form => ({
    grant_type: 'refresh_token',
    refresh_token: token ?? '',
    ...client,
    ...more,
  });

  test('rotates; one that comes again ends its family, and no other', async () => {
    const client = await newClient('refreshing');
    const [first, other] = [await signIn(client), await signIn(client)];
    const second = await granted(renew(client, first.refresh_token, { scope: 'table:read' }));
    expect(second.scope).toBe('table:read');
    expect(await refused(renew(client, second.refresh_token, { scope: 'bogus' }))).toEqual([400, 'invalid_scope']);
    const third = await granted(renew(client, second.refresh_token), {});
    expect(third.scope).toBe(ALL);
    expect(claimsOf(third.access_token)).toMatchObject({
      auth_method: 'client',
      auth_time: claimsOf(first.access_token).iat,
    });
    expect(await statusWith(third.access_token)).toBe(200);

    expect(await refused(renew(client, first.refresh_token))).toEqual([400, 'invalid_grant']);
    expect(await refused(renew(client, third.refresh_token))).toEqual([400, 'invalid_grant']);
    await granted(renew(client, other.refresh_token));
  });

  test('remembers the moment at which the first token was issued, however long the sign-in took', async () => {
    const client = await newClient('slow');
    try {
      tickMs = 700;
      const { access_token, refresh_token } = await signIn(client);
      const next = await granted(renew(client, refresh_token));
      expect(claimsOf(next.access_token)['auth_time']).toBe(claimsOf(access_token).iat);
    } finally {
      tickMs = 0;
      passedMs = 0;
    }
  });

  test('of two calls with one token at once, one gets the next', async () => {
    const client = await newClient('racing');
    const { refresh_token } = await signIn(client);
    const answers = await Promise.all(Array.from({ length: 8 }, () => send(renew(client, refresh_token))));
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
    expect(answers.filter(({ body }) => body['error'] === 'invalid_grant')).toHaveLength(7);
  });

  test('is of one client, which shows its secret', async () => {
    const [mine, theirs] = [await newClient('mine'), await newClient('theirs')];
    const { refresh_token = '' } = await signIn(mine);
    expect(await refused({ grant_type: 'refresh_token', refresh_token })).toEqual([401, 'invalid_client']);
    expect(await refused(renew({ ...mine, client_secret: 'x' }, refresh_token))).toEqual([401, 'invalid_client']);
    expect(await refused(renew(theirs, refresh_token))).toEqual([400, 'invalid_grant']);
    expect(await refused(renew(mine, undefined))).toEqual([400, 'invalid_request']);
    for (const odd of [
      'x',
      'skein_rt_',
      `${refresh_token}x`,
      refresh_token.replace(/\.(.*)$/, '.'),
      'a'.repeat(9_000),
    ]) {
      expect(await refused(renew(mine, odd))).toEqual([400, 'invalid_grant']);
    }
    await granted({ grant_type: 'refresh_token', refresh_token }, basic(mine));
  });

  test('has an end that no refresh moves', async () => {
    const client = await newClient('ageing');
    const { refresh_token } = await signIn(client);
    try {
      passedMs += 6 * 24 * HOUR_MS;
      const next = await granted(renew(client, refresh_token));
      passedMs += 1.1 * 24 * HOUR_MS;
      expect(await refused(renew(client, next.refresh_token))).toEqual([400, 'invalid_grant']);
    } finally {
      passedMs = 0;
    }
  });

  test('cannot widen what was granted', async () => {
    const client = await newClient('narrow');
    const { refresh_token } = await signIn(client, { scope: 'table:read' });
    expect((await granted(renew(client, refresh_token, { scope: 'table:read table:write' }))).scope).toBe('table:read');
  });
});

describe('token exchange', () => {
  const exchange = (subject_token: string, more: Form = {}): Form => ({
    grant_type: EXCHANGE,
    subject_token,
    subject_token_type: ACCESS_TOKEN,
    ...more,
  });

  test('Java renews its own token: with it as bearer, and with the secret once it has expired', async () => {
    const client = await newClient('java');
    const first = await signIn(client, { scope: 'catalog' });
    const second = await granted(exchange(first.access_token, { scope: 'catalog' }), bearer(first.access_token));
    expect(second).toMatchObject({ scope: ALL, issued_token_type: ACCESS_TOKEN, expires_in: 3_600 });
    expect(second).not.toHaveProperty('refresh_token');
    expect(claimsOf(second.access_token)).toMatchObject({
      sub: claimsOf(first.access_token).sub,
      auth_method: 'client',
      auth_time: claimsOf(first.access_token).iat,
    });
    try {
      passedMs = 2 * HOUR_MS;
      expect(await refused(exchange(second.access_token), bearer(second.access_token))).toEqual([
        401,
        'invalid_client',
      ]);
      const third = await granted(exchange(second.access_token), basic(client));
      expect(await statusWith(third.access_token)).toBe(200);
    } finally {
      passedMs = 0;
    }
  });

  test('keeps the scopes of the token', async () => {
    const client = await newClient('scoped');
    const { access_token } = await signIn(client, { scope: 'table:read' });
    const bogus = exchange(access_token, { scope: 'bogus' });
    expect(await refused(bogus, bearer(access_token))).toEqual([400, 'invalid_scope']);
    const wider = await granted(exchange(access_token, { scope: 'table:read table:write' }), bearer(access_token));
    expect(wider.scope).toBe('table:read');
  });

  test('an operator’s token is exchanged for none, whoever shows it', async () => {
    const client = await newClient('borrowing');
    for (const token of [
      await catalog.mint({ ttl_ms: 60_000 }),
      await catalog.mint({ scope: ['table:read'] }),
      await catalog.mint({ user: 'borrowing' }),
    ]) {
      for (const headers of [bearer(token), bearer(catalog.token), basic(client)]) {
        const answer = await send(exchange(token), headers);
        expect([answer.status, answer.body['error']]).toEqual([400, 'invalid_request']);
        expect(answer.body['error_description']).toContain('an operator made the token');
      }
      expect(await statusWith(token)).toBe(claimsOf(token)['scope'] === 'table:read' ? 403 : 200);
    }
  });

  test('a client may narrow the token of another client of its tenant, while that one lives', async () => {
    const client = await newClient('gateway');
    const { access_token: token } = await signIn(await newClient('guest'));
    const narrowed = await granted(exchange(token, { scope: 'table:read', ...client }));
    expect(claimsOf(narrowed.access_token)).toMatchObject({
      preferred_username: 'guest',
      scope: 'table:read',
      auth_time: claimsOf(token).iat,
    });
    try {
      passedMs = 2 * HOUR_MS;
      expect(await refused(exchange(token, client))).toEqual([400, 'invalid_request']);
    } finally {
      passedMs = 0;
    }
  });

  test('another tenant’s token is as one that is not valid', async () => {
    await catalog.call('CreateTenant', { name: 'rival', admin_user: 'eve', admin_password: 'a long enough password' });
    const theirs = await catalog.mint({ tenant: 'rival', user: 'eve' });
    const client = await newClient('curious');
    const forged = await send(exchange(`${theirs.slice(0, -10)}AAAAAAAAAA`, client));
    const foreign = await send(exchange(theirs, client));
    expect([forged.status, forged.body['error']]).toEqual([400, 'invalid_request']);
    expect(foreign.body).toEqual(forged.body);
  });

  test('what a bearer alone reaches ends catalog.refresh_token_ttl after the sign-in', async () => {
    const client = await newClient('endless');
    const weekMs = catalog.config['catalog.refresh_token_ttl'];
    try {
      let { access_token, refresh_token } = await signIn(client);
      const beganS = claimsOf(access_token).iat ?? 0;
      for (let hours = 1; hours < 24 * 7; hours += 24) {
        passedMs = hours * HOUR_MS - 60_000;
        const renewal = { grant_type: 'refresh_token', refresh_token: refresh_token ?? '', ...client };
        ({ access_token, refresh_token } = await granted(renewal));
        ({ access_token } = await granted(exchange(access_token), bearer(access_token)));
      }
      // No token lives longer than the sign-in, however it was made.
      passedMs = weekMs - HOUR_MS / 2;
      const last = await granted({ grant_type: 'refresh_token', refresh_token: refresh_token ?? '', ...client });
      const exchanged = await granted(exchange(last.access_token), bearer(last.access_token));
      for (const { access_token: token, expires_in } of [last, exchanged]) {
        expect(claimsOf(token)['auth_time']).toBe(beganS);
        expect(claimsOf(token).exp).toBeLessThan(beganS + weekMs / 1_000 + 1);
        expect(expires_in).toBeLessThanOrEqual(1_800);
      }
      passedMs = weekMs + 2_000;
      expect(await statusWith(exchanged.access_token)).toBe(401);
      expect(await refused(exchange(exchanged.access_token), bearer(exchanged.access_token))).toEqual([
        401,
        'invalid_client',
      ]);
    } finally {
      passedMs = 0;
    }
  });

  test('a person’s token keeps its sign-in, and is never newer than it, whoever exchanges it', async () => {
    const shown = { tenant: '', user: 'admin', password: catalog.config['admin.password'], address: '127.0.0.1' };
    const { token: first } = await catalog.call<{ token: string }>('SignIn', shown);
    const { sid, amr, auth_time } = claimsOf(first);
    expect([typeof sid, amr, auth_time]).toEqual(['string', ['pwd'], claimsOf(first).iat]);
    await catalog.sql(`insert into catalog.oauth_client (client_id, principal_id, secret_sha256, scopes)
      select 'of-admin', id, sha256('secret'), '{table:read}' from catalog.principal where username = 'admin'`);
    const own = basic({ client_id: 'of-admin', client_secret: 'secret' });
    try {
      passedMs = HOUR_MS / 2;
      for (const headers of [bearer(first), own]) {
        const { access_token: next } = await granted(exchange(first), headers);
        expect(claimsOf(next)).toMatchObject({ sid, amr, auth_time, auth_method: 'password' });
      }
      passedMs = 2 * HOUR_MS;
      expect(await refused(exchange(first), own)).toEqual([400, 'invalid_request']);
    } finally {
      passedMs = 0;
      await catalog.sql("delete from catalog.oauth_client where client_id = 'of-admin'");
    }
  });

  test('a client that shows its secret signs in anew', async () => {
    const client = await newClient('returning');
    const { access_token: old } = await signIn(client, { scope: 'table:read' });
    try {
      passedMs = 30 * 24 * HOUR_MS;
      const { access_token: token, ...more } = await granted(exchange(old), basic(client));
      expect(more).toMatchObject({ expires_in: 3_600, scope: 'table:read' });
      expect(claimsOf(token)).not.toHaveProperty('auth_time');
      const { access_token: next } = await granted(exchange(token), bearer(token));
      expect(claimsOf(next)['auth_time']).toBe(claimsOf(token).iat);
    } finally {
      passedMs = 0;
    }
  });

  test.each([
    ['no subject_token', { grant_type: EXCHANGE, subject_token_type: ACCESS_TOKEN }],
    ['no type', { grant_type: EXCHANGE, subject_token: 'x' }],
    ['another type', { grant_type: EXCHANGE, subject_token: 'x', subject_token_type: 'urn:x' }],
    ['a requested type', { ...exchange('x'), requested_token_type: 'urn:ietf:params:oauth:token-type:saml2' }],
    ['an actor', { ...exchange('x'), actor_token: 'y' }],
    ['no token of ours', exchange('x')],
  ])('%s is invalid_request', async (_what, form) => {
    expect(await refused(form, bearer(catalog.token))).toEqual([400, 'invalid_request']);
  });

  test('a request without credentials is invalid_client', async () => {
    expect(await refused(exchange(catalog.token))).toEqual([401, 'invalid_client']);
    const answer = await send(exchange(catalog.token), bearer('x'));
    expect([answer.status, answer.headers.get('www-authenticate')]).toEqual([401, 'Bearer realm="skein"']);
  });
});

describe('requests', () => {
  test.each(['password', 'urn:ietf:params:oauth:grant-type:saml2-bearer', 'constructor'])(
    'the grant %s is unsupported_grant_type',
    async (grant_type) => {
      expect(await refused({ grant_type })).toEqual([400, 'unsupported_grant_type']);
    },
  );

  test('broken forms are invalid_request, large ones 413, in the shape of OAuth', async () => {
    expect(await refused('')).toEqual([400, 'invalid_request']);
    expect(await refused('grant_type=client_credentials&grant_type=client_credentials')).toEqual([
      400,
      'invalid_request',
    ]);
    expect(await refused('grant_type=%zz')).toEqual([400, 'invalid_request']);
    expect(await refused('{"grant_type":"pat"}', { 'content-type': 'application/json' })).toEqual([
      400,
      'invalid_request',
    ]);
    expect(await refused(`a=${'x'.repeat(70_000)}`)).toEqual([413, 'invalid_request']);
  });
});

describe('clients of the operator', () => {
  type Listed = { name: string; client_id: string; roles: string[]; scope: string[]; previous_until_ms: string };
  const list = async (tenant = 'default'): Promise<Listed[]> =>
    (await catalog.call<{ clients: Listed[] }>('ListClients', { tenant })).clients;

  test('a list shows no secret, and only its tenant’s', async () => {
    const client = await newClient('listed', { roles: ['a', 'b', 'a'], scope: ['table:read', 'table:read'] });
    const listed = (await list()).find(({ name }) => name === 'listed');
    expect(listed).toMatchObject({ client_id: client.client_id, roles: ['a', 'b'], scope: ['table:read'] });
    expect(JSON.stringify(await list())).not.toContain('skein_cs_');
    await catalog.call('CreateTenant', { name: 'empty', admin_user: 'e', admin_password: 'a long enough password' });
    expect(await list('empty')).toEqual([]);
    const stored = await catalog.sql(`select * from catalog.oauth_client where client_id = '${client.client_id}'`);
    expect(JSON.stringify(stored)).not.toContain(client.client_secret);
    expect(stored[0]).toMatchObject({ secret_sha256: createHash('sha256').update(client.client_secret).digest() });
  });

  test.each([
    [{ tenant: 'none' }, 'TENANT_NOT_FOUND'],
    [{ name: 'admin' }, 'ALREADY_EXISTS'],
    [{ name: '' }, 'INVALID_REQUEST'],
    [{ scope: ['table:fly'] }, 'INVALID_REQUEST'],
    [{ roles: ['a b'] }, 'INVALID_REQUEST'],
  ])('%j is refused: %s', async (request, code) => {
    await expect(newClient('refused', request)).rejects.toMatchObject({ code });
  });

  test('a service account has no password', async () => {
    await newClient('machine');
    const rows = await catalog.sql("select kind, password_hash from catalog.principal where username = 'machine'");
    expect(rows).toEqual([{ kind: 'SERVICE', password_hash: null }]);
  });

  test('another tenant’s client is as one that does not exist', async () => {
    await newClient('here');
    await catalog.call('CreateTenant', { name: 'there', admin_user: 't', admin_password: 'a long enough password' });
    for (const method of ['RotateClient', 'DropClient']) {
      for (const name of ['here', 'nowhere', 'admin']) {
        await expect(catalog.call(method, { tenant: 'there', name })).rejects.toMatchObject({
          code: 'PRINCIPAL_NOT_FOUND',
          message: `Client does not exist: ${name}`,
        });
      }
    }
  });

  test('a rotation ends the old secret and all tokens at once', async () => {
    const client = await newClient('leaked');
    const old = await signIn(client);
    const next = await catalog.call<Client>('RotateClient', { tenant: 'default', name: 'leaked' });
    expect(next.client_id).toBe(client.client_id);
    await expect.poll(() => statusWith(old.access_token)).toBe(401);
    expect(await refused({ grant_type: 'client_credentials', ...client })).toEqual([401, 'invalid_client']);
    expect(await refused({ grant_type: 'client_credentials', client_secret: client.client_secret })).toEqual([
      401,
      'invalid_client',
    ]);
    const renewal = { grant_type: 'refresh_token', refresh_token: old.refresh_token ?? '' };
    expect(await refused({ ...renewal, ...next })).toEqual([400, 'invalid_grant']);
    expect(
      await refused(
        { grant_type: EXCHANGE, subject_token: old.access_token, subject_token_type: ACCESS_TOKEN },
        basic(next),
      ),
    ).toEqual([400, 'invalid_request']);
    expect(await statusWith((await signIn(next)).access_token)).toBe(200);
  });

  test('with an overlap the old secret opens for that long, and tokens live on', async () => {
    const client = await newClient('planned');
    const old = await signIn(client);
    const overlap_ms = String(24 * HOUR_MS);
    const next = await catalog.call<Client>('RotateClient', { tenant: 'default', name: 'planned', overlap_ms });
    expect((await list()).find(({ name }) => name === 'planned')?.previous_until_ms).not.toBe('0');
    await signIn(client);
    await granted({ grant_type: 'client_credentials', client_secret: client.client_secret });
    await signIn(next);
    expect(await statusWith(old.access_token)).toBe(200);
    try {
      passedMs = 25 * HOUR_MS;
      expect(await refused({ grant_type: 'client_credentials', ...client })).toEqual([401, 'invalid_client']);
      await signIn(next);
    } finally {
      passedMs = 0;
    }
    const tooLong = { tenant: 'default', name: 'planned', overlap_ms: String(31 * 24 * HOUR_MS) };
    await expect(catalog.call('RotateClient', tooLong)).rejects.toMatchObject({ code: 'INVALID_REQUEST' });
  });

  test('rotations at once follow one another: the last secret opens, and the one before it', async () => {
    await newClient('hurried');
    const request = { tenant: 'default', name: 'hurried', overlap_ms: String(HOUR_MS) };
    const secrets = await Promise.all(Array.from({ length: 6 }, () => catalog.call<Client>('RotateClient', request)));
    const answers = await Promise.all(secrets.map((one) => send({ grant_type: 'client_credentials', ...one })));
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(2);
  });

  test('one that is dropped while it signs in is told to try again, and then that it is unknown', async () => {
    const client = await newClient('outrun');
    const other = new PgClient(catalog.databaseUrl);
    await other.connect();
    try {
      await other.query('begin');
      await other.query('delete from catalog.oauth_client where client_id = $1', [client.client_id]);
      const asked = refused({ grant_type: 'client_credentials', ...client });
      const waiting = 'select from pg_locks where not granted and pid <> pg_backend_pid()';
      await expect.poll(() => catalog.sql(waiting), { timeout: patience(10_000) }).not.toEqual([]);
      await other.query('commit');
      expect(await asked).toEqual([400, 'invalid_request']);
    } finally {
      await other.end();
    }
    expect(await refused({ grant_type: 'client_credentials', ...client })).toEqual([401, 'invalid_client']);
  });

  test('a drop ends its tokens within a second, also after a restart, and the name is free', async () => {
    const client = await newClient('doomed');
    const { access_token, refresh_token = '' } = await signIn(client);
    expect(await statusWith(access_token)).toBe(200);
    await catalog.call('DropClient', { tenant: 'default', name: 'doomed' });
    await expect.poll(() => statusWith(access_token)).toBe(401);
    expect(await refused({ grant_type: 'client_credentials', ...client })).toEqual([401, 'invalid_client']);
    expect(await refused({ grant_type: 'refresh_token', refresh_token, ...client })).toEqual([401, 'invalid_client']);
    const again = await newClient('doomed');
    expect(await statusWith((await signIn(again)).access_token)).toBe(200);
    await catalog.restart();
    expect(await statusWith(access_token)).toBe(401);
    const exchange = { grant_type: EXCHANGE, subject_token: access_token, subject_token_type: ACCESS_TOKEN };
    expect(await refused(exchange, basic(again))).toEqual([400, 'invalid_request']);
  });
});
