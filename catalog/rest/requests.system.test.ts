import { gzipSync, zstdCompressSync } from 'node:zlib';
import { connect } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { errorOf, locationOf, NS, SCHEMA } from '#test/support/catalog-requests.ts';
import { startTestCatalog, type RestAnswer, type TestCatalog } from '#test/support/catalog.ts';
import { patience } from '#test/support/run/slowness.ts';

const ORIGIN = 'https://app.example.com';
let catalog: TestCatalog;
beforeAll(async () => {
  catalog = await startTestCatalog({
    'catalog.cors_origins': [ORIGIN],
    'catalog.body_bytes_max': 4 * 2 ** 20,
    'catalog.metadata_bytes_max': 2 ** 20,
    'catalog.answers_bytes_max': 3 * 2 ** 20,
  });
});
afterAll(() => catalog[Symbol.asyncDispose]());

const TABLES = `${NS}/default/tables`;
const post = (path: string, body: unknown): Promise<RestAnswer> => catalog.rest('POST', path, { body });
const raw = (payload: string | Uint8Array, encoding?: string): Promise<RestAnswer> =>
  catalog.rest('POST', TABLES, {
    raw: payload,
    headers: encoding === undefined ? {} : { 'content-encoding': encoding },
  });
const table = (name: string): string => JSON.stringify({ name, schema: SCHEMA });

describe('bodies', () => {
  test('are read as gzip and zstd, whatever the case of the name', async () => {
    expect((await raw(gzipSync(table('g1')), 'GZIP')).status).toBe(200);
    expect((await raw(zstdCompressSync(table('z1')), 'zstd')).status).toBe(200);
    expect((await raw(table('i1'), 'identity')).status).toBe(200);
  });

  test.each([
    ['gzip', gzipSync],
    ['zstd', zstdCompressSync],
  ] as const)('%s that unpacks beyond the limit is 413, and no memory is spent on it', async (name, compress) => {
    const bomb = compress(Buffer.alloc(64 * 2 ** 20, ' '));
    expect(bomb.length).toBeLessThan(2 ** 20);
    expect(errorOf(await raw(bomb, name)).slice(0, 2)).toEqual([413, 'BadRequestException']);
    expect(errorOf(await raw('no such thing', name))[0]).toBe(400);
    expect(errorOf(await raw(compress(table('cut')).subarray(0, 20), name))[0]).toBe(400);
  });

  test('that are too long are 413, of an unknown encoding 400', async () => {
    expect(errorOf(await raw(`${' '.repeat(4 * 2 ** 20)}{}`))[0]).toBe(413);
    expect(errorOf(await raw(table('b'), 'br'))[0]).toBe(400);
  });

  test('that are no UTF-8 are 400', async () => {
    const bytes = Buffer.from(table('x_'));
    bytes[bytes.indexOf('_')] = 0xff;
    expect(errorOf(await raw(bytes))[0]).toBe(400);
    expect((await raw(Buffer.concat([Buffer.from([0xef, 0xbb, 0xbf]), Buffer.from(table('bom'))]))).status).toBe(200);
  });

  test('are not waited for when the token is bad, lacks the scope, or there is no such route', async () => {
    const reader = await catalog.mint({ scope: ['table:read'] });
    const begin = async (path: string, token: string): Promise<string> => {
      const text = await exchange(`POST ${path}`, { token, more: 'Content-Length: 4000000\r\n', until: '\r\n' });
      return text.slice('HTTP/1.1 '.length, 12);
    };
    expect(await begin(TABLES, 'no.such.token')).toBe('401');
    expect(await begin(TABLES, reader)).toBe('403');
    expect(await begin('/v1/nothing', catalog.token)).toBe('404');
  });

  test('that would keep the parser busy for long are 400', async () => {
    expect(errorOf(await raw(gzipSync(`{"x":[${'{},'.repeat(1_000_000)}{}]}`), 'gzip'))[2]).toContain('500000 values');
    expect(errorOf(await raw(gzipSync(`{"x":${'9'.repeat(4_000_000)}}`), 'gzip'))[2]).toContain('1000 digits');
  });
});

