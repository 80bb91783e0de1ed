import fc from 'fast-check';
import { generateSync } from 'otplib';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { startCatalog } from '#catalog/main.ts';
import type { Clock } from '#shared/clock.ts';
import { silentLogger } from '#shared/log/logger.ts';
import type { PrincipalAnswer, PrincipalRequest } from '#shared/principal/principal-request.ts';
import { startTestCatalog, type TestCatalog } from '#test/support/catalog.ts';
import { cheapen } from '#test/support/cheap-password.ts';
import { PageVisitor } from '#test/support/page-visitor.ts';
import { statementRunner } from '#test/support/run-statements.ts';

const PASSWORD = 'Correct-Horse-9';
const ADMIN = { username: 'admin', password: 'a password that is not generated' };
const WRONG = 'The user, the password or the code is wrong.';
let catalog: TestCatalog;
let passedMs = 0;
const clock: Clock = { nowMs: () => Date.now() + passedMs, monotonicMs: () => performance.now() + passedMs };
let visitor: PageVisitor;

beforeAll(async () => {
  catalog = await startTestCatalog({}, clock);
});
beforeEach(() => {
  // Wrong codes of the test before refuse nobody, and each test has codes of its own.
  passedMs += 120_000;
  visitor = new PageVisitor(catalog.running.url);
});
afterAll(() => catalog[Symbol.asyncDispose]());

const run = (user: string, statement: PrincipalRequest): Promise<PrincipalAnswer> =>
  statementRunner(catalog).run(user, statement);
async function create(name: string): Promise<void> {
  await run('admin', {
    kind: 'create_user',
    name,
    ifNotExists: false,
    email: `${name}@example.org`,
    password: PASSWORD,
  });
  await cheapen(catalog, PASSWORD, name);
}
const signIn = (who: PageVisitor, username: string, password = PASSWORD) =>
  who.submit('/sign-in', { username, password });
const heading = async (who: PageVisitor, path = '/sign-in'): Promise<string> => {
  const { status, headers, text } = await who.get(path);
  return status === 200 ? (/<h1>(.*?)</.exec(text)?.[1] ?? '') : (headers.get('location') ?? '');
};
const codeOf = (secret: string, laterMs = 0): string =>
  generateSync({ secret, epoch: Math.floor((clock.nowMs() + laterMs) / 1_000) });
const secretIn = (text: string): string => /<code>([A-Z2-7 ]+)<\/code>/.exec(text)?.[1]?.replaceAll(' ', '') ?? '';
const codesIn = (text: string): readonly string[] =>
  [...text.matchAll(/<code>([a-z2-7-]{19})<\/code>/g)].map(([, code = '']) => code);
const show = (who: PageVisitor, fields: Readonly<Record<string, string>>) =>
  who.submit('/sign-in', fields, { action: '/sign-in/factor' });

/** Sets up an authenticator of one who is asked to. */
async function setUp(who: PageVisitor): Promise<{ readonly secret: string; readonly codes: readonly string[] }> {
  const secret = secretIn((await who.get('/sign-in')).text);
  const { text } = await who.submit('/sign-in', { code: codeOf(secret) }, { action: '/sign-in/authenticator' });
  return { secret, codes: codesIn(text) };
}

/** A user who has an authenticator, set up two minutes ago. */
async function withFactor(name: string): Promise<{ readonly secret: string; readonly codes: readonly string[] }> {
  await create(name);
  await catalog.sql(`update catalog.tenant set mfa_required = 'everyone'`);
  const who = new PageVisitor(catalog.running.url);
  await signIn(who, name);
  const made = await setUp(who);
  await catalog.sql(`update catalog.tenant set mfa_required = 'administrators'`);
  passedMs += 120_000;
  return made;
}
const eventsOf = async (name: string): Promise<readonly unknown[]> =>
  (
    await catalog.sql(`select event_type as event from catalog.user_audit_log where target_name = '${name}'
      order by created_at, id`)
  ).map((row) => (row as { event: unknown }).event);

