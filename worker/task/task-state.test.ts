import fc from 'fast-check';
import { expect, test } from 'vitest';
import { isActive, isLive, NEW_TASK, nextTask, type TaskEvent, type TaskState } from './task-state.ts';

const KINDS = ['called', 'answered', 'callerGone', 'started', 'left', 'stopped', 'done', 'freed'] as const;
const events = fc.array(
  fc.constantFrom(...KINDS).map((kind): TaskEvent => ({ kind })),
  { maxLength: 40 },
);
/** The order of the states: a task never goes back. `held` and `ending` both come after `running`, and neither follows the other. */
const ORDER = ['waiting', 'running', 'held', 'ending', 'freeing', 'gone'] as const;

const after = (...kinds: readonly TaskEvent['kind'][]): TaskState =>
  kinds.reduce<TaskState>((state, kind) => nextTask(state, { kind }), NEW_TASK);

/** Every state that a sequence passes through, the first included. */
function pathOf(sequence: readonly TaskEvent[]): readonly TaskState[] {
  const path = [NEW_TASK];
  for (const event of sequence) path.push(nextTask(path.at(-1) ?? NEW_TASK, event));
  return path;
}

test('under any sequence of events a task never goes back, and frees its place and its output once', () => {
  fc.assert(
    fc.property(events, (sequence) => {
      const path = pathOf(sequence);
      const times = (happens: (before: TaskState, now: TaskState) => boolean): number =>
        path.filter((now, i) => i > 0 && happens(path[i - 1] ?? now, now)).length;
      for (const [i, now] of path.slice(1).entries()) {
        const before = path[i] ?? now;
        expect(ORDER.indexOf(now.kind)).toBeGreaterThanOrEqual(ORDER.indexOf(before.kind));
        expect([before.kind, now.kind]).not.toEqual(['held', 'ending']);
        // No output is freed under a thread that still writes it.
        if (now.kind === 'freeing' || now.kind === 'gone') expect(isActive(now)).toBe(false);
        if ('callers' in now) expect(now.callers).toBeGreaterThanOrEqual(0);
      }
      expect(times((before, now) => !isActive(before) && isActive(now))).toBe(0);
      expect(times((before, now) => before.kind !== 'freeing' && now.kind === 'freeing')).toBeLessThanOrEqual(1);
      expect(times((before, now) => before.kind !== 'freeing' && before.kind !== 'gone' && now.kind === 'gone')).toBe(
        0,
      );
    }),
  );
});

test('from any state, a task that is stopped, leaves its slot and is freed is gone', () => {
  fc.assert(
    fc.property(events, (sequence) => {
      const end: readonly TaskEvent[] = [{ kind: 'stopped' }, { kind: 'left' }, { kind: 'freed' }];
      expect(pathOf([...sequence, ...end]).at(-1)).toEqual({ kind: 'gone' });
    }),
  );
});

test('a task that runs keeps its output until somebody ends it', () => {
  expect(after('called', 'started', 'left', 'answered')).toEqual({ kind: 'held', callers: 0 });
  expect(after('called', 'started', 'left', 'answered', 'stopped')).toEqual({ kind: 'freeing' });
  expect(after('started', 'done').kind).toBe('ending');
  expect(after('started', 'done', 'left', 'freed')).toEqual({ kind: 'gone' });
});

test('the last caller that goes ends the task; one of several does not', () => {
  expect(after('called', 'called', 'started', 'callerGone')).toEqual({ kind: 'running', callers: 1 });
  expect(after('called', 'called', 'started', 'callerGone', 'callerGone')).toEqual({ kind: 'ending' });
  expect(after('called', 'called', 'answered', 'callerGone')).toEqual({ kind: 'ending' });
});

test('a task that is stopped before it has its memory never runs', () => {
  expect(after('stopped', 'started')).toEqual({ kind: 'ending' });
  expect(isLive(after('stopped'))).toBe(false);
  expect(after('stopped', 'left', 'freed', 'called')).toEqual({ kind: 'gone' });
});
