import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import type { Lease, LeaseRequest } from '#shared/task/lease.ts';
import { AnswerLease, type AskedAt } from './answer-lease.ts';

const LEASE_MS = 2_000;

let lease: AnswerLease;
let sent: LeaseRequest[];
let opened: number;
let tell: (lease: Lease) => void;
let breakWire: () => void;
let isGivenBack: boolean;

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['performance'] });
  [sent, opened, isGivenBack] = [[], 0, false];
  lease = new AnswerLease((on) => {
    opened += 1;
    [tell, breakWire] = [on.lease, on.broken];
    return { send: (request) => void sent.push(request), end: () => void (isGivenBack = true) };
  });
});
afterEach(() => {
  vi.useRealTimers();
});

const given = (renewal: number, changes = 1): Lease => ({ renewal, changes, validMs: LEASE_MS, answerMs: LEASE_MS });
const changed = (changes: number): Lease => ({ renewal: 0, changes, validMs: 0, answerMs: LEASE_MS });
/** Begins a lease and asks a question under it. */
function ask(): AskedAt | null {
  lease.holds(null);
  tell(given(1));
  return lease.askedAt();
}

test('nothing is held before the first lease, which the first use asks for', () => {
  expect(lease.askedAt()).toBeNull();
  expect(sent).toEqual([]);
  expect(lease.holds(null)).toBe(false);
  expect(sent).toEqual([{ renewal: 1, changes: 0 }]);
});

test('an answer holds for its time, by a margin', () => {
  const asked = ask();
  expect(lease.holds(asked)).toBe(true);
  vi.advanceTimersByTime(LEASE_MS * 0.7);
  expect(lease.holds(asked)).toBe(true);
  tell(given(2));
  vi.advanceTimersByTime(LEASE_MS * 0.27);
  // The lease goes on, the answer is too old.
  expect(lease.askedAt()).not.toBeNull();
  expect(lease.holds(asked)).toBe(false);
});

test('the lease runs from when it was asked for, and is asked for again when half of it is over', () => {
  lease.holds(null);
  vi.advanceTimersByTime(LEASE_MS / 2);
  tell(given(1));
  const asked = lease.askedAt();
  vi.advanceTimersByTime(LEASE_MS * 0.46);
  expect(lease.holds(asked)).toBe(false);
  expect(sent.map(({ renewal }) => renewal)).toEqual([1, 0, 2]);
});

test('the answer to an earlier request gives no time', () => {
  lease.holds(null);
  vi.advanceTimersByTime(LEASE_MS);
  lease.holds(null);
  tell(given(1));
  expect(lease.askedAt()).toBeNull();
  tell(given(2));
  expect(lease.askedAt()).not.toBeNull();
});

test('a change ends what was asked before it, and is confirmed', () => {
  const asked = ask();
  tell(changed(2));
  expect(lease.holds(asked)).toBe(false);
  expect(sent.slice(-1)).toEqual([{ renewal: 0, changes: 2 }]);
  const next = lease.askedAt();
  // One that was overtaken.
  tell(changed(1));
  expect(lease.holds(next)).toBe(true);
});

test('a catalog that ends takes its lease back', () => {
  ask();
  tell({ ...changed(2), answerMs: 0 });
  expect(lease.holds(lease.askedAt())).toBe(false);
  // An earlier lease that was overtaken.
  tell(given(1));
  expect(lease.holds(lease.askedAt())).toBe(false);
});

test('a break ends all, and another stream begins with the next use, though not at once', () => {
  const asked = ask();
  breakWire();
  expect(lease.askedAt()).toBeNull();
  expect(lease.holds(asked)).toBe(false);
  expect(opened).toBe(1);
  vi.advanceTimersByTime(200);
  expect(lease.holds(asked)).toBe(false);
  expect(opened).toBe(2);
  // Another process may have counted as far.
  tell(given(2, 1));
  expect(lease.holds(asked)).toBe(false);
});

test('what comes on a stream that was given up is not heard', () => {
  ask();
  const tellOnFirst = tell;
  breakWire();
  tellOnFirst(given(1));
  expect(lease.askedAt()).toBeNull();
});

test('it is given back at the end', () => {
  const asked = ask();
  lease.close();
  expect(isGivenBack).toBe(true);
  expect(lease.holds(asked)).toBe(false);
});
