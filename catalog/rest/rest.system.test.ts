import { access, rename, rm, writeFile } from 'node:fs/promises';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { SCOPES } from '#shared/token-claims.ts';
import { must } from '#shared/must.ts';
import type { Json, JsonObject } from '#shared/json.ts';
import { localPath } from '#shared/storage/location.ts';
import { startTestCatalog, type RestAnswer, type TestCatalog } from '#test/support/catalog.ts';
import { ADVERTISED_ENDPOINTS, OPERATIONS } from './operations.ts';

let catalog: TestCatalog;
beforeAll(async () => {
  catalog = await startTestCatalog();
});
afterAll(() => catalog[Symbol.asyncDispose]());

const NS = '/v1/lake/namespaces';
const SCHEMA = { type: 'struct', fields: [{ id: 1, name: 'a', required: false, type: 'long' }] };

const get = (path: string, headers: Record<string, string> = {}): Promise<RestAnswer> =>
  catalog.rest('GET', path, { headers });
const post = (path: string, body: unknown): Promise<RestAnswer> => catalog.rest('POST', path, { body });
const createTable = (name: string, more: object = {}): Promise<RestAnswer> =>
  post(`${NS}/default/tables`, { name, schema: SCHEMA, ...more });
const errorOf = ({ status, body }: RestAnswer): [number, string, string] => {
  const { code, type, message } = body['error'] as { code: number; type: string; message: string };
  expect(code).toBe(status);
  return [status, type, message];
};
const metadataOf = ({ body }: RestAnswer): JsonObject => body['metadata'] as JsonObject;
const locationOf = (answer: RestAnswer): string => metadataOf(answer)['location'] as string;
const snapshot = (location: string, id: Json, parent?: Json, sequence = 1): object => ({
  action: 'add-snapshot',
  snapshot: {
    'snapshot-id': id,
    ...(parent === undefined ? {} : { 'parent-snapshot-id': parent }),
    'sequence-number': sequence,
    'timestamp-ms': Date.now(),
    'manifest-list': `${location}/metadata/snap.avro`,
    summary: { operation: 'append' },
  },
});
const setMain = (id: Json): object => ({
  action: 'set-snapshot-ref',
  'ref-name': 'main',
  type: 'branch',
  'snapshot-id': id,
});

describe('configuration', () => {
  test('names the prefix and exactly what is served, without a token', async () => {
    const { status, body } = await catalog.rest('GET', '/v1/config', { token: null });
    expect(status).toBe(200);
    expect(body).toEqual({
      defaults: { prefix: 'lake' },
      overrides: { prefix: 'lake' },
      endpoints: ADVERTISED_ENDPOINTS,
    });
    for (const endpoint of ADVERTISED_ENDPOINTS) {
      const [method = '', template = ''] = endpoint.split(' ');
      const answer = await catalog.rest(
        method,
        template.replace('{prefix}', 'lake').replaceAll(/\{[a-z-]+\}/g, 'none'),
        method === 'POST' ? { body: {} } : {},
      );
      if (answer.status === 404 && method !== 'HEAD')
        expect(errorOf(answer)[1], endpoint).not.toBe('NotFoundException');
    }
    const served = OPERATIONS.map(({ endpoint }) => endpoint).filter((endpoint) => endpoint.includes('{prefix}'));
    expect(served).toEqual(ADVERTISED_ENDPOINTS);
  });

  test('of a named catalog; an unknown one is 404', async () => {
    expect((await get('/v1/config?warehouse=lake')).body).toMatchObject({ overrides: { prefix: 'lake' } });
    expect(errorOf(await get('/v1/config?warehouse=none')).slice(0, 2)).toEqual([404, 'NoSuchWarehouseException']);
  });
});

