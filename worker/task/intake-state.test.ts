import fc from 'fast-check';
import { expect, test } from 'vitest';
import { nextIntake, refusal, type IntakeEvent, type IntakeState } from './intake-state.ts';

const OPEN: IntakeState = { kind: 'open' };
const event = fc.record({ kind: fc.constantFrom('drain', 'taskGone'), held: fc.nat(3) }) as fc.Arbitrary<IntakeEvent>;

test('a drain is never taken back, and ends with the last task', () => {
  fc.assert(
    fc.property(fc.array(event), (events) => {
      const end = events.reduce(nextIntake, OPEN);
      const from = events.findIndex(({ kind }) => kind === 'drain');
      const isDrained = from >= 0 && events.slice(from).some(({ held }) => held === 0);
      expect(end.kind).toBe(from < 0 ? 'open' : isDrained ? 'drained' : 'draining');
    }),
  );
});

test('a worker refuses a task while it drains, or has too many', () => {
  const load = { active: 0, activeMax: 2, held: 0 };
  expect(refusal(OPEN, load)).toBeUndefined();
  expect(refusal(OPEN, { ...load, active: 2 })).toMatchObject({ code: 'QUEUE_FULL' });
  expect(refusal(OPEN, { ...load, held: 100_000 })).toMatchObject({ code: 'QUEUE_FULL' });
  expect(refusal({ kind: 'draining' }, { ...load, active: 2 })).toMatchObject({ code: 'WORKER_DRAINING' });
});
