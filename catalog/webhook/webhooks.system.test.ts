import { createHmac } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { Clock } from '#shared/clock.ts';
import { must } from '#shared/must.ts';
import type { PrincipalRequest } from '#shared/principal/principal-request.ts';
import { newSecret } from '#shared/secret-file.ts';
import { startCatalogProcess } from '#test/support/catalog-process.ts';
import { startTestCatalog, type TestCatalog } from '#test/support/catalog.ts';
import { statementRunner, type StatementRunner } from '#test/support/run-statements.ts';
import { startWebhookReceiver, type Received, type WebhookReceiver } from '#test/support/webhook-receiver.ts';
import { patience } from '#test/support/run/slowness.ts';

/** A receiver's view: events of a real catalog come to it over HTTPS. */
const SECRET = 'a-key-of-the-receiver-7';
let receiver: WebhookReceiver;
let catalog: TestCatalog;
let user: StatementRunner;
let passedMs = 0;
const clock: Clock = { nowMs: () => Date.now() + passedMs, monotonicMs: () => performance.now() + passedMs };

const settings = (webhooks: WebhookReceiver, intervalMs: number): object => ({
  'webhook.interval': intervalMs,
  'webhook.ca_file': webhooks.caFile,
  'webhook.allowed_networks': ['127.0.0.1'],
});

beforeAll(async () => {
  receiver = await startWebhookReceiver(['127.0.0.1']);
  const fast = { ...settings(receiver, 100), 'cluster.reload_interval': 200 };
  catalog = await startTestCatalog(fast, clock);
  user = statementRunner(catalog);
});
afterAll(async () => {
  await catalog?.[Symbol.asyncDispose]();
  await receiver?.[Symbol.asyncDispose]();
});
beforeEach(() => {
  receiver.answer = (response) => void response.writeHead(204).end();
});

afterEach(() => catalog.sql('delete from catalog.webhook'));

const create = (name: string, more: object = {}): PrincipalRequest => ({
  kind: 'create_webhook',
  name,
  ifNotExists: false,
  url: `https://127.0.0.1:${receiver.port}/${name}`,
  secret: SECRET,
  events: ['create_role'],
  ...more,
});
const role = (name: string): PrincipalRequest => ({ kind: 'create_role', name, ifNotExists: false });
const drop = (name: string, ifExists = false): PrincipalRequest => ({ kind: 'drop_webhook', name, ifExists });
const receivedAt = (name: string): readonly Received[] => receiver.received.filter(({ path }) => path === `/${name}`);
const deliveriesOf = (webhook: string): Promise<readonly Readonly<Record<string, string | null>>[]> =>
  user.table('admin', { kind: 'show_webhook_deliveries', webhook, after: null, limit: 100 });
const statusOf = async (webhook: string): Promise<readonly unknown[]> =>
  (await deliveriesOf(webhook)).map((row) => [row['status'], row['attempts']]);

