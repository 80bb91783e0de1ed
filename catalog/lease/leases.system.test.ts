import { setTimeout as sleep } from 'node:timers/promises';
import { credentials, status, type ServiceError } from '@grpc/grpc-js';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startCatalog, type RunningCatalog } from '#catalog/main.ts';
import type { CatalogInternalClient } from '#proto/generated/skein/catalog/v1/CatalogInternal.ts';
import type { Lease } from '#proto/generated/skein/catalog/v1/Lease.ts';
import { CACHE_LEASE_MS_MAX } from '#shared/config/check-config.ts';
import { internalMetadata } from '#shared/grpc/internal-auth.ts';
import { loadService } from '#shared/grpc/load-proto.ts';
import { fixedKeyring } from '#shared/keyring.ts';
import { silentLogger } from '#shared/log/logger.ts';
import { must } from '#shared/must.ts';
import { newUuidV7 } from '#shared/uuid-v7.ts';
import { NS, SCHEMA } from '#test/support/catalog-requests.ts';
import { startTestCatalog, TEST_SECRET, type TestCatalog } from '#test/support/catalog.ts';
import { cheapen } from '#test/support/cheap-password.ts';
import { PageVisitor } from '#test/support/page-visitor.ts';
import { PASSWORD, statementRunner } from '#test/support/run-statements.ts';
import { signInTerminal } from '#test/support/sign-in-terminal.ts';
import { machineSlowness } from '#test/support/run/machine-speed.ts';

/** So long that a change that has not waited is told apart on any machine. */
const LEASE_MS = Math.min(CACHE_LEASE_MS_MAX, Math.round(2_000 * machineSlowness()));
const UNSEEN_MS = 30;
/** So short that background work looks for something to do many times during a lease. */
const BACKGROUND_MS = 50;

let catalog: TestCatalog;
/** On the same database. */
let second: RunningCatalog;
beforeAll(async () => {
  catalog = await startTestCatalog({ 'catalog.cache_lease': LEASE_MS, 'catalog.background_interval': BACKGROUND_MS });
  second = await startCatalog(catalog.config, silentLogger);
});
afterAll(async () => {
  await second?.close();
  await catalog?.[Symbol.asyncDispose]();
});

/** A coordinator's lease, which confirms changes when the test says so. */
class Coordinator implements Disposable {
  readonly #client: CatalogInternalClient;
  readonly #stream: ReturnType<CatalogInternalClient['HoldAnswers']>;
  readonly #told: Lease[] = [];
  #renewal = 0;
  /** The status of a stream that was refused or cut. */
  readonly refused: Promise<number>;

