import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { silentLogger } from '#shared/log/logger.ts';
import type { Lease } from '#shared/task/lease.ts';
import { CacheLeases, type LeaseMessage, type LeaseStore } from './cache-leases.ts';
import type { Holder } from './lease-holders.ts';

const LEASE_MS = 2_000;
const OTHER = { process: 'another', leaseMs: 3_000 };

let hears: boolean;
let others: (typeof OTHER)[];
let isBroken: boolean;
let registered: number;
let told: LeaseMessage[];
let leases: CacheLeases;

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
  [hears, others, isBroken, registered, told] = [true, [], false, 0, []];
  leases = new CacheLeases(store(), LEASE_MS, silentLogger);
});
afterEach(() => {
  vi.useRealTimers();
});

const store = (): LeaseStore => ({
  get hears() {
    return hears;
  },
  register: () => (isBroken ? Promise.reject(new Error('no connection')) : Promise.resolve(void (registered += 1))),
  remove: () => Promise.resolve(void (registered -= 1)),
  others: () => (isBroken ? Promise.reject(new Error('no connection')) : Promise.resolve(others)),
  notify: (message) => Promise.resolve(void told.push(message)),
});

/** A coordinator, and what it was told. */
async function holder(renewal = 1, of = leases): Promise<{ readonly holder: Holder; readonly leases: Lease[] }> {
  const given: Lease[] = [];
  const opened = of.open((lease) => given.push(lease));
  await of.renew(opened, { renewal, changes: 0 });
  return { holder: opened, leases: given };
}

/** Milliseconds that a change waits. */
async function settleMs(during: () => void = () => undefined): Promise<number> {
  const beganMs = performance.now();
  const settled = leases.settle().then(() => performance.now() - beganMs);
  await vi.advanceTimersByTimeAsync(1);
  during();
  await vi.advanceTimersByTimeAsync(20_000);
  return settled;
}

test('a lease is given for what is left of the registration, which is renewed when a quarter of it is over', async () => {
  const { holder: one, leases: given } = await holder();
  expect(given).toEqual([{ renewal: 1, changes: 1, validMs: LEASE_MS, answerMs: LEASE_MS }]);
  vi.advanceTimersByTime(400);
  await leases.renew(one, { renewal: 2, changes: 1 });
  expect(given.at(-1)).toMatchObject({ renewal: 2, validMs: LEASE_MS - 400 });
  vi.advanceTimersByTime(200);
  await leases.renew(one, { renewal: 3, changes: 1 });
  expect(given.at(-1)).toMatchObject({ renewal: 3, validMs: LEASE_MS });
  expect(registered).toBe(2);
});

test('after a time without registration, what was asked before it counts no more', async () => {
  const { holder: one, leases: given } = await holder();
  vi.advanceTimersByTime(LEASE_MS + 1);
  await leases.renew(one, { renewal: 2, changes: 1 });
  expect(given.at(-1)).toMatchObject({ renewal: 2, changes: 2, validMs: LEASE_MS });
});

test.each([
  ['a process that hears nothing of the others', () => (hears = false)],
  ['a process that cannot register', () => (isBroken = true)],
])('%s gives no time', async (_what, when) => {
  when();
  expect((await holder()).leases).toEqual([{ renewal: 1, changes: 0, validMs: 0, answerMs: LEASE_MS }]);
});

test('with cache_lease = 0 nobody gets one', async () => {
  const none = new CacheLeases(store(), 0, silentLogger);
  expect((await holder(1, none)).leases).toMatchObject([{ validMs: 0, answerMs: 0 }]);
  expect(registered).toBe(0);
});

test('a change waits until every coordinator has seen it', async () => {
  const [a, b] = [await holder(), await holder()];
  expect(
    await settleMs(() => {
      void leases.renew(a.holder, { renewal: 0, changes: 2 });
      void leases.renew(b.holder, { renewal: 0, changes: 2 });
    }),
  ).toBe(1);
  expect(a.leases.at(-1)).toMatchObject({ renewal: 0, changes: 2, validMs: 0 });
});

test('it waits for one that is silent, or whose stream broke, until its lease ends, and then no more', async () => {
  await holder();
  const { holder: broken } = await holder();
  leases.lose(broken);
  expect(await settleMs()).toBeGreaterThanOrEqual(LEASE_MS - 1);
  expect(await settleMs()).toBeLessThan(2);
});

test('it does not wait for one that has given its lease back', async () => {
  const { holder: one } = await holder();
  leases.release(one);
  expect(await settleMs()).toBeLessThan(2);
});

test('it waits for the other processes, until they say that their coordinators know or must ask again', async () => {
  others = [OTHER];
  const seen = (): void => {
    const { number = 0, from = '' } = told.at(-1) ?? {};
    leases.heard({ kind: 'seen', from: OTHER.process, number, to: from });
  };
  expect(await settleMs(seen)).toBe(1);
  expect(await settleMs()).toBeGreaterThanOrEqual(OTHER.leaseMs);
});

test('what another process has changed is answered when the own coordinators know', async () => {
  const { holder: one } = await holder();
  leases.heard({ kind: 'changed', from: OTHER.process, number: 7 });
  await vi.advanceTimersByTimeAsync(50);
  expect(told).toEqual([]);
  await leases.renew(one, { renewal: 0, changes: 2 });
  await vi.advanceTimersByTimeAsync(1);
  expect(told).toMatchObject([{ kind: 'seen', number: 7, to: OTHER.process }]);
});

test('a process that ends waits until nobody relies on what it gave, also not on what is left of a lease', async () => {
  const { holder: one, leases: given } = await holder();
  let isClosed = false;
  const closed = leases.close().then(() => (isClosed = true));
  await vi.advanceTimersByTimeAsync(10);
  expect(isClosed).toBe(false);
  await leases.renew(one, { renewal: 2, changes: 2 });
  await closed;
  expect(given.slice(1)).toMatchObject([
    { renewal: 0, changes: 2, answerMs: 0 },
    { renewal: 2, answerMs: 0 },
  ]);
  expect(registered).toBe(0);
});

test('a process that ends does not wait long for a coordinator that is silent, and others go on to wait for it', async () => {
  await holder();
  const beganMs = performance.now();
  const closed = leases.close().then(() => performance.now() - beganMs);
  await vi.advanceTimersByTimeAsync(LEASE_MS);
  expect(await closed).toBeLessThan(LEASE_MS / 2);
  expect(registered).toBe(1);
});

test('while the other processes cannot be found out, a change waits for the longest lease that there may be', async () => {
  isBroken = true;
  expect(await settleMs()).toBeGreaterThanOrEqual(10_000);
});