describe('an administrator', () => {
  test('sets up a factor at his first sign-in, and gets nowhere before', async () => {
    await signIn(visitor, ADMIN.username, ADMIN.password);
    expect(await heading(visitor)).toBe('Set up a second factor');
    expect(await heading(visitor, '/account')).toBe('/sign-in');
    const { text } = await visitor.get('/sign-in');
    expect(text).toContain('src="data:image/png;base64,');
    const secret = secretIn(text);
    // 160 bits, and the same while the step lasts.
    expect(secret).toMatch(/^[A-Z2-7]{32}$/);
    expect(secretIn((await visitor.get('/sign-in')).text)).toBe(secret);
    const wrong = await visitor.submit('/sign-in', { code: '000000' }, { action: '/sign-in/authenticator' });
    expect([wrong.status, wrong.text.includes(WRONG)]).toEqual([403, true]);
    const first = new Map(visitor.cookies);
    const { codes } = await setUp(visitor);
    expect(new Set(codes).size).toBe(10);
    expect(await heading(visitor, '/account')).toBe('Your account');
    // The cookie of the step before opens nothing.
    const late = new PageVisitor(catalog.running.url);
    for (const [key, value] of first) late.cookies.set(key, value);
    expect(await heading(late)).toBe('Sign in');
    expect(await eventsOf('admin')).toEqual(expect.arrayContaining(['add_factor', 'sign_in']));
    await catalog.sql('delete from catalog.authenticator; delete from catalog.principal_sign_in');
  });

  test('of the first start gets in by password from this machine alone, until he has one', async () => {
    const door = (address: string): Promise<string> =>
      catalog.call('SignIn', { user: 'admin', password: ADMIN.password, tenant: '', address }).then(
        () => 'in',
        (error: unknown) => (error as { code: string }).code,
      );
    expect([await door('127.0.0.1'), await door('10.0.0.1')]).toEqual(['in', 'FACTOR_REQUIRED']);
    await signIn(visitor, ADMIN.username, ADMIN.password);
    await setUp(visitor);
    expect(await door('127.0.0.1')).toBe('FACTOR_REQUIRED');
    await catalog.sql('delete from catalog.authenticator');
  });
});

