import { Client as PgClient } from 'pg';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Clock } from '#shared/clock.ts';
import type { JsonObject } from '#shared/json.ts';
import { newUuidV7 } from '#shared/uuid-v7.ts';
import { metadataOf, NS, SCHEMA } from '#test/support/catalog-requests.ts';
import { startTestCatalog, type TestCatalog } from '#test/support/catalog.ts';
import { waitingLocks } from '#test/support/waiting-locks.ts';

let passedMs = 0;
const clock: Clock = { nowMs: () => Date.now() + passedMs, monotonicMs: () => performance.now() };
let catalog: TestCatalog;
beforeAll(async () => {
  catalog = await startTestCatalog({}, clock);
});
afterAll(() => catalog?.[Symbol.asyncDispose]());

const newKey = (): string => newUuidV7(clock.nowMs());
const caller = (): object => ({ principal: catalog.principal() });
const create = async (name: string): Promise<void> => {
  expect((await catalog.rest('POST', `${NS}/default/tables`, { body: { name, schema: SCHEMA } })).status).toBe(200);
};
const change = (name: string, value: string, requirements: readonly object[] = []): object => ({
  identifier: { catalog: 'lake', namespace: ['default'], name },
  requirements,
  updates: [{ action: 'set-properties', updates: { value } }],
});
const commit = (key: string, ...changes: readonly object[]): Promise<object> =>
  catalog.call('CommitTables', {
    ...caller(),
    key,
    transaction: Buffer.from(JSON.stringify({ 'table-changes': changes })),
  });
const abandon = async (key: string): Promise<string> =>
  (await catalog.call<{ outcome: string }>('AbandonCommit', { ...caller(), key })).outcome;
const load = async (name: string): Promise<JsonObject> => {
  const answer = await catalog.rest('GET', `${NS}/default/tables/${name}`);
  expect(answer.status).toBe(200);
  return metadataOf(answer);
};
const valueOf = async (name: string): Promise<unknown> => ((await load(name))['properties'] as JsonObject)['value'];
const logLength = async (name: string): Promise<number> => ((await load(name))['metadata-log'] as object[]).length;

describe('a commit', () => {
  test('changes several tables at once, and creates one, which belongs to the principal', async () => {
    await create('one');
    const creation = {
      identifier: { catalog: 'lake', namespace: ['default'], name: 'made' },
      requirements: [{ type: 'assert-create' }],
      updates: [
        { action: 'add-schema', schema: SCHEMA },
        { action: 'set-current-schema', 'schema-id': -1 },
      ],
    };
    await commit(newKey(), change('one', 'a'), creation);
    expect(await valueOf('one')).toBe('a');
    expect((await load('made'))['properties']).toMatchObject({ owner: 'admin' });
    const refused = commit(newKey(), change('one', 'b'), creation);
    await expect(refused).rejects.toMatchObject({ code: 'COMMIT_CONFLICT' });
    expect(await valueOf('one')).toBe('a');
  });

  test('that is sent again under its key is the same commit; another one under that key is refused', async () => {
    await create('again');
    const key = newKey();
    await commit(key, change('again', 'a'));
    await commit(newKey(), change('again', 'b'));
    await commit(key, change('again', 'a'));
    expect(await valueOf('again')).toBe('b');
    expect(await logLength('again')).toBe(2);
    await expect(commit(key, change('again', 'c'))).rejects.toMatchObject({ code: 'KEY_REUSED' });
    expect(await valueOf('again')).toBe('b');
  });

  test('that came too late stays so under its key', async () => {
    await create('late');
    const key = newKey();
    const late = change('late', 'a', [{ type: 'assert-table-uuid', uuid: '00000000-0000-4000-8000-000000000000' }]);
    for (let i = 0; i < 2; i++) await expect(commit(key, late)).rejects.toMatchObject({ code: 'COMMIT_CONFLICT' });
    expect(await abandon(key)).toBe('NOT_COMMITTED');
  });

  test('that is large is read by a thread, and happens once too', async () => {
    await create('large');
    const key = newKey();
    const updates = Array.from({ length: 2_000 }, (_, i) => ({
      action: 'set-properties',
      updates: { [`p${i}`]: 'x'.repeat(40) },
    }));
    const large = { ...change('large', 'a'), updates };
    for (let i = 0; i < 2; i++) await commit(key, large);
    expect(await logLength('large')).toBe(1);
  });

  test.each([
    ['no table', [], 'INVALID_REQUEST'],
    ['a table twice', [change('one', 'x'), change('one', 'y')], 'INVALID_REQUEST'],
    ['no catalog', [{ ...change('one', 'x'), identifier: { namespace: ['default'], name: 'one' } }], 'INVALID_REQUEST'],
    ['an unknown table', [change('nobody', 'x')], 'TABLE_NOT_FOUND'],
  ])('of %s is refused', async (_what, changes, code) => {
    await expect(commit(newKey(), ...changes)).rejects.toMatchObject({ code });
  });

  test('finds no table of another tenant', async () => {
    await catalog.call('CreateTenant', { name: 'rival', admin_user: 'eve', admin_password: 'a long password' });
    const eve = catalog.principal(await catalog.mint({ tenant: 'rival', user: 'eve' }));
    const call = catalog.call('CommitTables', {
      principal: eve,
      key: newKey(),
      transaction: Buffer.from(JSON.stringify({ 'table-changes': [change('one', 'stolen')] })),
    });
    await expect(call).rejects.toMatchObject({ code: 'CATALOG_NOT_FOUND' });
    expect(await valueOf('one')).toBe('a');
  });
});