describe('names', () => {
  test('have limits, in bytes, with clear errors', async () => {
    expect((await raw(table('x'.repeat(1_000)))).status).toBe(200);
    expect(errorOf(await raw(table('x'.repeat(1_001))))[2]).toBe('Invalid table name: longer than 1000 bytes');
    expect((await raw(table('日'.repeat(333)))).status).toBe(200);
    expect((await raw(table('日'.repeat(334)))).status).toBe(400);
    expect((await raw(table('Ⱥ'.repeat(500)))).status, 'longer in lower case').toBe(200);
    const deep = Array.from({ length: 51 }, (_none, i) => `n${i}`);
    expect(errorOf(await post(NS, { namespace: deep }))[2]).toContain('51 levels');
    expect((await post(NS, { namespace: ['Ⱥ'.repeat(400)] })).status).toBe(200);
    expect((await post(NS, { namespace: ['Ⱥ'.repeat(400), 'Ⱥ'.repeat(449)] })).status).toBe(200);
    expect(errorOf(await post(NS, { namespace: ['Ⱥ'.repeat(400), 'Ⱥ'.repeat(450)] }))[2]).toContain('1700 bytes');
    const path = `${NS}/${encodeURIComponent('Ⱥ'.repeat(400))}%1F${encodeURIComponent('Ⱥ'.repeat(449))}`;
    expect((await catalog.rest('GET', path)).status).toBe(200);
    for (const name of ['', '\uD800', 'a\u001Fb', 'a\0b']) expect((await raw(table(name))).status).toBe(400);
    const many = Object.fromEntries(Array.from({ length: 20_000 }, (_none, i) => [`key ${i}`, 'v'.repeat(50)]));
    expect(errorOf(await post(NS, { namespace: ['many'], properties: many }))[2]).toContain('properties are longer');
  });

  test('a table named .. does not climb, and no location ends in a slash', async () => {
    const root = `file://${catalog.dataDir}/warehouse`;
    for (const name of ['..', '../..', '/etc', '.']) {
      const created = await raw(table(name));
      expect(created.status, name).toBe(200);
      expect(locationOf(created).startsWith(`${root}/default/`), name).toBe(true);
      expect(locationOf(created), name).not.toMatch(/\.\.|\/$/);
    }
    const chosen = await post(TABLES, { name: 'slash', schema: SCHEMA, location: `${root}/slash///` });
    expect(locationOf(chosen)).toBe(`${root}/slash`);
    expect((await post(TABLES, { name: 'climb', schema: SCHEMA, location: `${root}/../climb` })).status).toBe(400);
  });
});

test('locations that no file system has are 400, never a 5xx', async () => {
  const root = `file://${catalog.dataDir}/warehouse`;
  const file = (await raw(table('in_the_way'))).body['metadata-location'] as string;
  const version = { 'version-id': 1, 'timestamp-ms': 1, 'schema-id': 0, summary: {}, 'default-namespace': ['default'] };
  const representations = [{ type: 'sql', sql: 'SELECT 1', dialect: 'spark' }];
  const view = { name: 'v', schema: SCHEMA, 'view-version': { ...version, representations }, properties: {} };
  const made = await post(`${NS}/default/views`, view);
  const below = made.body['metadata-location'] as string;
  for (const location of [`${root}/${'x'.repeat(256)}`, `${root}/a\uD800`, below, `${below}/x`]) {
    for (const staged of [true, false]) {
      const answer = await post(TABLES, { name: 'odd', schema: SCHEMA, location, 'stage-create': staged });
      expect(errorOf(answer).slice(0, 2), location).toEqual([400, 'BadRequestException']);
    }
    expect((await post(`${NS}/default/views`, { ...view, name: 'odd', location })).status, location).toBe(400);
  }
  const register = (at: string): Promise<RestAnswer> =>
    post(`${NS}/default/register`, { name: 'odd', 'metadata-location': at });
  for (const at of [`${root}/default`, `${file}/x`, `${root}/none`]) expect((await register(at)).status, at).toBe(404);
  expect((await register(`${root}/${'x'.repeat(300)}/y`)).status).toBe(400);
});