describe('one who has a factor', () => {
  test('shows it after his password, each code once', async () => {
    const { secret } = await withFactor('ann');
    await signIn(visitor, 'ann');
    expect(await heading(visitor)).toBe('Show your second factor');
    expect(await heading(visitor, '/account')).toBe('/sign-in');
    const code = codeOf(secret);
    expect((await show(visitor, { code: `${code.slice(0, 3)} ${code.slice(3)}` })).status).toBe(303);
    expect(await heading(visitor, '/account')).toBe('Your account');
    const [row] = await catalog.sql(`select amr from catalog.browser_sign_in where step = 'done'
      and principal_id = (select id from catalog.principal where username = 'ann')`);
    expect(row).toEqual({ amr: ['pwd', 'otp', 'mfa'] });
    const other = new PageVisitor(catalog.running.url);
    await signIn(other, 'ann');
    const { status, text } = await show(other, { code });
    expect([status, text.includes(WRONG)]).toEqual([403, true]);
    // The code before it is over, too.
    expect((await show(other, { code: codeOf(secret, -30_000) })).status).toBe(403);
    expect((await show(other, { code: codeOf(secret, 30_000) })).status).toBe(303);
  });

  test('of one code that many browsers show at once one passes', async () => {
    const { secret } = await withFactor('bea');
    const many: { readonly who: PageVisitor; readonly _csrf: string }[] = [];
    for (let i = 0; i < 4; i += 1) {
      const who = new PageVisitor(catalog.running.url);
      expect((await signIn(who, 'bea')).status).toBe(303);
      const { text } = await who.get('/sign-in');
      many.push({ who, _csrf: /name="_csrf" value="([^"]+)"/.exec(text)?.[1] ?? '' });
    }
    const code = codeOf(secret);
    const answers = await Promise.all(many.map(({ who, _csrf }) => who.post('/sign-in/factor', { _csrf, code })));
    expect(answers.filter(({ status }) => status === 303)).toHaveLength(1);
    const pages = await Promise.all(many.map(({ who }) => heading(who, '/account')));
    expect(pages.toSorted()).toEqual(['/sign-in', '/sign-in', '/sign-in', 'Your account']);
  });

  test('guesses are counted across fresh passwords: the sixth right password and the right code open nothing', async () => {
    const { secret } = await withFactor('cat');
    for (let i = 0; i < 5; i += 1) {
      const who = new PageVisitor(catalog.running.url);
      expect((await signIn(who, 'cat')).status).toBe(303);
      expect((await show(who, { code: String(100_000 + i) })).status).toBe(403);
    }
    expect(await eventsOf('cat')).toContain('lock_user');
    passedMs += 61_000;
    const { status, text } = await signIn(visitor, 'cat');
    expect([status, text.includes(WRONG)]).toEqual([403, true]);
    passedMs += 15 * 60_000;
    await signIn(visitor, 'cat');
    expect((await show(visitor, { code: codeOf(secret) })).status).toBe(303);
  });

  test('a recovery code works once, and asks for a new factor', async () => {
    const { secret, codes } = await withFactor('dan');
    const [code = ''] = codes;
    await signIn(visitor, 'dan');
    expect((await show(visitor, { recovery_code: code.toUpperCase().replaceAll('-', ' ') })).status).toBe(303);
    expect(await heading(visitor)).toBe('Set up a second factor');
    expect(await heading(visitor, '/account')).toBe('/sign-in');
    const other = new PageVisitor(catalog.running.url);
    await signIn(other, 'dan');
    expect((await show(other, { recovery_code: code })).status).toBe(403);
    const made = await setUp(visitor);
    expect(await heading(visitor, '/account')).toBe('Your account');
    passedMs += 61_000;
    // The old authenticator and the old codes are gone.
    const later = new PageVisitor(catalog.running.url);
    await signIn(later, 'dan');
    expect((await show(later, { code: codeOf(secret) })).status).toBe(403);
    expect((await show(later, { recovery_code: codes[1] ?? '' })).status).toBe(403);
    expect((await show(later, { code: codeOf(made.secret) })).status).toBe(303);
    expect(await eventsOf('dan')).toContain('use_recovery_code');
  });

  test('no door takes the password alone, nor says more of a wrong one', async () => {
    await withFactor('eve');
    const door = (password: string): Promise<string> =>
      catalog.call('SignIn', { user: 'eve', password, tenant: '', address: '127.0.0.1' }).then(
        () => 'in',
        (error: unknown) => (error as { code: string }).code,
      );
    expect([await door(PASSWORD), await door('wrong')]).toEqual(['FACTOR_REQUIRED', 'WRONG_PASSWORD']);
  });

  test('a secret is sealed, and bound to the browser that has begun it until it has shown a code', async () => {
    await create('fay');
    await catalog.sql(`update catalog.tenant set mfa_required = 'everyone'`);
    await signIn(visitor, 'fay');
    const other = new PageVisitor(catalog.running.url);
    await signIn(other, 'fay');
    const [mine, theirs] = [
      secretIn((await visitor.get('/sign-in')).text),
      secretIn((await other.get('/sign-in')).text),
    ];
    expect(mine).not.toBe(theirs);
    const rows = await catalog.sql('select * from catalog.authenticator_enrolment');
    expect(JSON.stringify(rows)).not.toContain(theirs);
    // The later one has ended the one before.
    const early = await visitor.submit('/account', { code: codeOf(mine) }, { action: '/sign-in/authenticator' });
    expect(early.status).toBe(403);
    passedMs += 600_001;
    await catalog.sql(`update catalog.browser_sign_in set ends_at = ends_at + interval '1 hour'`);
    const late = await other.submit('/sign-out', { code: codeOf(theirs) }, { action: '/sign-in/authenticator' });
    expect(late.status).toBe(403);
    await catalog.sql(`update catalog.tenant set mfa_required = 'administrators'`);
  });
});

