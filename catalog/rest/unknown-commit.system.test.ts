import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startCatalog, type RunningCatalog } from '#catalog/main.ts';
import { silentLogger } from '#shared/log/logger.ts';
import { errorOf, metadataOf, NS, SCHEMA } from '#test/support/catalog-requests.ts';
import { startTestCatalog, type RestAnswer, type TestCatalog } from '#test/support/catalog.ts';
import { startPostgresProxy, type Loss, type PostgresProxy } from '#test/support/postgres-proxy.ts';
import { startTestPostgres, type TestPostgres } from '#test/support/postgres.ts';

/** Tests a catalog whose connection to Postgres breaks during COMMIT, beside one with a sound connection. */
/** A Postgres of its own, because it is killed. */
let postgres: TestPostgres;
let catalog: TestCatalog;
let proxy: PostgresProxy;
let fragile: RunningCatalog;
beforeAll(async () => {
  postgres = await startTestPostgres();
  catalog = await startTestCatalog({}, undefined, postgres);
  proxy = await startPostgresProxy(catalog.databaseUrl);
  // Without background work, whose transactions would be lost instead.
  const config = { ...catalog.config, 'database.url': proxy.url, 'catalog.background_interval': 3_600_000 };
  fragile = await startCatalog(config, silentLogger);
});
afterAll(async () => {
  await fragile?.close();
  await proxy?.close();
  await catalog?.[Symbol.asyncDispose]();
  await postgres?.[Symbol.asyncDispose]();
});

async function send(path: string, body: object, key: string): Promise<Pick<RestAnswer, 'status' | 'body' | 'headers'>> {
  const headers = { authorization: `Bearer ${catalog.token}`, 'idempotency-key': key };
  const response = await fetch(fragile.url + path, { method: 'POST', headers, body: JSON.stringify(body) });
  const text = await response.text();
  return {
    status: response.status,
    headers: response.headers,
    body: (text === '' ? {} : JSON.parse(text)) as RestAnswer['body'],
  };
}
const newKey = (): string => randomUUID().replace(/^(.{14})4/, '$17');

test.each<[Loss, boolean]>([
  ['answer', true],
  ['commit', false],
])(
  'when the %s of a COMMIT is lost the answer is 5xx CommitStateUnknownException, and the same key finds out',
  async (loss, isMade) => {
    const name = `unknown-${loss}`;
    const path = `${NS}/default/tables/${name}`;
    await catalog.rest('POST', `${NS}/default/tables`, { body: { name, schema: SCHEMA } });
    const body = { updates: [{ action: 'set-properties', updates: { made: 'yes' } }] };
    const key = newKey();
    proxy.lose(loss, key);
    expect(errorOf(await send(path, body, key)).slice(0, 2)).toEqual([500, 'CommitStateUnknownException']);
    // The server that lost its client ends the transaction by itself.
    await expect
      .poll(async () => {
        const { made } = metadataOf(await catalog.rest('GET', path))['properties'] as { made?: string };
        return made === 'yes';
      })
      .toBe(isMade);
    const again = await send(path, body, key);
    expect(again.status).toBe(200);
    const loaded = await catalog.rest('GET', path);
    expect(loaded.body).toEqual(again.body);
    expect(metadataOf(loaded)).toMatchObject({ properties: { made: 'yes' } });
    expect(metadataOf(loaded)['metadata-log']).toHaveLength(1);
  },
);

test('a create, a drop and a transaction whose COMMIT is lost are found out by their keys too', async () => {
  const create = { name: 'unknown-create', schema: SCHEMA };
  const steps: (readonly [string, object])[] = [
    [`${NS}/default/tables`, create],
    [
      '/v1/lake/transactions/commit',
      {
        'table-changes': [
          {
            identifier: { namespace: ['default'], name: 'unknown-create' },
            requirements: [],
            updates: [{ action: 'set-properties', updates: { a: 'b' } }],
          },
        ],
      },
    ],
    [`${NS}/default/tables/unknown-create/unregister`, {}],
  ];
  for (const [path, body] of steps) {
    const key = newKey();
    proxy.lose('answer', key);
    expect((await send(path, body, key)).status, path).toBe(500);
    expect((await send(path, body, key)).status, path).toBeLessThan(300);
  }
});

test('a commit that certainly did not happen is a conflict, never a 5xx', async () => {
  const name = 'certain';
  await catalog.rest('POST', `${NS}/default/tables`, { body: { name, schema: SCHEMA } });
  await postgres.kill();
  const body = { updates: [{ action: 'set-properties', updates: { a: 'b' } }] };
  const answer = await catalog.rest('POST', `${NS}/default/tables/${name}`, { body });
  expect(errorOf(answer).slice(0, 2)).toEqual([409, 'CommitFailedException']);
  expect(errorOf(answer)[2]).toContain('nothing was changed');
  await postgres.start();
  await expect
    .poll(async () => (await catalog.rest('POST', `${NS}/default/tables/${name}`, { body })).status, {
      timeout: 20_000,
    })
    .toBe(200);
});