describe('tokens and scopes', () => {
  test.each([null, '', 'abc', 'eyJhbGciOiJub25lIn0.e30.'])('the token %j is refused', async (token) => {
    const answer = await catalog.rest('GET', NS, { token });
    expect(errorOf(answer).slice(0, 2)).toEqual([401, 'NotAuthorizedException']);
    expect(answer.headers.get('www-authenticate')).toBe('Bearer');
  });

  test('a token with another key, or changed claims, is refused', async () => {
    const [header, payload = '', signature] = catalog.token.split('.');
    const claims = JSON.parse(Buffer.from(payload, 'base64url').toString()) as object;
    const forged = Buffer.from(JSON.stringify({ ...claims, tenant: 'other' })).toString('base64url');
    expect((await catalog.rest('GET', NS, { token: `${header}.${forged}.${signature}` })).status).toBe(401);
  });

  test('every operation needs exactly its scope', async () => {
    for (const operation of OPERATIONS.filter(({ scope }) => scope !== null)) {
      const scope = must(operation.scope, 'filtered');
      const [method = '', template = ''] = operation.endpoint.split(' ');
      const path = template.replace('{prefix}', 'lake').replaceAll(/\{[a-z-]+\}/g, 'none');
      const others = Object.keys(SCOPES).filter((other) => other !== scope);
      const without = await catalog.rest(method, path, { token: await catalog.mint({ scope: others }) });
      expect(without.status, operation.id).toBe(403);
      const only = await catalog.rest(method, path, { token: await catalog.mint({ scope: [scope] }) });
      expect([400, 404, 200], operation.id).toContain(only.status);
    }
  });

  test('no grant is served at the token endpoint, and it says so as RFC 6749 has it', async () => {
    const answer = await catalog.rest('POST', '/v1/oauth/tokens', {
      raw: 'grant_type=client_credentials&scope=catalog',
      token: null,
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
    });
    expect([answer.status, answer.body['error']]).toEqual([400, 'unsupported_grant_type']);
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
    expect((await get(`${NS}/life`)).body).toEqual({ namespace: ['life'], properties: { p: '1' } });
    expect((await catalog.rest('HEAD', `${NS}/life`)).status).toBe(204);
    expect((await catalog.rest('DELETE', `${NS}/life`)).status).toBe(204);
    expect((await catalog.rest('HEAD', `${NS}/life`)).status).toBe(404);
    for (const answer of [
      await get(`${NS}/life`),
      await catalog.rest('DELETE', `${NS}/life`),
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
    expect(errorOf(await catalog.rest('DELETE', `${NS}/n%1Fm`))).toEqual([
      409,
      'NamespaceNotEmptyException',
      'Namespace n.m is not empty.',
    ]);
    await post(`${NS}/n%1Fm%1Fo/tables`, { name: 't', schema: SCHEMA });
    expect((await catalog.rest('DELETE', `${NS}/n%1Fm%1Fo`)).status).toBe(409);
  });

  test('properties are set and removed; a key in both lists is 422', async () => {
    await post(NS, { namespace: ['props'], properties: { a: '1', b: '2' } });
    const path = `${NS}/props/properties`;
    expect((await post(path, { removals: ['a', 'x'], updates: { c: '3' } })).body).toEqual({
      updated: ['c'],
      removed: ['a'],
      missing: ['x'],
    });
    expect((await get(`${NS}/props`)).body['properties']).toEqual({ b: '2', c: '3' });
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
    expect((await get(`${NS}/${encoded}`)).body).toEqual({
      namespace: [name],
      properties: JSON.parse(`{${JSON.stringify(name)}: "v"}`),
    });
    const created = await post(`${NS}/${encoded}/tables`, { name, schema: SCHEMA });
    expect(created.status).toBe(200);
    expect(locationOf(created)).toMatch(/^file:\/\/[\w./-]+$/);
    expect((await get(`${NS}/${encoded}/tables/${encoded}`)).status).toBe(200);
    expect((await catalog.rest('DELETE', `${NS}/${encoded}/tables/${encoded}`)).status).toBe(204);
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
    expect((await catalog.rest('HEAD', `${NS}/default/tables/life`)).status).toBe(204);
    expect((await catalog.rest('DELETE', `${NS}/default/tables/life?purgeRequested=false`)).status).toBe(204);
    expect(errorOf(await get(`${NS}/default/tables/life`))).toEqual([
      404,
      'NoSuchTableException',
      'Table does not exist: default.life',
    ]);
    expect((await catalog.rest('HEAD', `${NS}/default/tables/life`)).status).toBe(404);
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
  });

  test('a purge is answered honestly: the files stay', async () => {
    const created = await createTable('purged');
    const answer = await catalog.rest('DELETE', `${NS}/default/tables/purged?purgeRequested=true`);
    expect([answer.status, answer.headers.get('x-skein-purged')]).toEqual([204, 'false']);
    await access(localPath(created.body['metadata-location'] as string));
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
    const root = `file://${catalog.dataDir}/warehouse`;
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
    expect(errorOf(await post(path, commit)).slice(0, 2)).toEqual([503, 'ServiceUnavailableException']);
    await rm(folder);
    await rename(`${folder}.moved`, folder);
    expect((await get(path)).body).toEqual(created.body);
    expect((await post(path, commit)).status).toBe(200);
  });

  test('a commit to a table that does not exist is 404', async () => {
    expect(errorOf(await post(`${NS}/default/tables/none`, { updates: [] }))[1]).toBe('NoSuchTableException');
  });
});

describe('renames', () => {
  const renameTable = (source: string[], destination: string[]): Promise<RestAnswer> => {
    const ident = (parts: string[]): object => ({ namespace: parts.slice(0, -1), name: parts.at(-1) });
    return post('/v1/lake/tables/rename', { source: ident(source), destination: ident(destination) });
  };

  test('keep the table, also in another namespace', async () => {
    await post(NS, { namespace: ['target'] });
    const created = await createTable('before');
    expect((await renameTable(['default', 'before'], ['target', 'after'])).status).toBe(204);
    expect((await get(`${NS}/target/tables/after`)).body).toEqual(created.body);
    expect((await get(`${NS}/default/tables/before`)).status).toBe(404);
    expect(locationOf(await createTable('before'))).not.toBe(locationOf(created));
  });

  test('need a source, a namespace and a free name', async () => {
    await createTable('r1');
    await createTable('r2');
    expect(errorOf(await renameTable(['default', 'none'], ['default', 'r3']))).toEqual([
      404,
      'NoSuchTableException',
      'Table does not exist: default.none',
    ]);
    expect(errorOf(await renameTable(['default', 'r1'], ['nowhere', 'r3']))[1]).toBe('NoSuchNamespaceException');
    expect(errorOf(await renameTable(['default', 'r1'], ['default', 'r2']))).toEqual([
      409,
      'AlreadyExistsException',
      'Table already exists: default.r2',
    ]);
    expect(errorOf(await post('/v1/lake/tables/rename', { source: 'x' }))[0]).toBe(400);
  });
});

describe('registrations', () => {
  const register = (body: object): Promise<RestAnswer> => post(`${NS}/default/register`, body);

  test('bring a dropped table back as it was', async () => {
    const created = await createTable('reg');
    const file = created.body['metadata-location'];
    expect(errorOf(await register({ name: 'reg', 'metadata-location': file }))).toEqual([
      409,
      'AlreadyExistsException',
      'Table already exists: default.reg',
    ]);
    expect((await register({ name: 'reg2', 'metadata-location': file })).status, 'its location is taken').toBe(400);
    await catalog.rest('DELETE', `${NS}/default/tables/reg`);
    const registered = await register({ name: 'reg2', 'metadata-location': file });
    expect(registered).toMatchObject({ status: 200, body: created.body });
    expect(
      (await post(`${NS}/default/tables/reg2`, { updates: [{ action: 'set-properties', updates: { a: 'b' } }] }))
        .status,
    ).toBe(200);
    expect((await register({ name: 'reg2', 'metadata-location': file, overwrite: true })).status).toBe(200);
    expect(metadataOf(await get(`${NS}/default/tables/reg2`))['properties']).not.toHaveProperty('a');
  });

  test('of files that are elsewhere, absent or no metadata are refused', async () => {
    const warehouse = `${catalog.dataDir}/warehouse`;
    await writeFile(`${warehouse}/no.metadata.json`, '{"format-version": 2}');
    await writeFile(`${warehouse}/text.metadata.json`, 'text');
    for (const [location, status] of [
      ['file:///etc/passwd', 400],
      [`file://${warehouse}/../secret.json`, 400],
      [`file://${warehouse}/absent.metadata.json`, 404],
      [`file://${warehouse}/no.metadata.json`, 400],
      [`file://${warehouse}/text.metadata.json`, 400],
    ] as const) {
      const answer = await register({ name: 'reg3', 'metadata-location': location });
      expect(errorOf(answer)[0], location).toBe(status);
    }
  });
});

describe('transactions', () => {
  const change = (name: string, updates: object[], requirements: object[] = []): object => ({
    identifier: { namespace: ['default'], name },
    updates,
    requirements,
  });
  const commit = (...changes: object[]): Promise<RestAnswer> =>
    post('/v1/lake/transactions/commit', { 'table-changes': changes });
  const set = (key: string): object => ({ action: 'set-properties', updates: { [key]: 'v' } });
  const properties = async (name: string): Promise<unknown> =>
    metadataOf(await get(`${NS}/default/tables/${name}`))['properties'];

  test('change all tables or none', async () => {
    for (const name of ['x1', 'x2']) await createTable(name);
    expect((await commit(change('x1', [set('a')]), change('x2', [set('a')]))).status).toBe(204);
    for (const name of ['x1', 'x2']) expect(await properties(name)).toMatchObject({ a: 'v' });
    const failing = { type: 'assert-current-schema-id', 'current-schema-id': 9 };
    const answer = await commit(change('x1', [set('b')]), change('x2', [set('b')], [failing]));
    expect(errorOf(answer).slice(0, 2)).toEqual([409, 'CommitFailedException']);
    expect(await properties('x1')).not.toHaveProperty('b');
    expect((await commit(change('x1', [set('c')]), change('none', [set('c')]))).status).toBe(404);
    expect(await properties('x1')).not.toHaveProperty('c');
    expect((await commit(change('x1', [set('d')]), change('x1', [set('e')]))).status).toBe(400);
    expect((await commit()).status).toBe(400);
  });

  test('create tables', async () => {
    const updates = [
      { action: 'add-schema', schema: SCHEMA },
      { action: 'set-current-schema', 'schema-id': -1 },
    ];
    const create = change('x3', updates, [{ type: 'assert-create' }]);
    expect((await commit(change('x1', [set('f')]), create)).status).toBe(204);
    expect(await properties('x3')).toMatchObject({ owner: 'admin' });
    expect((await commit(change('x1', [set('g')]), create)).status).toBe(409);
    expect(await properties('x1')).not.toHaveProperty('g');
  });

  test('that cross each other in any order neither deadlock nor lose an update', async () => {
    const names = ['c1', 'c2', 'c3'];
    for (const name of names) await createTable(name);
    const answers = await Promise.all(
      Array.from({ length: 24 }, (_none, i) => {
        const order = i % 2 === 0 ? names : names.toReversed();
        return commit(...order.map((name) => change(name, [set(`k${i}`)])));
      }),
    );
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([204]));
    for (const name of names) {
      const keys = Object.keys((await properties(name)) as object).filter((key) => /^k\d+$/.test(key));
      expect(keys).toHaveLength(24);
    }
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
    expect(errorOf(await catalog.rest('POST', create, { raw }))[0]).toBe(400);
  });

  test('unknown routes and methods are 404, bad escapes 400, with the envelope', async () => {
    expect(errorOf(await get('/v1/nothing/here'))[1]).toBe('NotFoundException');
    expect(errorOf(await catalog.rest('PUT', NS))[1]).toBe('NotFoundException');
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
    expect((await catalog.rest('POST', create, { raw, headers: gzip })).status).toBe(200);
    const bomb = gzipSync(Buffer.alloc(catalog.config['catalog.body_bytes_max'] + 1, ' '));
    expect(errorOf(await catalog.rest('POST', create, { raw: bomb, headers: gzip }))[0]).toBe(413);
    expect(errorOf(await catalog.rest('POST', create, { raw: 'no gzip', headers: gzip }))[0]).toBe(400);
    expect(errorOf(await catalog.rest('POST', create, { raw: 'x', headers: { 'content-encoding': 'br' } }))[0]).toBe(
      400,
    );
  });

  test('metrics are for loopback', async () => {
    const { status, body } = await catalog.rest('GET', '/metrics', { token: null });
    expect(status).toBe(200);
    expect(body['text']).toContain('skein_catalog_request_seconds_count{operation="createTable",status="200"}');
  });
});