describe('an operation of the REST API', () => {
  const runAs = (
    principal: object,
    key: string,
    operation: string,
    name: string,
    more: object = {},
  ): Promise<unknown> =>
    catalog.call('RunOperation', {
      principal,
      key,
      operation,
      params: { prefix: 'lake', namespace: 'default', table: name },
      body: Buffer.from(JSON.stringify({ name, schema: SCHEMA, ...more })),
    });
  const run = (key: string, operation: string, name: string, more: object = {}): Promise<unknown> =>
    runAs(catalog.principal(), key, operation, name, more);

  test('happens once under its key, for the principal that it names', async () => {
    const key = newKey();
    for (let i = 0; i < 2; i++) await run(key, 'createTable', 'made-by-call');
    expect((await load('made-by-call'))['properties']).toMatchObject({ owner: 'admin' });
    await expect(run(key, 'createTable', 'other-by-call')).rejects.toMatchObject({ code: 'KEY_REUSED' });
    const second = newKey();
    for (let i = 0; i < 2; i++) {
      await expect(run(second, 'createTable', 'made-by-call')).rejects.toMatchObject({ code: 'TABLE_EXISTS' });
    }
    await run(newKey(), 'dropTable', 'made-by-call');
    await expect(run(newKey(), 'dropTable', 'made-by-call')).rejects.toMatchObject({ code: 'TABLE_NOT_FOUND' });
  });

  test('keeps the owner and the time that it is given', async () => {
    const properties = { owner: 'ann', 'created-at': '2020-01-01T00:00:00Z' };
    await run(newKey(), 'createTable', 'given', { properties });
    expect((await load('given'))['properties']).toMatchObject({ ...properties, created_at: properties['created-at'] });
  });

  test('needs the scope of its action, a key, and the tenant of the object', async () => {
    const reader = catalog.principal(await catalog.mint({ scope: ['table:read'] }));
    await expect(runAs(reader, newKey(), 'createTable', 'x')).rejects.toMatchObject({ code: 'FORBIDDEN' });
    await expect(run('', 'createTable', 'x')).rejects.toMatchObject({ code: 'INVALID_REQUEST' });
    await expect(run(newKey(), 'loadTable', 'one')).rejects.toMatchObject({ code: 'NOT_FOUND' });
    const eve = catalog.principal(await catalog.mint({ tenant: 'rival', user: 'eve' }));
    await expect(runAs(eve, newKey(), 'createTable', 'x')).rejects.toMatchObject({ code: 'CATALOG_NOT_FOUND' });
  });
});

describe('an abandoned key', () => {
  test('did not commit, and never does', async () => {
    await create('never');
    const key = newKey();
    for (let i = 0; i < 2; i++) expect(await abandon(key)).toBe('NOT_COMMITTED');
    await expect(commit(key, change('never', 'a'))).rejects.toMatchObject({ code: 'KEY_REUSED' });
    expect(await logLength('never')).toBe(0);
  });

  test('of a commit that happened says so', async () => {
    await create('done');
    const key = newKey();
    await commit(key, change('done', 'a'));
    expect(await abandon(key)).toBe('COMMITTED');
    await commit(key, change('done', 'a'));
  });

  test('of a commit that is running waits for it', async () => {
    await create('running');
    const client = new PgClient({ connectionString: catalog.databaseUrl });
    await client.connect();
    await client.query("begin; select 1 from catalog.iceberg_table where name = 'running' for update");
    const key = newKey();
    const committed = commit(key, change('running', 'a'));
    const waits = (count: number): Promise<void> => expect.poll(() => waitingLocks(client)).toBe(count);
    await waits(1);
    const outcome = abandon(key);
    await waits(2);
    await client.query('rollback');
    await client.end();
    expect(await outcome).toBe('COMMITTED');
    await committed;
    expect(await valueOf('running')).toBe('a');
  });
});

describe('a key', () => {
  test.each(['', 'x', '5cf8f7c4-0a52-4cb4-8c4b-a5ab1a3c2d11', newUuidV7(Date.now() + 3_600_000)])(
    '%j is refused',
    async (key) => {
      await expect(commit(key, change('one', 'x'))).rejects.toMatchObject({ code: 'INVALID_REQUEST' });
      await expect(abandon(key)).rejects.toMatchObject({ code: 'INVALID_REQUEST' });
    },
  );

  test('closes with its age: whether it committed is known for a while, and that it cannot commit for ever', async () => {
    await create('old');
    const [used, unused] = [newKey(), newKey()];
    const lifetimeMs = catalog.config['catalog.idempotency_lifetime'];
    passedMs += lifetimeMs - 1_000;
    await commit(used, change('old', 'a'));
    passedMs += 2_000;
    const again = (key: string): Promise<object> => commit(key, change('old', 'a'));
    await expect(again(used)).rejects.toMatchObject({ code: 'INVALID_REQUEST' });
    expect(await abandon(used)).toBe('COMMITTED');
    await expect(again(unused)).rejects.toMatchObject({ code: 'INVALID_REQUEST' });
    expect(await abandon(unused)).toBe('FORGOTTEN');
    passedMs += lifetimeMs + 60_000;
    expect(await abandon(used)).toBe('FORGOTTEN');
    await expect(again(used)).rejects.toMatchObject({ code: 'INVALID_REQUEST' });
    // The clock is set back, because the next request's token must not have expired.
    passedMs = 0;
    expect(await logLength('old')).toBe(1);
  });
});
