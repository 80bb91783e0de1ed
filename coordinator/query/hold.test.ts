import { expect, test } from 'vitest';
import { FIRST_HOLD, nextHold, type HoldEvent } from './hold.ts';

const after = (...events: readonly HoldEvent[]) => events.reduce(nextHold, FIRST_HOLD);
const stop = { kind: 'stop', reason: 'cancelled' } as const;
const commit = { kind: 'commit' } as const;

test('a statement is stopped once, for its first reason', () => {
  const stopped = after(stop, { kind: 'stop', reason: 'timeout' });
  expect(stopped).toMatchObject({ kind: 'stopped', reason: 'cancelled' });
  expect(nextHold(stopped, commit)).toBe(stopped);
});

test('nothing stops one that commits, and no limit comes later', () => {
  expect(after({ kind: 'limit', limitMs: 5 }, commit, stop, { kind: 'limit', limitMs: 7 })).toEqual({
    kind: 'committing',
    limitMs: 5,
    endsLater: false,
  });
});

test('the last limit counts, until it is stopped', () => {
  expect(after({ kind: 'limit', limitMs: 5 }, { kind: 'limit', limitMs: Infinity }).limitMs).toBe(Infinity);
  expect(after({ kind: 'limit', limitMs: 5 }, stop, { kind: 'limit', limitMs: 7 }).limitMs).toBe(5);
});

test.each([[[]], [[stop]], [[commit]]])('after %j it may be answered before it ends', (events) => {
  const hold = after(...events);
  expect(nextHold(hold, { kind: 'answered' })).toEqual({ ...hold, endsLater: true });
});
