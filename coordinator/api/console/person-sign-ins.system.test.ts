import { createHash } from 'node:crypto';
import type { Kysely } from 'kysely';
import { decodeJwt } from 'jose';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import type { Clock } from '#shared/clock.ts';
import { CONSOLE_CLIENT } from '#shared/config/sign-in-redirect.ts';
import { SkeinError } from '#shared/error.ts';
import { fixedKeyring } from '#shared/keyring.ts';
import { silentLogger } from '#shared/log/logger.ts';
import { startTestCatalog, type TestCatalog } from '#test/support/catalog.ts';
import { PageVisitor } from '#test/support/page-visitor.ts';
import { personCalls, type PersonCalls } from '../../catalog-client/person-calls.ts';
import { migrateHistory, openHistoryDatabase, type HistoryDatabase } from '../../history/history-database.ts';
import { PersonSignIns } from './person-sign-ins.ts';

/** People's sign-ins to the console, with the catalog and the database that they have in earnest, and two coordinators. */

const PASSWORD = 'Correct-Horse-9';
const REDIRECT = 'http://localhost:4712/console/signed-in';
const VERIFIER = 'v'.repeat(43);
const KEYRING = fixedKeyring('a secret of the coordinators');
let catalog: TestCatalog;
let database: Kysely<HistoryDatabase>;
let calls: PersonCalls;
let passedMs = 0;
const clock: Clock = { nowMs: () => Date.now() + passedMs, monotonicMs: () => performance.now() + passedMs };
let people: PersonSignIns;
let others: PersonSignIns;

beforeAll(async () => {
  catalog = await startTestCatalog({ 'catalog.sign_in_redirects': [`${CONSOLE_CLIENT}=${REDIRECT}`] }, clock);
  const statement = { kind: 'create_user', name: 'ann', ifNotExists: false, email: 'a@b.example', password: PASSWORD };
  await catalog.call('RunPrincipalStatement', {
    principal: catalog.principal(),
    statement: Buffer.from(JSON.stringify(statement)),
  });
  database = openHistoryDatabase({ url: catalog.databaseUrl, poolMax: 4, log: silentLogger });
  await migrateHistory(database);
  calls = personCalls((method, request) => catalog.call(method, request as object));
});
beforeEach(() => {
  people = signIns();
  others = signIns();
});
afterAll(async () => {
  await database.destroy();
  await catalog[Symbol.asyncDispose]();
});

const signIns = (more: Partial<PersonCalls> = {}): PersonSignIns =>
  new PersonSignIns({ database, catalog: { ...calls, ...more }, keyring: KEYRING, nowMs: () => clock.nowMs() });

/** The code of a new browser. */
async function newCode(): Promise<string> {
  const visitor = new PageVisitor(catalog.running.url);
  const signedIn = await visitor.submit('/sign-in', { username: 'ann', password: PASSWORD });
  // The form may lead to the console, which needs no further click.
  expect(signedIn.headers.get('content-security-policy')).toContain("form-action 'self' http://localhost:4712");
  const query = new URLSearchParams({
    response_type: 'code',
    client_id: CONSOLE_CLIENT,
    redirect_uri: REDIRECT,
    code_challenge: createHash('sha256').update(VERIFIER).digest('base64url'),
    code_challenge_method: 'S256',
    state: 'state',
  });
  const { headers } = await visitor.get(`/oauth/authorize?${query.toString()}`);
  return new URL(headers.get('location') ?? '').searchParams.get('code') ?? '';
}
const shown = (code: string) => ({ code, redirectUri: REDIRECT, verifier: VERIFIER, address: '127.0.0.1', agent: 'x' });
const begin = async (): Promise<string> => (await people.begin(shown(await newCode()))).id;
const codeOf = (asked: Promise<unknown>): Promise<string> =>
  asked.then(
    () => 'none',
    (thrown: unknown) => SkeinError.of(thrown).code,
  );
const isOpen = async (token: string): Promise<boolean> =>
  (await catalog.rest('GET', '/v1/catalogs', { token })).status === 200;
/** Beyond the time in which a token is renewed. */
const later = (): void => void (passedMs += 3_500_000);

test('a code begins a sign-in, whose tokens are nowhere in the clear', async () => {
  const id = await begin();
  const token = await people.tokenOf(id);
  expect(decodeJwt(token)).toMatchObject({ preferred_username: 'ann', auth_method: 'password', amr: ['pwd'] });
  expect(await isOpen(token)).toBe(true);
  const rows = await catalog.sql('select sealed from coordinator.console_sign_ins');
  expect(JSON.stringify(rows)).not.toMatch(/skein_prt_|eyJ/);
  // Any coordinator of the cluster serves it, one of another cluster does not.
  expect(await others.tokenOf(id)).toBe(token);
  const keyring = fixedKeyring('another secret');
  const foreign = new PersonSignIns({ database, catalog: calls, keyring, nowMs: () => clock.nowMs() });
  expect(await codeOf(foreign.tokenOf(await begin()))).toBe('UNAUTHENTICATED');
});

test('windows and coordinators that renew at once show a refresh token once', async () => {
  const id = await begin();
  const first = await people.tokenOf(id);
  for (let round = 0; round < 3; round += 1) {
    later();
    const tokens = await Promise.all(Array.from({ length: 12 }, (_, i) => (i % 2 ? people : others).tokenOf(id)));
    expect(new Set(tokens).size).toBe(1);
    expect(tokens[0]).not.toBe(first);
    expect(await isOpen(tokens[0] ?? '')).toBe(true);
  }
});

test('sign-out ends it everywhere, with its tokens', async () => {
  const id = await begin();
  const token = await others.tokenOf(id);
  await people.end(id);
  await expect.poll(() => isOpen(token)).toBe(false);
  expect(await codeOf(people.tokenOf(id))).toBe('UNAUTHENTICATED');
  later();
  expect(await codeOf(others.tokenOf(id))).toBe('UNAUTHENTICATED');
  await people.end(id);
});

test('it ends when the session epoch rises, and with the time of its sign-in', async () => {
  const id = await begin();
  await catalog.sql("update catalog.principal set session_epoch = session_epoch + 1 where username = 'ann'");
  later();
  expect(await codeOf(people.tokenOf(id))).toBe('UNAUTHENTICATED');
  const late = await begin();
  passedMs += 8 * 86_400_000;
  expect(await codeOf(people.tokenOf(late))).toBe('UNAUTHENTICATED');
});

test('a code that comes again ends the sign-in that it began', async () => {
  const code = await newCode();
  const { id } = await people.begin(shown(code));
  expect(await codeOf(people.begin(shown(code)))).toBe('UNAUTHENTICATED');
  later();
  expect(await codeOf(people.tokenOf(id))).toBe('UNAUTHENTICATED');
});

test('while the catalog is away, the token that is there goes on until its end', async () => {
  const id = await begin();
  const token = await people.tokenOf(id);
  const away = signIns({
    renewSignIn: () => Promise.reject(new SkeinError('CATALOG_UNAVAILABLE', 'the catalog does not answer')),
  });
  passedMs += 3_000_000;
  expect(await away.tokenOf(id)).toBe(token);
  passedMs += 700_000;
  expect(await codeOf(away.tokenOf(id))).toBe('CATALOG_UNAVAILABLE');
  expect(await isOpen(await people.tokenOf(id))).toBe(true);
});