test('metadata has a limit: a create or commit beyond it is 400, and the table stays as it was', async () => {
  const properties = { long: 'x'.repeat(2 ** 20) };
  const tooLarge = [
    400,
    'BadRequestException',
    "the table's metadata would be larger than 1048576 bytes: expire snapshots",
  ];
  expect(errorOf(await post(TABLES, { name: 'large', schema: SCHEMA, properties }))).toEqual(tooLarge);
  const created = await post(TABLES, { name: 'large', schema: SCHEMA });
  const grow = { updates: [{ action: 'set-properties', updates: properties }] };
  expect(errorOf(await post(`${TABLES}/large`, grow))).toEqual(tooLarge);
  expect((await catalog.rest('GET', `${TABLES}/large`)).body).toEqual(created.body);
});

test('a transaction has a limit of metadata, too, because all of it is in memory at once', async () => {
  const properties = { long: 'x'.repeat(900_000) };
  const names = Array.from({ length: 5 }, (_none, i) => `part_${i}`);
  for (const name of names) expect((await post(TABLES, { name, schema: SCHEMA, properties })).status).toBe(200);
  const commit = (tables: readonly string[]): Promise<RestAnswer> =>
    post('/v1/lake/transactions/commit', {
      'table-changes': tables.map((name) => ({
        identifier: { namespace: ['default'], name },
        requirements: [],
        updates: [{ action: 'set-properties', updates: { a: 'b' } }],
      })),
    });
  expect(errorOf(await commit(names))).toEqual([
    400,
    'BadRequestException',
    'the tables of a transaction have more than 4194304 bytes of metadata',
  ]);
  expect((await commit(names.slice(1))).status).toBe(204);
});

describe('shapes that are none', () => {
  const shapes: unknown[] = [
    null,
    5,
    'text',
    [],
    [[]],
    {},
    { namespace: null },
    { namespace: 'x' },
    { namespace: [5] },
  ];
  const paths: readonly (readonly [string, string])[] = [
    ['POST', NS],
    ['POST', `${NS}/default/properties`],
    ['POST', TABLES],
    ['POST', `${TABLES}/x`],
    ['POST', `${NS}/default/register`],
    ['POST', '/v1/lake/tables/rename'],
    ['POST', '/v1/lake/transactions/commit'],
    ['POST', '/v1/transactions/commit'],
    ['POST', '/v1/catalogs'],
    ['POST', `${TABLES}/x/undrop`],
  ];

  test.each(paths)('%s %s: never 500', async (method, path) => {
    for (const body of shapes) {
      const answer = await catalog.rest(method, path, { body });
      expect([200, 400, 404, 409], `${JSON.stringify(body)}: ${JSON.stringify(answer.body)}`).toContain(answer.status);
    }
  });

  test('HEAD is answered without a body and without the length of one', async () => {
    await raw(table('head'));
    for (const [path, status] of [
      [`${TABLES}/head`, 204],
      [`${TABLES}/none`, 404],
      [`${NS}/default`, 204],
      ['/v1/nothing', 404],
    ] as const) {
      const text = await exchange(`HEAD ${path}`);
      expect(text.startsWith(`HTTP/1.1 ${status} `), path).toBe(true);
      expect(text.endsWith('\r\n\r\n'), path).toBe(true);
      expect(text, path).not.toMatch(/content-length: [1-9]/i);
    }
  });
});

/** Sends a raw request; resolves to the whole answer as received. */
function exchange(
  request: string,
  {
    token = catalog.token,
    more = '',
    until,
  }: { readonly token?: string; readonly more?: string; readonly until?: string } = {},
): Promise<string> {
  const { hostname, port } = new URL(catalog.running.url);
  return new Promise((resolve, reject) => {
    const socket = connect(Number(port), hostname, () => {
      socket.write(
        `${request} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${token}\r\nConnection: close\r\n${more}\r\n`,
      );
    });
    let text = '';
    socket.on('data', (data) => {
      text += data.toString();
      if (until === undefined || !text.includes(until)) return;
      socket.destroy();
      resolve(text);
    });
    socket.on('end', () => resolve(text));
    socket.on('error', reject);
  });
}

