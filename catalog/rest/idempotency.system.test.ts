import { createHash, randomBytes } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Clock } from '#shared/clock.ts';
import type { JsonObject } from '#shared/json.ts';
import { errorOf, metadataOf, NS, SCHEMA, snapshot, setMain, locationOf } from '#test/support/catalog-requests.ts';
import { startTestCatalog, type RestAnswer, type TestCatalog } from '#test/support/catalog.ts';
import { startTestPostgres, type TestPostgres } from '#test/support/postgres.ts';
import { patience } from '#test/support/run/slowness.ts';

let passedMs = 0;
const clock: Clock = { nowMs: () => Date.now() + passedMs, monotonicMs: () => performance.now() };
/** A Postgres of its own, because it is killed. */
let postgres: TestPostgres;
let catalog: TestCatalog;
beforeAll(async () => {
  postgres = await startTestPostgres();
  catalog = await startTestCatalog({ 'catalog.background_interval': 200 }, clock, postgres);
});
afterAll(async () => {
  await catalog?.[Symbol.asyncDispose]();
  await postgres?.[Symbol.asyncDispose]();
});

/** A UUID of version 7. */
function newKey(): string {
  const bytes = randomBytes(16);
  bytes.writeUIntBE(Date.now(), 0, 6);
  bytes[6] = 0x70 | ((bytes[6] ?? 0) & 0x0f);
  bytes[8] = 0x80 | ((bytes[8] ?? 0) & 0x3f);
  return bytes.toString('hex').replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-');
}
type Send = { readonly key?: string; readonly body?: unknown; readonly token?: string };
const send = (method: string, path: string, { key, body, token }: Send): Promise<RestAnswer> =>
  catalog.rest(method, path, {
    ...(body === undefined ? {} : { body }),
    ...(token === undefined ? {} : { token }),
    ...(key === undefined ? {} : { headers: { 'idempotency-key': key } }),
  });
const post = (path: string, body: unknown, key?: string): Promise<RestAnswer> =>
  send('POST', path, { body, ...(key === undefined ? {} : { key }) });
const create = (name: string, key?: string): Promise<RestAnswer> =>
  post(`${NS}/default/tables`, { name, schema: SCHEMA }, key);
const keys = async (): Promise<number> => {
  const { Client } = await import('pg');
  const client = new Client({ connectionString: catalog.databaseUrl });
  await client.connect();
  const { rows } = await client.query<{ count: string }>('select count(*) from catalog.idempotency_key');
  await client.end();
  return Number(rows[0]?.count);
};

test('the configuration advertises for how long a key lives', async () => {
  expect((await catalog.rest('GET', '/v1/config', { token: null })).body['idempotency-key-lifetime']).toBe('PT1800S');
});

test('an answer that is made anew tells nothing of a table that has got policies since', async () => {
  const key = newKey();
  expect((await create('closed', key)).status).toBe(200);
  expect((await create('closed', key)).status).toBe(200);
  const { Client } = await import('pg');
  const client = new Client({ connectionString: catalog.databaseUrl });
  await client.connect();
  await client.query(`insert into catalog.table_source (table_id, source_id)
    select id, gen_random_uuid() from catalog.iceberg_table where name = 'closed'`);
  await client.query('update catalog.table_source set is_policed = true');
  // As if the answer were too large to be kept: it is made anew.
  await client.query('update catalog.idempotency_key set status = null, body = null');
  await client.end();
  expect((await create('closed', key)).status).toBe(403);
});