describe('an event', () => {
  test('comes signed, with its name, its id and the attempt, and its body is that of the audit log', async () => {
    await user.run('admin', create('signed'));
    await user.run('admin', role('signed_role'));
    await expect.poll(() => receivedAt('signed').length, { timeout: patience(10_000) }).toBe(1);
    const { headers, body } = must(receivedAt('signed')[0], 'it came');
    const [row] = (await catalog.sql(
      `select id, actor_id, target_id, created_at from catalog.user_audit_log where target_name = 'signed_role'`,
    )) as { id: string; actor_id: string; target_id: string; created_at: Date }[];
    const event = must(row, 'an audit row');
    expect(headers).toMatchObject({
      'content-type': 'application/json',
      'x-service-event-type': 'create_role',
      'x-service-event-id': event.id,
      'x-service-signature': createHmac('sha256', SECRET).update(body).digest('hex'),
      'x-service-delivery-attempt': '1',
    });
    expect(JSON.parse(body)).toEqual({
      id: event.id,
      type: 'create_role',
      tenant: 'default',
      actor: { id: event.actor_id, name: 'admin' },
      target: { id: event.target_id, name: 'signed_role' },
      occurred_at: event.created_at.toISOString(),
      details: { scope: '' },
    });
    await expect.poll(() => statusOf('signed')).toEqual([['delivered', '1']]);
  });

  test('fans out to each webhook whose EVENTS have its name or a beginning of it; the empty one is all', async () => {
    await user.run('admin', create('by_name'));
    await user.run('admin', create('by_prefix', { events: ['nothing', 'create_'] }));
    await user.run('admin', create('all', { events: [''] }));
    await user.run('admin', create('other', { events: ['create_roles', 'drop', 'role'] }));
    await user.run('admin', role('fan_out'));
    // Every statement of the test has its token minted.
    const types = (name: string): readonly unknown[] =>
      receivedAt(name)
        .map(({ headers }) => headers['x-service-event-type'])
        .filter((type) => type !== 'mint_token');
    // Each receiver has calls of its own, and one may be ahead of the others.
    const arrived = () => [
      types('all').length,
      types('by_name'),
      types('by_prefix').toSorted((a, b) => String(a).localeCompare(String(b))),
    ];
    await expect
      .poll(arrived, { timeout: patience(10_000) })
      .toEqual([3, ['create_role'], ['create_role', 'create_webhook', 'create_webhook', 'create_webhook']]);
    expect(types('other')).toEqual([]);
  });

  test('of a change that is refused is none', async () => {
    await user.run('admin', create('refusals', { events: [''] }));
    const roles = async (): Promise<unknown> =>
      (await deliveriesOf('refusals')).filter((row) => row['event_type'] === 'create_role').length;
    await user.run('admin', role('refused'));
    expect(await roles()).toBe(1);
    expect(await user.refusal('admin', role('refused'))).toBe('ALREADY_EXISTS');
    expect(await roles()).toBe(1);
  });
});

describe('a receiver', () => {
  test.each([404, 500, 302])(
    'that answers %i is asked again after 30 s and after 2 min; then the delivery has failed, until RETRY',
    async (status) => {
      const name = `fails_${status}`;
      receiver.answer = (response) => void response.writeHead(status, { location: '/elsewhere' }).end();
      await user.run('admin', create(name));
      await user.run('admin', role(`${name}_role`));
      await expect.poll(() => statusOf(name), { timeout: patience(10_000) }).toEqual([['retrying', '1']]);
      passedMs += 29_000;
      await new Promise((resolve) => setTimeout(resolve, 400));
      expect(receivedAt(name)).toHaveLength(1);
      passedMs += 1_000;
      await expect.poll(() => statusOf(name), { timeout: patience(10_000) }).toEqual([['retrying', '2']]);
      passedMs += 120_000;
      await expect.poll(() => statusOf(name), { timeout: patience(10_000) }).toEqual([['failed', '3']]);
      const request = { kind: 'show_webhook_deliveries', webhook: name, after: null, limit: 100 } as const;
      const { columns, types } = await user.run('admin', request);
      expect(Object.fromEntries(columns.map((column, i) => [column, types?.[i]]))).toMatchObject({
        webhook: 'VARCHAR',
        attempts: 'INTEGER',
        last_status: 'INTEGER',
        delivered_at: 'TIMESTAMP WITH TIME ZONE',
      });
      const [row] = await deliveriesOf(name);
      expect(row).toMatchObject({
        last_status: String(status),
        last_error: expect.stringContaining(String(status)),
        next_attempt_at: null,
        delivered_at: null,
      });
      passedMs += 1_000_000;
      await new Promise((resolve) => setTimeout(resolve, 300));
      const ids = receivedAt(name).map(({ headers }) => [
        headers['x-service-event-id'],
        headers['x-service-delivery-attempt'],
      ]);
      expect(ids).toEqual(['1', '2', '3'].map((attempt) => [row?.['event_id'], attempt]));

      receiver.answer = (response) => void response.writeHead(200).end('a long answer '.repeat(10_000));
      const retry = { kind: 'retry_webhook', name } as const;
      expect(await user.refusal('admin', { ...retry, event: '00000000-0000-4000-8000-000000000000' })).toBe(
        'INVALID_STATE',
      );
      await user.run('admin', { ...retry, event: row?.['event_id'] ?? '' });
      await expect.poll(() => statusOf(name), { timeout: patience(10_000) }).toEqual([['delivered', '1']]);
      expect((await user.run('admin', { ...retry, event: null })).rows).toEqual([['0']]);
    },
  );

  test('that cannot be reached is tried again like one that answers badly', async () => {
    await user.run('admin', create('closed', { url: 'https://127.0.0.1:1/' }));
    await user.run('admin', role('closed_role'));
    await expect.poll(() => statusOf('closed'), { timeout: patience(10_000) }).toEqual([['retrying', '1']]);
    expect((await deliveriesOf('closed'))[0]).toMatchObject({
      last_status: null,
      last_error: 'the receiver refuses connections',
    });
  });

  test('that lies beside the public Internet is never called', async () => {
    await user.run('admin', create('inside', { url: 'https://127.0.0.2:443/' }));
    await user.run('admin', role('inside_role'));
    await expect
      .poll(async () => (await deliveriesOf('inside'))[0]?.['last_error'], { timeout: patience(10_000) })
      .toBe('the host has no address that is public');
  });

  test('that stalls delays nobody else', async () => {
    receiver.answer = (response, { path }) => (path === '/stalls' ? undefined : void response.writeHead(204).end());
    await user.run('admin', create('stalls'));
    await user.run('admin', create('swift'));
    for (let i = 0; i < 8; i += 1) await user.run('admin', role(`stalled_${i}`));
    // Far sooner than one call of the other one ends.
    await expect.poll(() => receivedAt('swift').length, { timeout: patience(5_000) }).toBe(8);
    expect((await statusOf('stalls')).every((one) => JSON.stringify(one) === '["pending","0"]')).toBe(true);
  });
});

