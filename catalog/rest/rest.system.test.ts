import { access, rename, rm, writeFile } from 'node:fs/promises';
import { gzipSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { must } from '#shared/must.ts';
import type { Json, JsonObject } from '#shared/json.ts';
import { localPath } from '#shared/storage/location.ts';
import { startTestCatalog, type RestAnswer } from '#test/support/catalog.ts';
import { capabilitiesOf } from './capabilities.ts';
import { ADVERTISED_ENDPOINTS, OPERATIONS } from './operations.ts';
import { errorOf, locationOf, metadataOf, NS, SCHEMA, setMain, snapshot } from '#test/support/catalog-requests.ts';
import { createTable, get, post, testCatalog } from '#test/support/catalog-rest.ts';

/** Endpoints of the Iceberg specification that the service must keep, in the specification's templates. */
const ICEBERG_ENDPOINTS = [
  'GET /v1/{prefix}/namespaces',
  'POST /v1/{prefix}/namespaces',
  'GET /v1/{prefix}/namespaces/{namespace}',
  'HEAD /v1/{prefix}/namespaces/{namespace}',
  'DELETE /v1/{prefix}/namespaces/{namespace}',
  'POST /v1/{prefix}/namespaces/{namespace}/properties',
  'GET /v1/{prefix}/namespaces/{namespace}/tables',
  'POST /v1/{prefix}/namespaces/{namespace}/tables',
  'POST /v1/{prefix}/namespaces/{namespace}/register',
  'GET /v1/{prefix}/namespaces/{namespace}/tables/{table}',
  'POST /v1/{prefix}/namespaces/{namespace}/tables/{table}',
  'DELETE /v1/{prefix}/namespaces/{namespace}/tables/{table}',
  'HEAD /v1/{prefix}/namespaces/{namespace}/tables/{table}',
  'POST /v1/{prefix}/namespaces/{namespace}/tables/{table}/unregister',
  'POST /v1/{prefix}/tables/rename',
  'POST /v1/{prefix}/transactions/commit',
  'GET /v1/{prefix}/namespaces/{namespace}/views',
  'POST /v1/{prefix}/namespaces/{namespace}/views',
  'GET /v1/{prefix}/namespaces/{namespace}/views/{view}',
  'POST /v1/{prefix}/namespaces/{namespace}/views/{view}',
  'DELETE /v1/{prefix}/namespaces/{namespace}/views/{view}',
  'HEAD /v1/{prefix}/namespaces/{namespace}/views/{view}',
  'POST /v1/{prefix}/views/rename',
  'POST /v1/{prefix}/namespaces/{namespace}/register-view',
  'POST /v1/transactions/commit',
  'GET /v1/catalogs',
  'POST /v1/catalogs',
  'GET /v1/catalogs/{catalog}',
  'DELETE /v1/catalogs/{catalog}',
];

describe('configuration', () => {
  test('names the prefix and exactly what is served, without a token', async () => {
    const { status, body } = await testCatalog().rest('GET', '/v1/config', { token: null });
    expect(status).toBe(200);
    expect(body).toEqual({
      defaults: { prefix: 'lake' },
      overrides: { prefix: 'lake' },
      endpoints: ADVERTISED_ENDPOINTS,
      capabilities: capabilitiesOf(ADVERTISED_ENDPOINTS),
      'idempotency-key-lifetime': 'PT1800S',
    });
    for (const endpoint of ADVERTISED_ENDPOINTS) {
      const [method = '', template = ''] = endpoint.split(' ');
      const answer = await testCatalog().rest(
        method,
        template.replace('{prefix}', 'lake').replaceAll(/\{[a-z-]+\}/g, 'none'),
        method === 'POST' ? { body: {} } : {},
      );
      if (answer.status === 404 && method !== 'HEAD')
        expect(errorOf(answer)[1], endpoint).not.toBe('NotFoundException');
    }
    const served = OPERATIONS.map(({ endpoint }) => endpoint).filter((endpoint) => endpoint.includes(' /v1/'));
    expect(served).toEqual(ADVERTISED_ENDPOINTS);
    expect(ADVERTISED_ENDPOINTS).toEqual(expect.arrayContaining(ICEBERG_ENDPOINTS));
  });

  test('of a named catalog; an unknown one is 404', async () => {
    expect((await get('/v1/config?warehouse=lake')).body).toMatchObject({ overrides: { prefix: 'lake' } });
    expect(errorOf(await get('/v1/config?warehouse=none')).slice(0, 2)).toEqual([404, 'NoSuchWarehouseException']);
  });
});

describe('tokens and scopes', () => {
  test.each([null, '', 'abc', 'eyJhbGciOiJub25lIn0.e30.'])('the token %j is refused', async (token) => {
    const answer = await testCatalog().rest('GET', NS, { token });
    expect(errorOf(answer).slice(0, 2)).toEqual([401, 'NotAuthorizedException']);
    expect(answer.headers.get('www-authenticate')).toBe('Bearer');
  });

  test('a token with another key, or changed claims, is refused', async () => {
    const [header, payload = '', signature] = testCatalog().token.split('.');
    const claims = JSON.parse(Buffer.from(payload, 'base64url').toString()) as object;
    const forged = Buffer.from(JSON.stringify({ ...claims, tenant: 'other' })).toString('base64url');
    expect((await testCatalog().rest('GET', NS, { token: `${header}.${forged}.${signature}` })).status).toBe(401);
  });
});

describe('namespaces', () => {
  test('live from create to drop', async () => {
    expect(await post(NS, { namespace: ['life'], properties: { p: '1' } })).toMatchObject({
      status: 200,
      body: { namespace: ['life'], properties: { p: '1' } },
    });
    expect(errorOf(await post(NS, { namespace: ['life'] }))).toEqual([
      409,
      'AlreadyExistsException',
      'Namespace already exists: life',
    ]);
    const { body } = await get(`${NS}/life`);
    expect(body).toEqual({
      namespace: ['life'],
      properties: { p: '1', location: expect.stringMatching(/^file:.*\/life$/) },
    });
    expect((await testCatalog().rest('HEAD', `${NS}/life`)).status).toBe(204);
    expect((await testCatalog().rest('DELETE', `${NS}/life`)).status).toBe(204);
    expect((await testCatalog().rest('HEAD', `${NS}/life`)).status).toBe(404);
    for (const answer of [
      await get(`${NS}/life`),
      await testCatalog().rest('DELETE', `${NS}/life`),
      await get(`${NS}/life/tables`),
    ]) {
      expect(errorOf(answer)).toEqual([404, 'NoSuchNamespaceException', 'Namespace does not exist: life']);
    }
  });

  test('nest; one that holds something cannot be dropped', async () => {
    expect(errorOf(await post(NS, { namespace: ['n', 'm'] }))[1]).toBe('NoSuchNamespaceException');
    for (const namespace of [['n'], ['n', 'm'], ['n', 'm', 'o']]) await post(NS, { namespace });
    expect((await get(NS)).body['namespaces']).toContainEqual(['n']);
    expect((await get(NS)).body['namespaces']).not.toContainEqual(['n', 'm']);
    expect((await get(`${NS}?parent=n%1Fm`)).body['namespaces']).toEqual([['n', 'm', 'o']]);
    expect((await get(`${NS}/n%1Fm%1Fo`)).body['namespace']).toEqual(['n', 'm', 'o']);
    expect(errorOf(await get(`${NS}?parent=none`))[1]).toBe('NoSuchNamespaceException');
    expect(errorOf(await testCatalog().rest('DELETE', `${NS}/n%1Fm`))).toEqual([
      409,
      'NamespaceNotEmptyException',
      'Namespace n.m is not empty.',
    ]);
    await post(`${NS}/n%1Fm%1Fo/tables`, { name: 't', schema: SCHEMA });
    expect((await testCatalog().rest('DELETE', `${NS}/n%1Fm%1Fo`)).status).toBe(409);
  });

  test('properties are set and removed; a key in both lists is 422', async () => {
    await post(NS, { namespace: ['props'], properties: { a: '1', b: '2' } });
    const path = `${NS}/props/properties`;
    expect((await post(path, { removals: ['a', 'x'], updates: { c: '3' } })).body).toEqual({
      updated: ['c'],
      removed: ['a'],
      missing: ['x'],
    });
    expect((await get(`${NS}/props`)).body['properties']).toEqual({ b: '2', c: '3', location: expect.any(String) });
    expect(errorOf(await post(path, { removals: ['b'], updates: { b: '9' } })).slice(0, 2)).toEqual([
      422,
      'UnprocessableEntityException',
    ]);
    expect(errorOf(await post(`${NS}/none/properties`, { updates: { b: '9' } }))[0]).toBe(404);
  });

  test('lists are whole, or come in pages', async () => {
    await post(NS, { namespace: ['pages'] });
    const names = ['a', 'b', 'c', 'd', 'e'];
    for (const name of names) await post(NS, { namespace: ['pages', name] });
    expect((await get(`${NS}?parent=pages`)).body).toEqual({
      namespaces: names.map((name) => ['pages', name]),
      'next-page-token': null,
    });
    const seen: Json[] = [];
    let token: string | null = '';
    while (token !== null) {
      const { body }: RestAnswer = await get(`${NS}?parent=pages&pageSize=2&pageToken=${token}`);
      seen.push(...(body['namespaces'] as Json[]));
      token = body['next-page-token'] as string | null;
    }
    expect(seen).toEqual(names.map((name) => ['pages', name]));
    for (const query of ['pageToken=zzz', 'pageToken=&pageSize=0', 'pageToken=&pageSize=x', 'pageToken=&pageToken=']) {
      expect((await get(`${NS}?${query}`)).status, query).toBe(400);
    }
  });

  test.each([
    'with space',
    'dot.ted',
    'sla/sh',
    'per%cent',
    '"quo\'ted"',
    'ünïcode 🦆',
    '..',
    '+plus&amp=?#',
    'constructor',
    '__proto__',
  ])('the name %j makes the round trip, for namespaces and tables', async (name) => {
    const encoded = encodeURIComponent(name).replaceAll('.', '%2E');
    // A URL parser takes %2E%2E for "..": no client can say that name in a path.
    const reachable = name !== '..';
    expect(
      (await post(NS, { namespace: [name], properties: JSON.parse(`{${JSON.stringify(name)}: "v"}`) })).status,
    ).toBe(200);
    expect((await get(NS)).body['namespaces']).toContainEqual([name]);
    if (!reachable) return;
    const { properties, namespace } = (await get(`${NS}/${encoded}`)).body;
    expect(namespace).toEqual([name]);
    expect(Object.entries(properties as JsonObject)).toContainEqual([name, 'v']);
    const created = await post(`${NS}/${encoded}/tables`, { name, schema: SCHEMA });
    expect(created.status).toBe(200);
    expect(locationOf(created)).toMatch(/^file:\/\/[\w./-]+$/);
    expect((await get(`${NS}/${encoded}/tables/${encoded}`)).status).toBe(200);
    expect((await testCatalog().rest('DELETE', `${NS}/${encoded}/tables/${encoded}`)).status).toBe(204);
  });

  test('a space may come as a plus, as the Java client writes it', async () => {
    await post(NS, { namespace: ['a b'] });
    expect((await get(`${NS}/a+b`)).status).toBe(200);
  });
});

describe('tables', () => {
  test('live from create to drop', async () => {
    const created = await createTable('life', { properties: { p: '1' } });
    expect(created).toMatchObject({ status: 200, body: { config: {} } });
    const file = created.body['metadata-location'] as string;
    await access(localPath(file));
    expect(metadataOf(created)['properties']).toMatchObject({ p: '1', owner: 'admin' });
    expect(errorOf(await createTable('life'))).toEqual([
      409,
      'AlreadyExistsException',
      'Table already exists: default.life',
    ]);
    const loaded = await get(`${NS}/default/tables/life`);
    expect(loaded.body).toEqual(created.body);
    expect((await get(`${NS}/default/tables`)).body['identifiers']).toContainEqual({
      namespace: ['default'],
      name: 'life',
    });
    expect((await testCatalog().rest('HEAD', `${NS}/default/tables/life`)).status).toBe(204);
    expect((await testCatalog().rest('DELETE', `${NS}/default/tables/life?purgeRequested=false`)).status).toBe(204);
    expect(errorOf(await get(`${NS}/default/tables/life`))).toEqual([
      404,
      'NoSuchTableException',
      'Table does not exist: default.life',
    ]);
    expect((await testCatalog().rest('HEAD', `${NS}/default/tables/life`)).status).toBe(404);
    await access(localPath(file));
    const again = await createTable('life');
    expect(locationOf(again)).not.toBe(locationOf(created));
  });

  test('in a namespace that does not exist: 404', async () => {
    expect(errorOf(await post(`${NS}/none/tables`, { name: 't', schema: SCHEMA }))).toEqual([
      404,
      'NoSuchNamespaceException',
      'Namespace does not exist: none',
    ]);
    // Java's client asks for `ns.table`/`snapshots` first, and goes on to the table only after this type.
    expect(errorOf(await get(`${NS}/none/tables/t`))).toEqual([
      404,
      'NoSuchTableException',
      'Table does not exist: none.t',
    ]);
  });

  test('etags spare a load, and differ by snapshots mode', async () => {
    const created = await createTable('etag');
    const path = `${NS}/default/tables/etag`;
    const etag = must(created.headers.get('etag'), 'created with an etag');
    expect(etag).toMatch(/^"[\w-]+"$/);
    const same = await get(path, { 'if-none-match': etag });
    expect([same.status, same.body['text']]).toEqual([304, '']);
    expect((await get(`${path}?snapshots=refs`, { 'if-none-match': etag })).status).toBe(200);
    await post(path, { updates: [{ action: 'set-properties', updates: { x: 'y' } }] });
    expect((await get(path, { 'if-none-match': etag })).status).toBe(200);
  });

  test('snapshots=refs leaves out what no reference points to', async () => {
    const location = locationOf(await createTable('refs'));
    const path = `${NS}/default/tables/refs`;
    const ids = [9_007_199_254_740_993n, 9_007_199_254_740_995n];
    await post(path, { updates: [snapshot(location, ids[0] ?? 0), setMain(ids[0] ?? 0)] });
    await post(path, { updates: [snapshot(location, ids[1] ?? 0, ids[0], 2), setMain(ids[1] ?? 0)] });
    const idsIn = (answer: RestAnswer): Json[] =>
      (metadataOf(answer)['snapshots'] as JsonObject[]).map((entry) => entry['snapshot-id'] ?? null);
    expect(idsIn(await get(path))).toEqual(ids);
    expect(idsIn(await get(`${path}?snapshots=refs`))).toEqual([ids[1]]);
    expect(errorOf(await get(`${path}?snapshots=some`))[0]).toBe(400);
  });

  test('a lost metadata file is 404 NotFoundException, as Iceberg tests it', async () => {
    const file = (await createTable('lost')).body['metadata-location'] as string;
    await rm(localPath(file));
    expect(errorOf(await get(`${NS}/default/tables/lost`))).toEqual([
      404,
      'NotFoundException',
      `Failed to open input stream for file: ${file}`,
    ]);
  });

  test('a staged create makes nothing; its commit creates the table', async () => {
    const staged = await createTable('staged', { 'stage-create': true });
    expect(staged.body).not.toHaveProperty('metadata-location');
    await access(`${localPath(locationOf(staged))}/metadata`);
    expect((await get(`${NS}/default/tables/staged`)).status).toBe(404);
    const commit = {
      requirements: [{ type: 'assert-create' }],
      updates: [
        { action: 'assign-uuid', uuid: metadataOf(staged)['table-uuid'] },
        { action: 'upgrade-format-version', 'format-version': 2 },
        { action: 'add-schema', schema: SCHEMA, 'last-column-id': 1 },
        { action: 'set-current-schema', 'schema-id': -1 },
        { action: 'add-spec', spec: { 'spec-id': 0, fields: [] } },
        { action: 'set-default-spec', 'spec-id': -1 },
        { action: 'add-sort-order', 'sort-order': { 'order-id': 0, fields: [] } },
        { action: 'set-default-sort-order', 'sort-order-id': -1 },
        { action: 'set-location', location: locationOf(staged) },
        { action: 'set-properties', updates: {} },
      ],
    };
    const created = await post(`${NS}/default/tables/staged`, commit);
    expect(created.status).toBe(200);
    expect(metadataOf(created)).toMatchObject({
      'table-uuid': must(metadataOf(staged)['table-uuid'], 'staged'),
      properties: { owner: 'admin' },
    });
    expect(errorOf(await post(`${NS}/default/tables/staged`, commit))).toEqual([
      409,
      'CommitFailedException',
      'Requirement failed: table already exists',
    ]);
  });

  test('locations: inside of the root, and of no other table', async () => {
    const root = `file://${testCatalog().dataDir}/warehouse`;
    expect((await createTable('loc1', { location: `${root}/chosen/one` })).status).toBe(200);
    for (const location of [
      root,
      `${root}/../elsewhere`,
      'file:///etc',
      's3://bucket/x',
      `${root}/chosen`,
      `${root}/chosen/one`,
      `${root}/chosen/one/`,
      `${root}/chosen/one/two`,
      `${root}/chosen/./one`,
    ]) {
      const answer = await createTable('loc2', { location });
      expect(errorOf(answer).slice(0, 2), location).toEqual([400, 'BadRequestException']);
    }
    expect((await createTable('loc2', { location: `${root}/chosen/one2` })).status).toBe(200);
    const move = (location: string): Promise<RestAnswer> =>
      post(`${NS}/default/tables/loc2`, { updates: [{ action: 'set-location', location }] });
    expect((await move(`${root}/chosen/one`)).status).toBe(400);
    expect((await move('file:///etc')).status).toBe(400);
    expect((await move(`${root}/chosen/one3`)).status).toBe(200);
    const outside = { 'write.data.path': 'file:///tmp/outside' };
    expect((await createTable('loc3', { properties: outside })).status).toBe(400);
    const foreign = snapshot('file:///etc', 1);
    expect((await post(`${NS}/default/tables/loc2`, { updates: [foreign] })).status).toBe(400);
  });

  test('of 50 creates of one name at once, one succeeds', async () => {
    const answers = await Promise.all(Array.from({ length: 50 }, () => createTable('race')));
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
    expect(answers.filter(({ status }) => status === 409)).toHaveLength(49);
  });

  test('16 writers that append at once all succeed, and no snapshot is lost', async () => {
    const location = locationOf(await createTable('writers'));
    const path = `${NS}/default/tables/writers`;
    const append = async (writer: number): Promise<number> => {
      for (let attempt = 1; attempt < 100; attempt += 1) {
        const metadata = metadataOf(await get(path));
        const current = metadata['current-snapshot-id'] as number;
        const sequence = Number(metadata['last-sequence-number']) + 1;
        const answer = await post(path, {
          requirements: [
            { type: 'assert-ref-snapshot-id', ref: 'main', 'snapshot-id': current === -1 ? null : current },
          ],
          updates: [snapshot(location, writer, current === -1 ? undefined : current, sequence), setMain(writer)],
        });
        if (answer.status === 200) return attempt;
        expect(errorOf(answer).slice(0, 2)).toEqual([409, 'CommitFailedException']);
      }
      throw new Error('never succeeded');
    };
    await Promise.all(Array.from({ length: 16 }, (_none, i) => append(i + 1)));
    const metadata = metadataOf(await get(path));
    expect(metadata['snapshots']).toHaveLength(16);
    expect(metadata['snapshot-log']).toHaveLength(16);
    expect(metadata['last-sequence-number']).toBe(16);
  });

  test('commits that do not exclude each other all succeed without the client trying again', async () => {
    await createTable('properties');
    const path = `${NS}/default/tables/properties`;
    const answers = await Promise.all(
      Array.from({ length: 30 }, (_none, i) =>
        post(path, { updates: [{ action: 'set-properties', updates: { [`k${i}`]: 'v' } }] }),
      ),
    );
    expect(answers.map(({ status }) => status)).toEqual(Array.from({ length: 30 }, () => 200));
    const properties = metadataOf(await get(path))['properties'] as object;
    expect(Object.keys(properties).filter((key) => /^k\d+$/.test(key))).toHaveLength(30);
  });

  test('a metadata file that cannot be written fails the commit, and the table stays as it was', async () => {
    const created = await createTable('unwritable');
    const folder = `${localPath(locationOf(created))}/metadata`;
    await rename(folder, `${folder}.moved`);
    await writeFile(folder, 'in the way');
    const path = `${NS}/default/tables/unwritable`;
    const commit = { updates: [{ action: 'set-properties', updates: { a: 'b' } }] };
    expect(errorOf(await post(path, commit)).slice(0, 2)).toEqual([409, 'CommitFailedException']);
    await rm(folder);
    await rename(`${folder}.moved`, folder);
    expect((await get(path)).body).toEqual(created.body);
    expect((await post(path, commit)).status).toBe(200);
  });

  test('a commit to a table that does not exist is 404', async () => {
    expect(errorOf(await post(`${NS}/default/tables/none`, { updates: [] }))[1]).toBe('NoSuchTableException');
  });
});

describe('hostile requests', () => {
  const create = `${NS}/default/tables`;

  test.each([
    ['malformed JSON', '{"name": '],
    ['an array', '[]'],
    ['a number', '5'],
    ['nothing', ''],
    ['a deep nest', `${'['.repeat(100_000)}${']'.repeat(100_000)}`],
    ['a deep schema', `{"name":"t","schema":${'{"type":"list","element":'.repeat(150)}1${'}'.repeat(150)}}`],
  ])('%s as a body is 400 with the envelope', async (_what, raw) => {
    expect(errorOf(await testCatalog().rest('POST', create, { raw }))[0]).toBe(400);
  });

  test('unknown routes and methods are 404, bad escapes 400, with the envelope', async () => {
    expect(errorOf(await get('/v1/nothing/here'))[1]).toBe('NotFoundException');
    expect(errorOf(await testCatalog().rest('PUT', NS))[1]).toBe('NotFoundException');
    expect(errorOf(await get(`${NS}/%zz`))[0]).toBe(400);
    expect(errorOf(await get(`${NS}/a%00b`))[0]).toBe(400);
    expect(errorOf(await get(`${NS}/${'x'.repeat(2_000)}`))[0]).toBe(400);
  });

  test('characters that Postgres cannot store are 400', async () => {
    expect(errorOf(await get('/v1/config?warehouse=a%00b'))[0]).toBe(400);
    expect(errorOf(await get('/v1/la%00ke/namespaces'))[0]).toBe(400);
    for (const value of ['a\0b', '\uD800']) {
      expect(errorOf(await post(NS, { namespace: ['odd'], properties: { p: value } }))[0]).toBe(400);
    }
    expect((await createTable('odd', { properties: { p: 'a\0b' } })).status).toBe(200);
  });

  test('gzip bodies are read, within the limit that they unpack to', async () => {
    const gzip = { 'content-encoding': 'gzip' };
    const raw = gzipSync(JSON.stringify({ name: 'gzip', schema: SCHEMA }));
    expect((await testCatalog().rest('POST', create, { raw, headers: gzip })).status).toBe(200);
    const bomb = gzipSync(Buffer.alloc(testCatalog().config['catalog.body_bytes_max'] + 1, ' '));
    expect(errorOf(await testCatalog().rest('POST', create, { raw: bomb, headers: gzip }))[0]).toBe(413);
    expect(errorOf(await testCatalog().rest('POST', create, { raw: 'no gzip', headers: gzip }))[0]).toBe(400);
    expect(
      errorOf(await testCatalog().rest('POST', create, { raw: 'x', headers: { 'content-encoding': 'br' } }))[0],
    ).toBe(400);
  });

  test('metrics are for loopback', async () => {
    const { status, body } = await testCatalog().rest('GET', '/metrics', { token: null });
    expect(status).toBe(200);
    expect(body['text']).toContain('skein_catalog_request_seconds_count{operation="createTable",status="200"}');
    for (const name of ['x-forwarded-for', 'forwarded', 'x-real-ip', 'via', 'x-forwarded-host']) {
      const passedOn = { headers: { [name]: 'for=192.0.2.1' } };
      expect((await testCatalog().rest('GET', '/metrics', { token: null, ...passedOn })).status, name).toBe(401);
      expect((await testCatalog().rest('GET', '/metrics', passedOn)).status, name).toBe(200);
    }
  });

  test('with metrics.token, metrics are for who has it, and for users', async () => {
    await using catalog = await startTestCatalog({ 'metrics.token': 'a-token-of-prometheus' });
    const status = async (token: string | null): Promise<number> =>
      (await catalog.rest('GET', '/metrics', { token })).status;
    expect([await status(null), await status('another'), await status('a-token-of-prometheus')]).toEqual([
      401, 401, 200,
    ]);
    expect(await status(catalog.token)).toBe(200);
    // The token is valid for the metrics only.
    expect((await catalog.rest('GET', NS, { token: 'a-token-of-prometheus' })).status).toBe(401);
  });
});
