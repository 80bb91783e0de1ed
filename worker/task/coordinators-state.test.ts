import fc from 'fast-check';
import { expect, test } from 'vitest';
import { NO_COORDINATORS, nextCoordinators, type CoordinatorsEvent } from './coordinators-state.ts';

const heard = (epoch: number, atMs: number): CoordinatorsEvent => ({ kind: 'heard', epoch, atMs });
const checked = (atMs: number): CoordinatorsEvent => ({ kind: 'checked', atMs, silenceMaxMs: 100 });

test('a coordinator is silent when it was not heard for the time, however many others were', () => {
  const state = [heard(1, 0), heard(2, 50), checked(100)].reduce(nextCoordinators, NO_COORDINATORS);
  expect([...state.heardMs.keys()]).toEqual([1, 2]);
  expect([...nextCoordinators(state, checked(101)).heardMs.keys()]).toEqual([2]);
});

test('the epoch never falls, and who was replaced is not heard', () => {
  const event = fc.record({ epoch: fc.nat(5), atMs: fc.nat(1_000) }).map(({ epoch, atMs }) => heard(epoch, atMs));
  fc.assert(
    fc.property(fc.array(event), (events) => {
      let state = NO_COORDINATORS;
      for (const one of events) {
        const now = nextCoordinators(state, one);
        expect(now.epoch).toBeGreaterThanOrEqual(state.epoch);
        if (one.kind === 'heard' && one.epoch < state.epoch) expect(now).toBe(state);
        state = now;
      }
      expect(state.epoch).toBe(Math.max(0, ...events.map((one) => (one.kind === 'heard' ? one.epoch : 0))));
    }),
  );
});

test('one that has handed over is heard beside the next one, until it falls silent; one that was replaced cannot hand over', () => {
  const handsOver: CoordinatorsEvent = { kind: 'heard', epoch: 1, atMs: 0, handsOver: true };
  const both = [handsOver, heard(2, 10), heard(1, 50)].reduce(nextCoordinators, NO_COORDINATORS);
  expect([both.epoch, [...both.heardMs]]).toEqual([
    2,
    [
      [1, 50],
      [2, 10],
    ],
  ]);
  const silent = [heard(2, 151), checked(151)].reduce(nextCoordinators, both);
  expect(nextCoordinators(silent, heard(1, 152))).toBe(silent);
  const replaced = nextCoordinators(NO_COORDINATORS, heard(2, 0));
  expect(nextCoordinators(replaced, handsOver)).toBe(replaced);
});