describe('the statements', () => {
  test.each([
    ['no https', { url: 'http://example.org/' }],
    ['no URL', { url: 'example' }],
    ['a password in the URL', { url: 'https://a:b@example.org/' }],
    ['a part behind #', { url: 'https://example.org/#x' }],
    ['a short secret', { secret: '123456789012345' }],
    ['no events', { events: [] }],
    ['EVENTS left out', { events: undefined }],
    ['a pattern', { events: ['create%'] }],
    ['no name', { name: '' }],
  ])('%s: refused', async (_what, more) => {
    expect(await user.refusal('admin', create('bad', more))).toBe('INVALID_REQUEST');
  });

  test('are for a tenant_admin, tell no secret, and know one webhook by its name without case', async () => {
    await user.createUser('wanda');
    await user.run('admin', create('Mine', { events: ['create_', 'drop_user'] }));
    expect(await user.refusal('admin', create('mine'))).toBe('ALREADY_EXISTS');
    expect(await user.refusal('admin', create('mine', { ifNotExists: true }))).toBe('done');
    const shown = await user.table('admin', { kind: 'show_webhooks' });
    const { types } = await user.run('admin', { kind: 'show_webhooks' });
    expect(types).toEqual(['VARCHAR', 'VARCHAR', 'VARCHAR', 'TIMESTAMP WITH TIME ZONE']);
    expect(shown).toEqual([
      {
        name: 'Mine',
        url: `https://127.0.0.1:${receiver.port}/Mine`,
        events: '["create_","drop_user"]',
        created_at: expect.any(String),
      },
    ]);
    const requests: readonly PrincipalRequest[] = [
      create('theirs'),
      drop('Mine'),
      { kind: 'retry_webhook', name: 'Mine', event: null },
      { kind: 'show_webhooks' },
      { kind: 'show_webhook_deliveries', webhook: null, after: null, limit: 1 },
    ];
    for (const request of requests) {
      expect([request.kind, await user.refusal('wanda', request)]).toEqual([request.kind, 'FORBIDDEN']);
    }
    const stored = JSON.stringify([
      await catalog.sql('select * from catalog.webhook'),
      await catalog.sql('select * from catalog.webhook_delivery'),
      await catalog.sql('select * from catalog.user_audit_log'),
    ]);
    expect(stored).not.toContain(SECRET);
    await user.run('admin', drop('MINE'));
    expect(await user.refusal('admin', drop('mine'))).toBe('WEBHOOK_NOT_FOUND');
    expect(await user.refusal('admin', drop('mine', true))).toBe('done');
    const log = await user.table('admin', { kind: 'show_audit_log', like: '%webhook', after: null, limit: 2 });
    expect(log.map((row) => [row['event_type'], row['target_name']])).toEqual([
      ['drop_webhook', 'Mine'],
      ['create_webhook', 'Mine'],
    ]);
  });

  test('an organisation has at most 100', async () => {
    for (let i = 0; i < 100; i += 1) await user.run('admin', create(`many_${i}`, { events: ['nothing'] }));
    expect(await user.refusal('admin', create('many_more'))).toBe('LIMIT_REACHED');
  });
});