test('every change that is sent again under its key answers as before, and changes nothing', async () => {
  const steps: (readonly [method: string, path: string, body?: unknown])[] = [
    ['POST', NS, { namespace: ['idem'], properties: { a: '1', b: '2' } }],
    ['POST', `${NS}/idem/properties`, { removals: ['a', 'x'], updates: { c: '3' } }],
    ['POST', `${NS}/idem/tables`, { name: 't', schema: SCHEMA }],
    ['POST', `${NS}/idem/tables/t`, { updates: [{ action: 'set-properties', updates: { p: 'q' } }] }],
    [
      'POST',
      '/v1/lake/tables/rename',
      {
        source: { namespace: ['idem'], name: 't' },
        destination: { namespace: ['idem'], name: 'u' },
      },
    ],
    [
      'POST',
      '/v1/lake/transactions/commit',
      {
        'table-changes': [
          {
            identifier: { namespace: ['idem'], name: 'u' },
            requirements: [],
            updates: [{ action: 'set-properties', updates: { r: 's' } }],
          },
        ],
      },
    ],
    ['POST', `${NS}/idem/tables/u/unregister`, {}],
    ['DELETE', `${NS}/idem`],
  ];
  for (const [method, path, body] of steps) {
    const key = newKey();
    const first = await send(method, path, { key, body });
    expect(first.status, path).toBeLessThan(300);
    const again = await send(method, path, { key, body });
    expect([again.status, again.body, again.headers.get('etag')], path).toEqual([
      first.status,
      first.body,
      first.headers.get('etag'),
    ]);
  }
  expect((await catalog.rest('GET', `${NS}/idem`)).status).toBe(404);
});

test('errors that would come again are kept too: they stand even when their cause is gone', async () => {
  await create('taken');
  const key = newKey();
  expect((await create('taken', key)).status).toBe(409);
  await catalog.rest('DELETE', `${NS}/default/tables/taken`);
  expect(errorOf(await create('taken', key))).toEqual([
    409,
    'AlreadyExistsException',
    'Table already exists: default.taken',
  ]);
  expect((await create('taken', newKey())).status).toBe(200);
});

test('a key is good for one request only: another body, path or query is 422', async () => {
  const key = newKey();
  expect((await create('one', key)).status).toBe(200);
  expect(errorOf(await create('two', key)).slice(0, 2)).toEqual([422, 'UnprocessableEntityException']);
  expect((await catalog.rest('GET', `${NS}/default/tables/two`)).status).toBe(404);
  const path = `${NS}/default/tables/one`;
  const drop = newKey();
  expect((await send('DELETE', path, { key: drop })).status).toBe(204);
  expect((await send('DELETE', `${path}?purgeRequested=true`, { key: drop })).status).toBe(422);
});

test('keys of different principals, catalogs and operations do not meet', async () => {
  await catalog.call('CreateTenant', { name: 'idem2', admin_user: 'eve', admin_password: 'a long enough password' });
  await catalog.call('CreateCatalog', { tenant: 'idem2', name: 'idem2', location: '' });
  const token = await catalog.mint({ tenant: 'idem2', user: 'eve' });
  const key = newKey();
  const body = { namespace: ['meet'] };
  expect((await send('POST', NS, { key, body })).status).toBe(200);
  expect((await send('POST', '/v1/idem2/namespaces', { key, body, token })).status).toBe(200);
  expect((await send('DELETE', `${NS}/meet`, { key })).status).toBe(204);
  // Errors of another tenant's objects are the same as those of absent ones.
  expect((await send('POST', NS, { key, body, token })).body).toMatchObject({
    error: { type: 'NoSuchWarehouseException' },
  });
});

test.each([
  '',
  'x',
  '0190f3ae-5b1c-4d2e-8f3a-1b2c3d4e5f60',
  '0190f3ae-5b1c-7d2e-cf3a-1b2c3d4e5f60',
  '0190f3ae5b1c7d2e8f3a1b2c3d4e5f60',
])('the key %j is no UUID of version 7: 400', async (key) => {
  expect(errorOf(await create('bad-key', key)).slice(0, 2)).toEqual([400, 'BadRequestException']);
  expect((await catalog.rest('GET', `${NS}/default/tables`, { headers: { 'idempotency-key': key } })).status).toBe(200);
});

test('a refusal for a missing permission is not kept', async () => {
  const key = newKey();
  const weak = await catalog.mint({ scope: ['table:read'] });
  expect(
    (await send('POST', `${NS}/default/tables`, { key, token: weak, body: { name: 'perm', schema: SCHEMA } })).status,
  ).toBe(403);
  expect((await create('perm', key)).status).toBe(200);
});

test('of 20 twins at once one makes the change, and all get its answer', async () => {
  const key = newKey();
  const answers = await Promise.all(Array.from({ length: 20 }, () => create('twins', key)));
  expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]));
  expect(new Set(answers.map((answer) => metadataOf(answer)['table-uuid'])).size).toBe(1);
});