test('a client that requests large tables repeatedly and reads nothing is limited, and no other tenant is', async () => {
  await catalog.call('CreateTenant', { name: 'patient', admin_user: 'p', admin_password: 'a long enough password' });
  const other = await catalog.mint({ tenant: 'patient', user: 'p' });
  const properties = { long: 'x'.repeat(900_000) };
  expect((await post(TABLES, { name: 'heavy', schema: SCHEMA, properties })).status).toBe(200);
  const { hostname, port } = new URL(catalog.running.url);
  const load = `GET ${TABLES}/heavy HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${catalog.token}\r\n\r\n`;
  const sockets = Array.from({ length: 10 }, () => {
    const socket = connect({ host: hostname, port: Number(port) });
    socket.on('error', () => undefined);
    socket.pause();
    // More than the system keeps for a connection.
    socket.write(load.repeat(30));
    return socket;
  });
  const ask = (token: string): Promise<number> =>
    catalog.rest('GET', '/v1/catalogs', { token }).then(({ status }) => status);
  await expect.poll(() => ask(catalog.token), { timeout: patience(20_000) }).toBe(429);
  expect(errorOf(await catalog.rest('GET', NS)).slice(0, 2)).toEqual([429, 'TooManyRequestsException']);
  expect(await ask(other)).toBe(200);
  for (const socket of sockets) socket.destroy();
  await expect.poll(() => ask(catalog.token), { timeout: patience(20_000) }).toBe(200);
});

test('bytes that are no HTTP, or have too long a head, are refused in the error envelope, too', async () => {
  const errors = [
    await exchange('GARBAGE'),
    await exchange('GET /v1/config', { more: `X-A: ${'a'.repeat(20_000)}\r\n` }),
  ];
  const [heads, bodies] = [0, 1].map((part) => errors.map((text) => text.split('\r\n\r\n')[part] ?? ''));
  expect(heads?.map((head) => head.slice(0, 12))).toEqual(['HTTP/1.1 400', 'HTTP/1.1 431']);
  const types = bodies?.map((body) => (JSON.parse(body) as { error: { type: string; code: number } }).error);
  expect(types).toMatchObject([
    { type: 'BadRequestException', code: 400 },
    { type: 'BadRequestException', code: 431 },
  ]);
});

describe('browsers', () => {
  const options = (origin: string, headers: Record<string, string> = {}): Promise<RestAnswer> =>
    catalog.rest('OPTIONS', TABLES, { headers: { origin, 'access-control-request-method': 'POST', ...headers } });

  test('of an allowed origin may ask, send what they need, and read the ETag', async () => {
    const preflight = await options(ORIGIN, {
      'access-control-request-headers': 'authorization,content-type,idempotency-key',
    });
    expect(preflight.status).toBe(204);
    expect(preflight.headers.get('access-control-allow-origin')).toBe(ORIGIN);
    expect(preflight.headers.get('access-control-allow-headers')).toBe('authorization,content-type,idempotency-key');
    expect(preflight.headers.get('access-control-allow-methods')).toContain('DELETE');
    const answer = await catalog.rest('GET', TABLES, { headers: { origin: ORIGIN } });
    expect(answer.headers.get('access-control-allow-origin')).toBe(ORIGIN);
    expect(answer.headers.get('access-control-expose-headers')).toContain('ETag');
    const refused = await catalog.rest('GET', TABLES, { token: null, headers: { origin: ORIGIN } });
    expect([refused.status, refused.headers.get('access-control-allow-origin')]).toEqual([401, ORIGIN]);
    expect(
      (await catalog.rest('GET', '/v1/nothing', { headers: { origin: ORIGIN } })).headers.get(
        'access-control-allow-origin',
      ),
    ).toBe(ORIGIN);
  });

  test('of any other origin get nothing', async () => {
    const preflight = await options('https://evil.example.com');
    expect(preflight.headers.get('access-control-allow-origin')).toBeNull();
    expect(preflight.headers.get('access-control-allow-methods')).toBeNull();
    const answer = await catalog.rest('GET', TABLES, { headers: { origin: 'https://app.example.com.evil.com' } });
    expect(answer.headers.get('access-control-allow-origin')).toBeNull();
    expect((await catalog.rest('GET', TABLES)).headers.get('access-control-allow-origin')).toBeNull();
  });
});
