import { describe, expect, test } from 'vitest';
import { DEFAULT_MLFQ } from '#shared/mlfq-spec.ts';
import { must } from '#shared/must.ts';
import {
  addTask,
  blockTask,
  chargeTask,
  emptyMlfq,
  levelDepths,
  levelOf,
  moveTask,
  pickTask,
  removeTask,
  wakeTask,
  withSpec,
  type Mlfq,
} from './mlfq.ts';

/** Gives turns of `quantumMs` for `totalMs`, and returns the time that each task had. */
function simulate(start: Mlfq, totalMs: number, quantumMs = 10): { state: Mlfq; hadMs: Map<string, number> } {
  let state = start;
  const hadMs = new Map<string, number>();
  for (let spentMs = 0; spentMs < totalMs; spentMs += quantumMs) {
    const picked = pickTask(state);
    if (picked === undefined) break;
    state = chargeTask(picked.state, picked.id, quantumMs);
    hadMs.set(picked.id, (hadMs.get(picked.id) ?? 0) + quantumMs);
  }
  return { state, hadMs };
}

const had = (map: Map<string, number>, id: string): number => must(map.get(id), `${id} had a turn`);

test('levels by scheduled time', () => {
  const times = [0, 999, 1_000, 9_999, 10_000, 60_000, 299_999, 300_000, 1e9];
  expect(times.map((ms) => levelOf(ms, DEFAULT_MLFQ))).toEqual([0, 0, 1, 1, 2, 3, 3, 4, 4]);
});

describe('turns', () => {
  test('an empty queue has none, a blocked task has none', () => {
    expect(pickTask(emptyMlfq)).toBeUndefined();
    const blocked = blockTask(addTask(emptyMlfq, 'a', 0, false), 'a');
    expect(pickTask(blocked)).toBeUndefined();
    expect(pickTask(wakeTask(blocked, 'a'))?.id).toBe('a');
    expect(pickTask(removeTask(addTask(emptyMlfq, 'a', 0, false), 'a'))).toBeUndefined();
  });

  test('tasks of one level share it evenly', () => {
    const state = ['a', 'b', 'c'].reduce((queue, id) => addTask(queue, id, 400_000, false), emptyMlfq);
    const { hadMs } = simulate(state, 9_000);
    for (const id of ['a', 'b', 'c']) expect(had(hadMs, id)).toBe(3_000);
  });

  test('busy levels share the time 16 : 8 : 4 : 2 : 1', () => {
    // Pinned tasks stay on the top level; the others start on a level that they do not leave during this test.
    let state = addTask(emptyMlfq, 'level-0', 0, true);
    for (const [id, ms] of [
      ['level-1', 1_000],
      ['level-2', 10_000],
      ['level-3', 60_000],
      ['level-4', 300_000],
    ] as const) {
      state = addTask(state, id, ms, false);
    }
    const { hadMs } = simulate(state, 12_400);
    const unit = had(hadMs, 'level-4');
    expect(unit).toBeGreaterThan(300);
    expect(['level-0', 'level-1', 'level-2', 'level-3'].map((id) => Math.round(had(hadMs, id) / unit))).toEqual([
      16, 8, 4, 2,
    ]);
  });

  test('a new task goes before one that has run for long, at once', () => {
    let { state } = simulate(addTask(emptyMlfq, 'batch', 0, false), 400_000);
    expect(levelDepths(state)).toEqual([0, 0, 0, 0, 1]);
    state = addTask(state, 'small', 0, false);
    expect(pickTask(state)?.id).toBe('small');
  });

  test('a newcomer on a level neither starves the others nor waits for them', () => {
    let { state } = simulate(addTask(emptyMlfq, 'old', 300_000, false), 5_000);
    state = addTask(state, 'new', 300_000, false);
    const { hadMs } = simulate(state, 1_000);
    expect(had(hadMs, 'old')).toBe(500);
    expect(had(hadMs, 'new')).toBe(500);
  });

  test('a task that was blocked for long cannot claim the time that it missed', () => {
    let state = addTask(addTask(emptyMlfq, 'a', 300_000, false), 'b', 300_000, false);
    state = simulate(blockTask(state, 'b'), 60_000).state;
    const { hadMs } = simulate(wakeTask(state, 'b'), 1_000);
    expect(had(hadMs, 'a')).toBe(500);
  });

  test('a level that was empty cannot claim the time in which it had no work', () => {
    let state = addTask(emptyMlfq, 'batch', 300_000, false);
    state = simulate(state, 600_000).state;
    state = addTask(state, 'middle', 60_000, false);
    const { hadMs } = simulate(state, 3_000);
    expect(had(hadMs, 'middle') / had(hadMs, 'batch')).toBeCloseTo(2, 0);
  });
});