  constructor(address: string, secret = TEST_SECRET) {
    const { Client } = loadService('catalog.proto', 'skein.catalog.v1.CatalogInternal');
    this.#client = new Client(address, credentials.createInsecure());
    this.#stream = this.#client.HoldAnswers(internalMetadata(fixedKeyring(secret)));
    this.#stream.on('data', (lease: Lease) => this.#told.push(lease));
    this.refused = new Promise((resolve) => this.#stream.on('error', ({ code }: ServiceError) => resolve(code)));
  }

  get changes(): number {
    return Math.max(0, ...this.#told.map(({ changes }) => Number(changes)));
  }

  /** Has a lease from now on, and has seen all changes. */
  async renew(): Promise<Lease> {
    const renewal = ++this.#renewal;
    this.#stream.write({ renewal, changes: this.changes });
    await expect.poll(() => this.#told.some((lease) => lease.renewal === renewal)).toBe(true);
    this.confirm();
    return must(
      this.#told.find((lease) => lease.renewal === renewal),
      'the lease',
    );
  }

  confirm(): void {
    this.#stream.write({ changes: this.changes });
  }

  giveBack(): void {
    this.#stream.write({ given_back: true });
  }

  breakStream(): void {
    this.#stream.cancel();
  }

  [Symbol.dispose](): void {
    this.giveBack();
    this.#stream.end();
    this.#client.close();
  }
}

const rest =
  (method: string, path: string, body?: object): (() => Promise<number>) =>
  async () =>
    (await catalog.rest(method, path, body === undefined ? {} : { body })).status;
const call =
  (method: string, request: object): (() => Promise<number>) =>
  async () => {
    await catalog.call(method, request);
    return 200;
  };

const VERSION = {
  'version-id': 1,
  'timestamp-ms': 1_700_000_000_000,
  'schema-id': 0,
  summary: {},
  'default-namespace': ['default'],
  representations: [{ type: 'sql', sql: 'select 1 as a', dialect: 'spark' }],
};
const named = (name: string): object => ({ namespace: ['leased'], name });
const IN = `${NS}/leased`;
const SET = { action: 'set-properties', updates: { p: '1' } };
/** A property that is there already commits nothing. */
const SET_AGAIN = { action: 'set-properties', updates: { p: '2' } };

/** Every kind of change, in an order in which each can be made. */
const CHANGES: readonly (readonly [what: string, change: () => Promise<number>])[] = [
  ['a window of UNDROP', call('AlterCatalog', { name: 'lake', undrop_window_ms: '60000' })],
  ['a new namespace', rest('POST', NS, { namespace: ['leased'] })],
  ['properties of a namespace', rest('POST', `${IN}/properties`, { updates: { p: '1' } })],
  ['a new table', rest('POST', `${IN}/tables`, { name: 't', schema: SCHEMA })],
  ['a commit', rest('POST', `${IN}/tables/t`, { requirements: [], updates: [SET] })],
  [
    'a transaction',
    rest('POST', '/v1/lake/transactions/commit', {
      'table-changes': [{ identifier: named('t'), requirements: [], updates: [SET_AGAIN] }],
    }),
  ],
  ['a rename', rest('POST', '/v1/lake/tables/rename', { source: named('t'), destination: named('u') })],
  ['a drop', rest('DELETE', `${IN}/tables/u`)],
  ['an undrop', rest('POST', `${IN}/tables/u/undrop`)],
  ['a purge', rest('DELETE', `${IN}/tables/u?purgeRequested=true`)],
  ['a new view', rest('POST', `${IN}/views`, { name: 'v', schema: SCHEMA, 'view-version': VERSION, properties: {} })],
  ['a replaced view', rest('POST', `${IN}/views/v`, { updates: [SET] })],
  ['a rename of a view', rest('POST', '/v1/lake/views/rename', { source: named('v'), destination: named('w') })],
  ['a dropped view', rest('DELETE', `${IN}/views/w`)],
  ['a rename of a namespace', rest('POST', `${IN}/rename`, { destination: ['leased_2'] })],
  ['a rename of a catalog', rest('POST', '/v1/catalogs/lake/rename', { name: 'lake_2' })],
  ['its old name', rest('POST', '/v1/catalogs/lake_2/rename', { name: 'lake' })],
  ['a new tenant', call('CreateTenant', { name: 'new', admin_user: 'u', admin_password: 'a long enough password' })],
  ['a new client', call('CreateClient', { tenant: 'new', name: 'c', scopes: ['catalog'] })],
  ['a new catalog', rest('POST', '/v1/catalogs', { name: 'another' })],
  ['a dropped catalog', rest('DELETE', '/v1/catalogs/another')],
  ['a dropped client', call('DropClient', { tenant: 'new', name: 'c' })],
  ['a dropped tenant', call('DropTenant', { name: 'new' })],
];

/** Whether a change is not acknowledged before the coordinator has seen it, and then is. */
async function waitsFor(coordinator: Coordinator, change: () => Promise<number>): Promise<void> {
  await coordinator.renew();
  const before = coordinator.changes;
  let answer = 0;
  const changed = change().then((answered) => (answer = answered));
  await expect.poll(() => coordinator.changes).toBeGreaterThan(before);
  await sleep(UNSEEN_MS);
  expect(answer).toBe(0);
  const beganMs = performance.now();
  // A change of several transactions says so several times.
  const confirming = setInterval(() => coordinator.confirm(), 5);
  await changed.finally(() => clearInterval(confirming));
  expect(Math.trunc(answer / 100)).toBe(2);
  expect(performance.now() - beganMs).toBeLessThan(LEASE_MS / 2);
}

test('a lease is for coordinators', async () => {
  using stranger = new Coordinator(catalog.running.internalAddress, 'a wrong secret');
  await expect(stranger.refused).resolves.toBe(status.UNAUTHENTICATED);
});

test('a lease lasts as long as the setting says', async () => {
  using coordinator = new Coordinator(catalog.running.internalAddress);
  const { valid_ms: validMs, answer_ms: answerMs } = await coordinator.renew();
  expect(answerMs).toBe(LEASE_MS);
  expect(validMs).toBeGreaterThan(LEASE_MS / 2);
  expect(validMs).toBeLessThanOrEqual(LEASE_MS);
});

test('every kind of change waits until a coordinator of the same catalog has seen it', async () => {
  using coordinator = new Coordinator(catalog.running.internalAddress);
  for (const [what, change] of CHANGES) {
    await waitsFor(coordinator, change).catch((error: unknown) => {
      throw new Error(what, { cause: error });
    });
  }
});

describe('of another catalog', () => {
  test('a change waits until a coordinator has seen it', async () => {
    using coordinator = new Coordinator(second.internalAddress);
    const table = `/v1/lake/namespaces/default/tables`;
    await waitsFor(coordinator, rest('POST', table, { name: 'far', schema: SCHEMA }));
    await waitsFor(coordinator, rest('POST', `${table}/far`, { requirements: [], updates: [SET] }));
  });

  test('a change does not wait for a coordinator that has given its lease back', async () => {
    using coordinator = new Coordinator(second.internalAddress);
    await coordinator.renew();
    coordinator.giveBack();
    await sleep(UNSEEN_MS);
    const beganMs = performance.now();
    await rest('POST', `${NS}/default/properties`, { updates: { p: '2' } })();
    expect(performance.now() - beganMs).toBeLessThan(LEASE_MS / 2);
  });
});

test('a change waits out the lease of a stream that broke, and the next one does not', async () => {
  using coordinator = new Coordinator(catalog.running.internalAddress);
  await coordinator.renew();
  coordinator.breakStream();
  const beganMs = performance.now();
  const change = rest('POST', `${NS}/default/properties`, { updates: { p: '3' } });
  await change();
  expect(performance.now() - beganMs).toBeGreaterThan(LEASE_MS / 2);
  const nextMs = performance.now();
  await change();
  expect(performance.now() - nextMs).toBeLessThan(LEASE_MS / 2);
});

test('changes that wait keep nobody else waiting: they hold no connection to Postgres', async () => {
  using coordinator = new Coordinator(catalog.running.internalAddress);
  await coordinator.renew();
  const before = coordinator.changes;
  const changes = Array.from({ length: catalog.config['database.pool_max'] + 1 }, (_, i) => i);
  let answered = 0;
  const all = Promise.all(
    changes.map((i) => rest('POST', NS, { namespace: [`waits_${i}`] })().then(() => (answered += 1))),
  );
  await expect.poll(() => coordinator.changes - before, { timeout: LEASE_MS / 2 }).toBe(changes.length);
  expect(await rest('GET', `${NS}/default`)()).toBe(200);
  expect(answered).toBe(0);
  coordinator.confirm();
  await all;
});

test('an answer that is given again waits as the first one did', async () => {
  using coordinator = new Coordinator(catalog.running.internalAddress);
  const key = { 'idempotency-key': newUuidV7(Date.now()) };
  const create = async (): Promise<number> =>
    (await catalog.rest('POST', NS, { body: { namespace: ['again'] }, headers: key })).status;
  expect(await create()).toBe(200);
  await waitsFor(coordinator, create);
});

test('the end of a provider takes the roles that its groups give, also to those who have not signed in by it: it waits', async () => {
  const { createUser, run } = statementRunner(catalog);
  await createUser('grouped');
  await run('admin', { kind: 'create_role', name: 'grouped_role', ifNotExists: false, scope: 'table:read' });
  await catalog.sql(`
    with made as (
      insert into catalog.identity_provider (id, tenant_id, name, issuer, audiences, username_claim, email_claim, groups_claim, provision, domains, enabled, by_admin, created_by, created_at)
      select gen_random_uuid(), tenant_id, 'leased', 'https://issuer.example', '{a}', 'u', 'e', 'g', 'NONE', '{}', true, true, id, now()
      from catalog.principal where username = 'admin'
      returning id, tenant_id)
    insert into catalog.group_role (provider_id, group_name, role_id, with_administration, granted_at)
    select made.id, 'all', r.id, false, now() from made join catalog.role r on r.tenant_id = made.tenant_id and r.name = 'grouped_role'`);
  await catalog.sql(`
    insert into catalog.group_member (provider_id, group_name, principal_id)
    select g.provider_id, g.group_name, p.id from catalog.group_role g, catalog.principal p where p.username = 'grouped'`);
  const rolesOf = (): Promise<readonly object[]> =>
    catalog.sql(`select roles from catalog.principal where username = 'grouped'`);
  expect(await rolesOf()).toEqual([{ roles: ['grouped_role'] }]);
  using coordinator = new Coordinator(catalog.running.internalAddress);
  await waitsFor(coordinator, async () => {
    await run('admin', { kind: 'drop_provider', name: 'leased', ifExists: false });
    return 200;
  });
  expect(await rolesOf()).toEqual([{ roles: [] }]);
});

test('what changes no answer waits for nobody', async () => {
  using coordinator = new Coordinator(catalog.running.internalAddress);
  await coordinator.renew();
  const before = coordinator.changes;
  expect(await rest('GET', `${NS}/default`)()).toBe(200);
  await catalog.mint();
  const refused = await rest('POST', NS, { namespace: ['default'] })();
  expect(refused).toBe(409);
  expect(coordinator.changes).toBe(before);
});

test('background work that finds nothing to do is no change', async () => {
  using coordinator = new Coordinator(catalog.running.internalAddress);
  await coordinator.renew();
  const before = coordinator.changes;
  await sleep(LEASE_MS / 2);
  expect(coordinator.changes).toBe(before);
});

test('no sign-in is a change: by a door, at the page, by a terminal that renews, refused, up to a lock, and its end', async () => {
  await statementRunner(catalog).createUser('leaser');
  await cheapen(catalog, PASSWORD, 'leaser');
  const { url } = catalog.running;
  const door = (password: string): Promise<string> =>
    catalog.call('SignIn', { user: 'leaser', password, tenant: '', address: '127.0.0.1' }).then(
      () => 'in',
      (error: unknown) => (error as { readonly code: string }).code,
    );
  using coordinator = new Coordinator(catalog.running.internalAddress);
  await coordinator.renew();
  const before = coordinator.changes;
  expect(await door(PASSWORD)).toBe('in');
  const visitor = new PageVisitor(url);
  const tokens = await signInTerminal(visitor, url, { username: 'leaser', password: PASSWORD });
  const renewal = { grant_type: 'refresh_token', client_id: 'skein-cli', refresh_token: tokens.refresh_token };
  const renewed = await fetch(`${url}/v1/oauth/tokens`, { method: 'POST', body: new URLSearchParams(renewal) });
  expect(renewed.status).toBe(200);
  expect((await visitor.submit('/sign-out', {})).status).toBe(303);
  for (let i = 0; i < 5; i += 1) expect(await door('Wrong-Horse-9')).toBe('WRONG_PASSWORD');
  expect(await door(PASSWORD)).toBe('WRONG_PASSWORD');
  await sleep(UNSEEN_MS);
  expect(coordinator.changes).toBe(before);
});