test('a new key seals the secrets again, and they sign as before', async () => {
  await user.run('admin', create('resealed'));
  const sealed = async (): Promise<string> =>
    JSON.stringify(await catalog.sql('select secret_sealed from catalog.webhook'));
  const before = await sealed();
  const path = join(catalog.dataDir, 'secrets', 'secrets-key');
  writeFileSync(path, `${newSecret()}\n${readFileSync(path, 'utf8')}`);
  await expect.poll(async () => (await catalog.call<{ resealed: number }>('ResealSecrets', {})).resealed).toBe(1);
  expect(await sealed()).not.toBe(before);
  await user.run('admin', role('resealed_role'));
  await expect.poll(() => receivedAt('resealed').length, { timeout: patience(10_000) }).toBe(1);
  const { headers, body } = must(receivedAt('resealed')[0], 'it came');
  expect(headers['x-service-signature']).toBe(createHmac('sha256', SECRET).update(body).digest('hex'));
  await user.run('admin', drop('resealed'));
});

test('several catalogs share the deliveries: each comes once', async () => {
  const second = await startCatalogProcess({ ...catalog.config, 'webhook.interval': 50 });
  try {
    await user.run('admin', create('shared'));
    for (let i = 0; i < 30; i += 1) await user.run('admin', role(`shared_${i}`));
    await expect
      .poll(() => statusOf('shared'), { timeout: patience(15_000) })
      .toEqual(Array.from({ length: 30 }, () => ['delivered', '1']));
    const ids = receivedAt('shared').map(({ headers }) => headers['x-service-event-id']);
    expect([ids.length, new Set(ids).size]).toEqual([30, 30]);
  } finally {
    await second.kill();
  }
});

test('kill -9 between the audit row and the end of the delivery: nothing is lost, and ids repeat', async () => {
  passedMs = 0;
  // This one delivers only when it starts; the victim delivers, and dies meanwhile.
  await using quiet = await startTestCatalog(settings(receiver, 3_600_000), clock);
  const { run, table } = statementRunner(quiet);
  await run('admin', create('killed'));
  receiver.answer = () => undefined;
  await run('admin', role('killed_1'));
  const victim = await startCatalogProcess({ ...quiet.config, 'webhook.interval': 50 });
  await expect.poll(() => receivedAt('killed').length, { timeout: patience(10_000) }).toBe(1);
  await victim.kill();
  await run('admin', role('killed_2'));
  const deliveries = (): ReturnType<typeof table> =>
    table('admin', { kind: 'show_webhook_deliveries', webhook: 'killed', after: null, limit: 10 });
  expect((await deliveries()).map(({ status, attempts }) => [status, attempts])).toEqual([
    ['pending', '0'],
    ['pending', '0'],
  ]);
  receiver.answer = (response) => void response.writeHead(204).end();
  passedMs += 60_000;
  await quiet.restart();
  await expect.poll(() => receivedAt('killed').length, { timeout: patience(10_000) }).toBe(3);
  const events = (await quiet.sql(
    `select id from catalog.user_audit_log where event_type = 'create_role' order by created_at, id`,
  )) as { id: string }[];
  const [first, second] = events.map(({ id }) => id);
  const came = receivedAt('killed').map(({ headers }) => headers['x-service-event-id']);
  expect(came[0]).toBe(first);
  expect(new Set(came.slice(1))).toEqual(new Set([first, second]));
  expect(receivedAt('killed')[0]?.body).toBe(
    receivedAt('killed')
      .slice(1)
      .find(({ headers }) => headers['x-service-event-id'] === first)?.body,
  );
});
