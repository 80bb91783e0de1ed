import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { errorOf, metadataOf, SCHEMA } from '#test/support/catalog-requests.ts';
import { startTestCatalog, type RestAnswer, type TestCatalog } from '#test/support/catalog.ts';

let catalog: TestCatalog;
beforeAll(async () => {
  catalog = await startTestCatalog();
  await catalog.call('CreateTenant', { name: 'rival', admin_user: 'eve', admin_password: 'a long enough password' });
  await catalog.call('CreateCatalog', { tenant: 'rival', name: 'rival_lake', location: '' });
  // Before the default catalog by name.
  for (const name of ['twin', 'another']) await post('/v1/catalogs', { name });
});
afterAll(() => catalog[Symbol.asyncDispose]());

const post = (path: string, body: unknown): Promise<RestAnswer> => catalog.rest('POST', path, { body });
const commit = (body: object, token?: string): Promise<RestAnswer> =>
  catalog.rest('POST', '/v1/transactions/commit', { body, ...(token === undefined ? {} : { token }) });
const change = (name: string, key: string): object => ({
  identifier: { namespace: ['tx'], name },
  requirements: [],
  updates: [{ action: 'set-properties', updates: { [key]: 'v' } }],
});

describe('POST /v1/transactions/commit without a catalog', () => {
  const uuids = new Map<string, unknown>();
  const path = (of: string): string => `/v1/${of.replace('.', '/namespaces/tx/tables/')}`;
  /** A change of a table that requires the UUID of another one. */
  const requiring = (name: string, key: string, uuid: unknown): object => ({
    ...change(name, key),
    requirements: [{ type: 'assert-table-uuid', uuid }],
  });
  const made = async (prefix: string, name: string): Promise<void> => {
    await post(`/v1/${prefix}/namespaces`, { namespace: ['tx'] });
    const table = await post(`/v1/${prefix}/namespaces/tx/tables`, { name, schema: SCHEMA });
    uuids.set(`${prefix}.${name}`, metadataOf(table)['table-uuid']);
  };
  beforeAll(async () => {
    for (const name of ['named', 'other']) for (const prefix of ['lake', 'twin']) await made(prefix, name);
    await made('twin', 'alone');
  });
  const changed = async (key: string): Promise<readonly string[]> => {
    const all = [...uuids.keys()];
    const having = await Promise.all(
      all.map(async (of) =>
        Object.hasOwn(metadataOf(await catalog.rest('GET', path(of)))['properties'] as object, key),
      ),
    );
    return all.filter((_, i) => having[i]);
  };

  test.each([
    ['the UUID tells which of two tables of one name', [['named', 'twin.named']], ['twin.named']],
    ['also in capitals', [['named', 'twin.named', true]], ['twin.named']],
    [
      'tables of several catalogs',
      [
        ['named', 'twin.named'],
        ['other', 'lake.other'],
      ],
      ['lake.other', 'twin.named'],
    ],
    [
      'a change without UUID goes with the others',
      [
        ['named', 'twin.named'],
        ['other', null],
      ],
      ['twin.named', 'twin.other'],
    ],
    [
      'without any UUID it is the default catalog',
      [
        ['named', null],
        ['other', null],
      ],
      ['lake.named', 'lake.other'],
    ],
  ] as const)('%s', async (what, asked, expected) => {
    const key = what.replaceAll(' ', '_');
    const changes = asked.map(([name, of, isUpper]) => {
      const uuid = String(of === null ? '' : uuids.get(of));
      return of === null ? change(name, key) : requiring(name, key, isUpper === true ? uuid.toUpperCase() : uuid);
    });
    expect((await commit({ 'table-changes': changes })).status).toBe(204);
    expect((await changed(key)).toSorted()).toEqual(expected);
  });

  test('a UUID that no table of the name has is a conflict, one of a table that is nowhere is not found', async () => {
    for (const name of ['named', 'alone']) {
      const refused = await commit({ 'table-changes': [requiring(name, 'never', uuids.get('lake.other'))] });
      expect([refused.status, errorOf(refused)[2]]).toEqual([409, expect.stringContaining('UUID does not match')]);
    }
    expect((await commit({ 'table-changes': [requiring('named', 'never', '.*')] })).status).toBe(409);
    expect((await commit({ 'table-changes': [requiring('absent', 'never', uuids.get('twin.named'))] })).status).toBe(
      404,
    );
    expect((await commit({ 'table-changes': [change('alone', 'never')] })).status).toBe(404);
    expect(await changed('never')).toEqual([]);
  });

  test("another tenant's table is not found by its UUID", async () => {
    const alone = await catalog.mint({ tenant: 'rival', user: 'eve' });
    const stolen = [requiring('named', 'stolen', uuids.get('twin.named'))];
    expect((await commit({ 'table-changes': stolen }, alone)).status).toBe(404);
    expect(await changed('stolen')).toEqual([]);
  });
});