describe('sign-ins of two browsers at two catalogs', () => {
  /** A sign-in as the model knows it; browsers with the same cookie share one. */
  type Session = { step: 'factor' | 'done' | 'over'; readonly untilMs: number };
  type Person = { cookies: ReadonlyMap<string, string>; session: Session | undefined };
  const KIND = fc.constantFrom(
    'password',
    'wrong password',
    'code',
    'used code',
    'wrong code',
    'wait',
    'take the cookies of the other' as const,
  );
  const EVENT = fc.record({ kind: KIND, who: fc.nat({ max: 1 }), at: fc.nat({ max: 1 }) });
  type Turn = typeof EVENT extends fc.Arbitrary<infer One> ? One : never;
  const SHOWN = { 'wrong code': '000000', 'wrong password': 'Wrong-Horse-9' } as const;
  const stepOf = ({ session }: Person): 'password' | 'factor' | 'done' =>
    session === undefined || session.step === 'over' || clock.nowMs() >= session.untilMs ? 'password' : session.step;
  const over = ({ session }: Person): void => {
    if (session !== undefined) session.step = 'over';
  };
  const begun = (step: 'factor' | 'done'): Session => ({
    step,
    untilMs: clock.nowMs() + (step === 'done' ? 43_200_000 : 600_000),
  });

  test('any order of steps, twice, late and with the cookies of another, leads where the model says', async () => {
    const { secret } = await withFactor('model');
    const second = await startCatalog(catalog.config, silentLogger, clock);
    const urls = [catalog.running.url, second.url] as const;
    let used = '';
    const one = async (people: readonly [Person, Person], event: Turn): Promise<void> => {
      const own = people[event.who === 0 ? 0 : 1];
      const other = people[event.who === 0 ? 1 : 0];
      const browser = new PageVisitor(urls[event.at === 0 ? 0 : 1]);
      // Each event has a code of its own, and its failures refuse nobody.
      passedMs += 31_000;
      await catalog.sql('delete from catalog.principal_sign_in');
      for (const [key, value] of own.cookies) browser.cookies.set(key, value);
      const step = stepOf(own);
      switch (event.kind) {
        case 'wait':
          passedMs += 600_000;
          break;
        case 'take the cookies of the other':
          own.session = other.session;
          browser.cookies.clear();
          for (const [key, value] of other.cookies) browser.cookies.set(key, value);
          break;
        case 'password':
          expect((await signIn(browser, 'model')).status).toBe(303);
          over(own);
          own.session = begun('factor');
          break;
        case 'wrong password':
          expect((await signIn(browser, 'model', SHOWN[event.kind])).status).toBe(403);
          break;
        case 'code':
        case 'used code':
        case 'wrong code': {
          const code = event.kind === 'code' ? codeOf(secret) : event.kind === 'used code' ? used : SHOWN[event.kind];
          const isRight = event.kind === 'code';
          expect([event, (await show(browser, { code })).status]).toEqual([
            event,
            isRight || step !== 'factor' ? 303 : 403,
          ]);
          if (!isRight || step !== 'factor') break;
          used = code;
          over(own);
          own.session = begun('done');
        }
      }
      own.cookies = browser.cookies;
      for (const person of people) {
        const looking = new PageVisitor(browser.origin);
        for (const [key, value] of person.cookies) looking.cookies.set(key, value);
        const seen = [await heading(looking, '/account'), await heading(looking)];
        const expected = {
          password: ['/sign-in', 'Sign in'],
          factor: ['/sign-in', 'Show your second factor'],
          done: ['Your account', '/account'],
        }[stepOf(person)];
        expect([event, seen]).toEqual([event, expected]);
      }
    };
    await fc.assert(
      fc.asyncProperty(fc.array(EVENT, { minLength: 10, maxLength: 30 }), async (events) => {
        const people: [Person, Person] = [
          { cookies: new Map(), session: undefined },
          { cookies: new Map(), session: undefined },
        ];
        for (const event of events) await one(people, event);
      }),
      { numRuns: 2, endOnFailure: true },
    );
    await second.close();
  });
});