test('twins of a commit add one snapshot', async () => {
  const location = locationOf(await create('append'));
  const key = newKey();
  const body = { updates: [snapshot(location, 7), setMain(7), { action: 'set-properties', updates: { n: '1' } }] };
  const answers = await Promise.all(Array.from({ length: 10 }, () => post(`${NS}/default/tables/append`, body, key)));
  expect(answers.map(({ status }) => status)).toEqual(Array.from({ length: 10 }, () => 200));
  const { body: table } = await catalog.rest('GET', `${NS}/default/tables/append`);
  expect((table['metadata'] as JsonObject)['snapshots']).toHaveLength(1);
});

test('a large answer is rendered anew', async () => {
  const properties = Object.fromEntries(
    Array.from({ length: 2_000 }, (_none, i) => [`p${i}`, createHash('sha256').update(String(i)).digest('hex')]),
  );
  const key = newKey();
  const body = { name: 'large', schema: SCHEMA, properties };
  const first = await post(`${NS}/default/tables`, body, key);
  expect(first.status).toBe(200);
  expect((await post(`${NS}/default/tables`, body, key)).body).toEqual(first.body);
  await post(`${NS}/default/tables/large`, { updates: [{ action: 'set-properties', updates: { newer: 'yes' } }] });
  expect(metadataOf(await post(`${NS}/default/tables`, body, key))['properties']).toHaveProperty('newer');
  const drop = newKey();
  const unregister = await send('POST', `${NS}/default/tables/large/unregister`, { key: drop });
  expect((await send('POST', `${NS}/default/tables/large/unregister`, { key: drop })).body).toEqual(unregister.body);
});

test('a staged create is answered again, and still nothing is made', async () => {
  const key = newKey();
  const body = { name: 'staged', schema: SCHEMA, 'stage-create': true };
  const first = await post(`${NS}/default/tables`, body, key);
  expect((await post(`${NS}/default/tables`, body, key)).body).toEqual(first.body);
  expect((await catalog.rest('GET', `${NS}/default/tables/staged`)).status).toBe(404);
});

describe('without Postgres', () => {
  test('an answer of 503 is not kept: the same key succeeds later', async () => {
    const key = newKey();
    await postgres.kill();
    expect((await create('later', key)).status).toBe(503);
    await postgres.start();
    await expect.poll(async () => (await create('later', key)).status, { timeout: patience(30_000) }).toBe(200);
  });
});

test('an expired key is forgotten, and may be used anew', async () => {
  const key = newKey();
  expect((await create('expire', key)).status).toBe(200);
  passedMs += 1_800_001;
  expect((await create('expire', key)).status).toBe(409);
  passedMs += 1_800_001;
  await expect.poll(keys, { timeout: patience(20_000) }).toBe(0);
});

test('a principal has a limit of keys that are in use; answers that are kept are given again, others are served', async () => {
  await using small = await startTestCatalog({ 'catalog.idempotency_keys_per_principal_max': 2 }, clock);
  await small.call('CreateClient', { tenant: 'default', name: 'other' });
  const other = await small.mint({ user: 'other' });
  const make = (name: string, key?: string, token = small.token): Promise<RestAnswer> =>
    small.rest('POST', `${NS}/default/tables`, {
      token,
      body: { name, schema: SCHEMA },
      ...(key === undefined ? {} : { headers: { 'idempotency-key': key } }),
    });
  const [first, second, third] = [newKey(), newKey(), newKey()];
  const made = await make('a', first);
  // A refusal that would come again is a row, too.
  expect([made.status, (await make('a', second)).status]).toEqual([200, 409]);
  expect(errorOf(await make('b', third))).toEqual([
    429,
    'TooManyRequestsException',
    'too many Idempotency-Keys are in use: at most 2 within PT1800S',
  ]);
  expect((await make('a', first)).body).toEqual(made.body);
  expect((await make('b', third, other)).status).toBe(200);
  expect((await make('c')).status).toBe(200);
  passedMs += 1_800_001;
  await expect.poll(async () => (await make('d', third)).status).toBe(200);
});
