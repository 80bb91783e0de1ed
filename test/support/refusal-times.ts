import { must } from '#shared/must.ts';
import { startTestCatalog, type TestCatalog } from './catalog.ts';
import { PageVisitor } from './page-visitor.ts';
import { PASSWORD, statementRunner } from './run-statements.ts';

/** Sign-ins that the page refuses; each takes a hash. */
export const REFUSALS = {
  'wrong password': { username: 'plain' },
  'nobody has the name': { username: 'nobody' },
  'locked, right password': { username: 'locked', password: PASSWORD },
  'with a factor, wrong password': { username: 'factored' },
  'locked, wrong password': { username: 'locked' },
  'suspended, right password': { username: 'suspended', password: PASSWORD },
  'invited, without a password': { username: 'invited' },
} as const satisfies Readonly<Record<string, { readonly username: string; readonly password?: string }>>;

type Refusal = keyof typeof REFUSALS;
const WRONG = 'Wrong-Horse-9';
const WARM_UP = 2;

/** A catalog that has these users, and believes a client’s address. */
export async function startRefusingCatalog(): Promise<TestCatalog> {
  const settings = { 'catalog.trusted_proxies': ['127.0.0.1', '::1'], 'principal.lock_after': 1_000 };
  const catalog = await startTestCatalog(settings);
  const { createUser, run } = statementRunner(catalog);
  for (const name of ['plain', 'locked', 'suspended', 'factored']) await createUser(name);
  await createUser('invited', { password: undefined });
  await run('admin', { kind: 'set_user_state', name: 'suspended', to: 'SUSPEND' });
  const of = (name: string): string => `from catalog.principal where username = '${name}'`;
  await catalog.sql(`insert into catalog.principal_sign_in (principal_id, login_failures, locked_until)
      select id, 5, now() + interval '1 day' ${of('locked')};
    insert into catalog.authenticator (principal_id, secret_sealed, used_step, created_at) select id, 'x', 0, now() ${of('factored')}`);
  return catalog;
}

export type RefusalTimes = {
  /** The middle time of each, in milliseconds. */
  readonly medians: Readonly<Partial<Record<Refusal, number>>>;
  /** The share by which the slowest median is above the quickest. */
  readonly apart: number;
  readonly hashMs: number;
};

/** The share by which medians may be apart, in one of some tries. */
export const APART_MAX = 0.1;
const TRIES = 3;

/** The first of some measurements whose medians are near to each other, else the last. @throws as `refusalTimes` */
export async function nearestTimes(measure: () => Promise<RefusalTimes>): Promise<RefusalTimes> {
  let times = await measure();
  for (let tried = 1; tried < TRIES && times.apart > APART_MAX; tried += 1) times = await measure();
  return times;
}

/**
 * Shows each of some refusals, and computes a hash, `rounds` times in turns. Each request comes from an address of its own, so that no limit of
 * an address refuses it earlier. @throws when one is not refused as a wrong password is
 */
export async function refusalTimes(
  catalog: TestCatalog,
  {
    names,
    rounds,
    hash,
  }: { readonly names: readonly Refusal[]; readonly rounds: number; readonly hash: () => Promise<unknown> },
): Promise<RefusalTimes> {
  const visitor = new PageVisitor(catalog.running.url);
  const csrf = /name="_csrf" value="([^"]+)"/.exec((await visitor.get('/sign-in')).text)?.[1] ?? '';
  let addresses = 0;
  const show = async (name: Refusal): Promise<void> => {
    addresses += 1;
    const { status, text } = await visitor.post(
      '/sign-in',
      { _csrf: csrf, password: WRONG, ...REFUSALS[name] },
      { 'x-forwarded-for': `10.0.${addresses >> 8}.${addresses & 255}` },
    );
    if (status !== 403 || !text.includes('is wrong')) throw new Error(`${name}: ${status} ${text}`);
  };
  const works: readonly (readonly [string, () => Promise<unknown>])[] = [
    ['hash', hash],
    ...names.map((name) => [name, () => show(name)] as const),
  ];
  const times = new Map(works.map(([name]) => [name, [] as number[]]));
  for (let round = -WARM_UP; round < rounds; round += 1) {
    for (const [name, work] of works) {
      const beganMs = performance.now();
      await work();
      if (round >= 0) times.get(name)?.push(performance.now() - beganMs);
    }
  }
  const middle = (name: string): number =>
    must(times.get(name)?.toSorted((a, b) => a - b)[Math.floor(rounds / 2)], 'a time');
  const medians = Object.fromEntries(names.map((name) => [name, middle(name)]));
  const each = Object.values(medians);
  return { medians, apart: Math.max(...each) / Math.min(...each) - 1, hashMs: middle('hash') };
}
