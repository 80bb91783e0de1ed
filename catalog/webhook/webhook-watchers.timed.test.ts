import { afterAll, beforeAll, expect, test } from 'vitest';
import { must } from '#shared/must.ts';
import type { PrincipalRequest } from '#shared/principal/principal-request.ts';
import { startTestCatalog, type TestCatalog } from '#test/support/catalog.ts';
import { statementRunner, type StatementRunner } from '#test/support/run-statements.ts';

/** Other clients beside statements about the very many deliveries of one webhook. */
const DELIVERIES = 300_000;
/** Longest call of another client meanwhile; on a machine that has other work, so much of the time that RETRY takes there. */
const CALL_MS_MAX = 1_500;
const SHARE_MAX = 0.25;
let catalog: TestCatalog;
let user: StatementRunner;

beforeAll(async () => {
  // No delivery is sent while the test runs.
  catalog = await startTestCatalog({ 'webhook.interval': 3_600_000 });
  user = statementRunner(catalog);
  await catalog.call('CreateTenant', { name: 'rival', admin_user: 'eve', admin_password: 'A-long-enough-9' });
  for (const name of ['busy', 'quiet']) await user.run('admin', webhook(name));
  await catalog.sql(
    `insert into catalog.webhook_delivery (webhook_id, event_id, event_type, body, status, attempts, created_at)
     select w.id, gen_random_uuid(), 'drop_role', repeat('x', 300), 'failed', 3, now()
     from catalog.webhook w, generate_series(1, ${DELIVERIES}) where w.name = 'busy'`,
  );
  await catalog.sql('analyze catalog.webhook_delivery');
  await catalog.rest('POST', '/v1/lake/namespaces', { body: { namespace: ['watched'] } });
  const schema = { type: 'struct', fields: [{ id: 1, name: 'a', required: false, type: 'long' }] };
  const made = await catalog.rest('POST', '/v1/lake/namespaces/watched/tables', { body: { name: 't', schema } });
  expect(made.status).toBe(200);
}, 120_000);
afterAll(() => catalog?.[Symbol.asyncDispose]());

const webhook = (name: string): PrincipalRequest => ({
  kind: 'create_webhook',
  name,
  ifNotExists: false,
  url: 'https://hooks.example.org/',
  secret: 'a-key-of-nobody-at-all',
  events: ['nothing'],
});
const show = (name: string | null, after: string | null = null): PrincipalRequest => ({
  kind: 'show_webhook_deliveries',
  webhook: name,
  after,
  limit: 1_000,
});
/** A statement by a token of the other tenant. */
async function asRival(request: PrincipalRequest): Promise<number> {
  const token = await catalog.mint({ tenant: 'rival', user: 'eve' });
  const { answer } = await catalog.call<{ answer: Buffer }>('RunPrincipalStatement', {
    principal: catalog.principal(token),
    statement: Buffer.from(JSON.stringify(request)),
  });
  return (JSON.parse(answer.toString()) as { rows: unknown[] }).rows.length;
}

let made = 0;
/** Calls of others, each of which must be answered soon: of the same tenant and of another one, that read and that change. */
const CALLS: Readonly<Record<string, () => Promise<unknown>>> = {
  loadTable: async () => {
    const { status } = await catalog.rest('GET', '/v1/lake/namespaces/watched/tables/t');
    expect(status).toBe(200);
  },
  'SHOW ROLES': () => user.run('admin', { kind: 'show_roles' }),
  'CREATE ROLE': () => {
    made += 1;
    return user.run('admin', { kind: 'create_role', name: `watched_${made}`, ifNotExists: false });
  },
  'SHOW WEBHOOK DELIVERIES of a quiet webhook': () => user.run('admin', show('quiet')),
  'SHOW WEBHOOK DELIVERIES of another tenant': async () => expect(await asRival(show(null))).toBe(0),
};

/** Makes the calls, one of each kind at a time, until the work has ended. @returns how many of each there were, and the longest */
async function beside(work: Promise<unknown>): Promise<Readonly<Record<string, { count: number; longestMs: number }>>> {
  const state = { isDone: false };
  const ended = work.finally(() => (state.isDone = true));
  const found = Object.entries(CALLS).map(async ([name, call]) => {
    let [count, longestMs] = [0, 0];
    do {
      const beginMs = performance.now();
      await call();
      longestMs = Math.max(longestMs, performance.now() - beginMs);
      count += 1;
    } while (!state.isDone);
    return [name, { count, longestMs: Math.round(longestMs) }] as const;
  });
  await ended;
  return Object.fromEntries(await Promise.all(found));
}

test(
  'beside RETRY of 300,000 deliveries, and pages of all of them, nobody waits for these',
  { timeout: 180_000 },
  async () => {
    const beginMs = performance.now();
    const retry = async (): Promise<void> => {
      const { rows } = await user.run('admin', { kind: 'retry_webhook', name: 'busy', event: null });
      expect(rows).toEqual([[String(DELIVERIES)]]);
    };
    const besideRetry = await beside(retry());
    const retryMs = Math.round(performance.now() - beginMs);
    const pages = async (): Promise<void> => {
      let rows = 0;
      let after: string | null = null;
      for (let page = 0; page < 60; page += 1) {
        const answer = await user.run('admin', show('busy', after));
        rows += answer.rows.length;
        after = must(answer.next ?? undefined, 'there are more');
      }
      expect(rows).toBe(60_000);
    };
    const besidePages = await beside(pages());
    const mostMs = Math.max(CALL_MS_MAX, SHARE_MAX * retryMs);
    for (const found of [besideRetry, besidePages]) {
      for (const [name, { count, longestMs }] of Object.entries(found)) {
        expect([name, longestMs < mostMs, longestMs], `RETRY took ${retryMs} ms`).toEqual([name, true, longestMs]);
        expect(count).toBeGreaterThan(3);
      }
    }
    console.info(JSON.stringify({ retryMs, besideRetry, besidePages }));
  },
);