describe('charges', () => {
  test('a task sinks level by level with its time', () => {
    let state = addTask(emptyMlfq, 'a', 0, false);
    const depthsAfter = (ms: number): number[] => {
      state = simulate(state, ms, 100).state;
      return levelDepths(state);
    };
    expect(depthsAfter(900)).toEqual([1, 0, 0, 0, 0]);
    expect(depthsAfter(200)).toEqual([0, 1, 0, 0, 0]);
    expect(depthsAfter(9_000)).toEqual([0, 0, 1, 0, 0]);
  });

  test('a long quantum is charged to every level that it crosses, and never with more than its cap', () => {
    const long = chargeTask(addTask(emptyMlfq, 'a', 0, false), 'a', 12_000);
    expect(long.levelMs.slice(0, 2)).toEqual([1_000, 9_000]);
    expect(long.tasks.get('a')).toMatchObject({ level: 2, scheduledMs: 12_000 });
    const hung = chargeTask(addTask(emptyMlfq, 'a', 300_000, false), 'a', 500_000);
    expect(hung.levelMs[4]).toBe(30_000);
  });

  test('a task goes to the level of what its query has had elsewhere, and is no longer pinned when its query is not', () => {
    const state = addTask(addTask(emptyMlfq, 'a', 0, false), 'vip', 20_000, true);
    const moved = moveTask(state, 'a', 15_000, false);
    expect(levelDepths(moved)).toEqual([1, 0, 1, 0, 0]);
    // The time that the thread has charged itself is never taken back.
    expect(moveTask(moved, 'a', 500, false)).toEqual(moved);
    expect(levelDepths(moveTask(moved, 'vip', 20_000, false))).toEqual([0, 0, 2, 0, 0]);
    expect(moveTask(moved, 'gone', 1, true)).toBe(moved);
  });

  test('a task that goes to an empty level claims nothing of what the level has missed', () => {
    let state = simulate(addTask(emptyMlfq, 'old', 1_000, false), 8_000).state;
    state = moveTask(addTask(state, 'new', 0, false), 'new', 20_000, false);
    const { hadMs } = simulate(state, 900);
    expect(had(hadMs, 'old') / had(hadMs, 'new')).toBeCloseTo(2, 0);
  });

  test('a pinned task stays on top', () => {
    const { state } = simulate(addTask(emptyMlfq, 'vip', 900_000, true), 20_000);
    expect(levelDepths(state)).toEqual([1, 0, 0, 0, 0]);
  });

  test('states are values: an older one is still what it was', () => {
    const before = addTask(emptyMlfq, 'a', 0, false);
    chargeTask(before, 'a', 50_000);
    blockTask(before, 'a');
    expect(before.tasks.get('a')).toMatchObject({ level: 0, scheduledMs: 0, runnable: true });
    expect(before.levelMs).toEqual([0, 0, 0, 0, 0]);
  });
});

describe('other levels', () => {
  const spec = { levelsMs: [10, 20, 30, 40], levelWeightRatio: 3 };

  test('are in force for the tasks that run, pinned ones apart', () => {
    let state = addTask(addTask(emptyMlfq, 'a', 25, false), 'vip', 900, true);
    expect(levelDepths(state)).toEqual([2, 0, 0, 0, 0]);
    state = withSpec(state, spec);
    expect(levelDepths(state)).toEqual([1, 0, 1, 0, 0]);
    expect(levelDepths(addTask(state, 'b', 40, false))).toEqual([1, 0, 1, 0, 1]);
  });

  test('share the time by their ratio, whatever the levels had before', () => {
    const before = simulate(addTask(addTask(emptyMlfq, 'top', 0, true), 'old', 500_000, false), 50_000).state;
    for (const [ratio, share] of [
      [3, 81 / 82],
      [1, 1 / 2],
    ] as const) {
      const { hadMs } = simulate(withSpec(before, { ...DEFAULT_MLFQ, levelWeightRatio: ratio }), 82_000);
      expect(had(hadMs, 'top') / 82_000).toBeCloseTo(share, 2);
    }
  });
});
