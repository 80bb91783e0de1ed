import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { must } from '#shared/must.ts';
import { startTestCatalog, type TestCatalog } from '#test/support/catalog.ts';
import { startOutsideIssuer, type OutsideIssuer } from '#test/support/outside-issuer.ts';
import { patience } from '#test/support/run/slowness.ts';
import { statementRunner } from '#test/support/run-statements.ts';

/** A provider that sends ten thousand users for the first time, and then asks for pages of a hundred thousand. */
const FIRST = 10_000;
const ALL = 100_000;
/** As many as Entra sends at once. */
const AT_ONCE = 4;
const SYNC_MS_MAX = 300_000;
const PAGE_MS_MAX = 100;
const CALLS = 21;
let catalog: TestCatalog;
let issuer: OutsideIssuer;
let token: string;

beforeAll(async () => {
  issuer = await startOutsideIssuer();
  catalog = await startTestCatalog(issuer.settings);
  const { run } = statementRunner(catalog);
  await run('admin', {
    kind: 'create_provider',
    name: 'entra',
    ifNotExists: false,
    issuer: issuer.issuer,
    audiences: ['skein:default'],
    domains: ['example.com'],
  });
  const { rows } = await run('admin', { kind: 'create_token', name: 'sync', owner: null, scope: 'scim:entra' });
  token = rows[0]?.[1] ?? '';
});
afterAll(async () => {
  await catalog?.[Symbol.asyncDispose]();
  await issuer?.[Symbol.asyncDispose]();
});

/** A request; a provider that sends too many a minute waits for as long as it is told. */
async function scim(method: string, path: string, body?: object): Promise<Record<string, unknown>> {
  for (;;) {
    const answer = await fetch(`${catalog.running.url}/scim/v2${path}`, {
      method,
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/scim+json' },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const text = await answer.text();
    if (answer.status !== 429) {
      expect([answer.status < 300, text]).toEqual([true, text]);
      return JSON.parse(text) as Record<string, unknown>;
    }
    await sleep(Number(answer.headers.get('retry-after')) * 1_000);
  }
}

/** A user as Entra looks for him, and makes him. */
async function send(n: number): Promise<void> {
  const userName = `user${n}@example.com`;
  const filter = encodeURIComponent(`userName eq "${userName}"`);
  expect((await scim('GET', `/Users?filter=${filter}`))['totalResults']).toBe(0);
  await scim('POST', '/Users', {
    schemas: ['urn:ietf:params:scim:schemas:core:2.0:User'],
    userName,
    externalId: `id of ${n}`,
    displayName: `User ${n}`,
    emails: [{ primary: true, type: 'work', value: userName }],
    active: true,
  });
}

test('ten thousand users are there within five minutes', { timeout: patience(900_000) }, async () => {
  const beginMs = performance.now();
  let next = 0;
  const sender = async (): Promise<void> => {
    while (next < FIRST) {
      next += 1;
      await send(next);
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, sender));
  const tookMs = performance.now() - beginMs;
  console.info(JSON.stringify({ users: FIRST, tookMs }));
  expect((await scim('GET', '/Users?count=0'))['totalResults']).toBe(FIRST);
  expect(tookMs).toBeLessThan(patience(SYNC_MS_MAX));
});

test('a page of a hundred of them takes a tenth of a second, wherever it begins', { timeout: 300_000 }, async () => {
  await catalog.sql(`insert into catalog.principal (tenant_id, username, kind, roles, is_bootstrap_principal, status,
      identity_source, must_change_password, created_at, updated_at)
    select t.id, 'more' || n || '@example.com', 'USER', '{}', false, 'PROVISIONED', 'EXTERNAL', false, now(), now()
      from catalog.tenant t, generate_series(1, ${ALL - FIRST}) n`);
  await catalog.sql(`insert into catalog.scim_user (id, provider_id, principal_id, user_name, user_name_folded, external_id,
      emails_folded, resource, created_at, updated_at)
    select gen_random_uuid(), i.id, p.id, p.username, p.username, p.username, array[p.username],
        jsonb_build_object('displayName', p.username), now(), now()
      from catalog.identity_provider i, catalog.principal p where p.username like 'more%'`);
  const queries = {
    first: 'startIndex=1',
    middle: `startIndex=${ALL / 2}`,
    last: `startIndex=${ALL - 99}`,
    name: `filter=${encodeURIComponent('userName eq "user77@example.com"')}`,
    begins: `filter=${encodeURIComponent('userName sw "user1"')}`,
    email: `filter=${encodeURIComponent('emails eq "more77@example.com"')}`,
  };
  const middles: Record<string, number> = {};
  for (const [name, query] of Object.entries(queries)) {
    const times: number[] = [];
    for (let call = 0; call < CALLS; call += 1) {
      const beginMs = performance.now();
      const { Resources: found } = await scim('GET', `/Users?${query}&count=100`);
      times.push(performance.now() - beginMs);
      expect(found).toHaveLength(name === 'name' || name === 'email' ? 1 : 100);
    }
    middles[name] = Math.round(must(times.toSorted((a, b) => a - b)[Math.floor(CALLS / 2)], 'some calls'));
  }
  console.info(JSON.stringify(middles));
  expect(Object.entries(middles).filter(([, ms]) => ms > patience(PAGE_MS_MAX))).toEqual([]);
});
