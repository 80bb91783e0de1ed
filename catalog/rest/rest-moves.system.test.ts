import { writeFile } from 'node:fs/promises';
import { describe, expect, test } from 'vitest';
import { type RestAnswer } from '#test/support/catalog.ts';
import { errorOf, locationOf, metadataOf, NS, SCHEMA } from '#test/support/catalog-requests.ts';
import { createTable, get, post, testCatalog } from '#test/support/catalog-rest.ts';

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

  test('of one name at once, one succeeds, and a drop of it beside them or it', async () => {
    for (let round = 0; round < 6; round += 1) {
      await createTable('wanted');
      const names = Array.from({ length: 8 }, (_, i) => `got_${round}_${i}`);
      const answers = await Promise.all([
        ...names.map((name) => renameTable(['default', 'wanted'], ['default', name])),
        testCatalog().rest('DELETE', `${NS}/default/tables/wanted`),
      ]);
      const statuses = answers.map(({ status }) => status);
      expect(statuses.toSorted((a, b) => a - b)).toEqual([204, ...Array.from({ length: 8 }, () => 404)]);
      const loads = await Promise.all(names.map((name) => get(`${NS}/default/tables/${name}`)));
      expect(loads.map(({ status }) => status)).toEqual(
        statuses.slice(0, -1).map((status) => (status === 204 ? 200 : 404)),
      );
    }
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
    await testCatalog().rest('DELETE', `${NS}/default/tables/reg`);
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
    const warehouse = `${testCatalog().dataDir}/warehouse`;
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
