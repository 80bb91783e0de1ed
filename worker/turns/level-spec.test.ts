import { expect, test } from 'vitest';
import { DEFAULT_MLFQ } from '#shared/mlfq-spec.ts';
import { LevelSpec } from './level-spec.ts';
import { LevelStats } from './level-stats.ts';
import { SlotScheduler, type ScheduledTask } from '../run/slot-scheduler.ts';
import type { QuantumEnd, SlotTask } from '../run/slot-task.ts';

const OTHER = { levelsMs: [1, 2, 3, 4], levelWeightRatio: 1.5 };

test('each slot takes a spec once, and what is in force changes nothing', () => {
  const main = new LevelSpec();
  const slots = [new LevelSpec(main.buffer), new LevelSpec(main.buffer)];
  main.set(DEFAULT_MLFQ);
  expect(slots.map((slot) => slot.take())).toEqual([null, null]);
  main.set(OTHER);
  main.set(OTHER);
  expect(slots.map((slot) => [slot.take(), slot.take()])).toEqual([
    [OTHER, null],
    [OTHER, null],
  ]);
  main.set(DEFAULT_MLFQ);
  expect([slots[0]?.take(), new LevelSpec(main.buffer).take()]).toEqual([DEFAULT_MLFQ, DEFAULT_MLFQ]);
});

test.each([
  { levelsMs: [], levelWeightRatio: 2 },
  { levelsMs: [1, 2, 3], levelWeightRatio: 2 },
  { levelsMs: [1, 2, 2, 3], levelWeightRatio: 2 },
  { levelsMs: [1, 2, 3, Number.NaN], levelWeightRatio: 2 },
  { levelsMs: [1, 2, 3, 4], levelWeightRatio: 0 },
  { levelsMs: [1, 2, 3, 4], levelWeightRatio: Infinity },
])('%j is ignored', (spec) => {
  const main = new LevelSpec();
  main.set(spec);
  expect(new LevelSpec(main.buffer).take()).toBeNull();
});

test('a task that runs is on the level of a new spec from its next quantum on', async () => {
  const [stats, spec] = [new LevelStats(), new LevelSpec()];
  const busy = { count: () => 1, change: () => undefined };
  const marks = { during: <T>(_job: number, work: () => T): T => work(), jobsSent: 0 };
  const scheduler = new SlotScheduler(marks, busy, { stats, spec: new LevelSpec(spec.buffer) });
  const levels: (readonly number[])[] = [];
  let quanta = 0;
  const runQuantum = (): QuantumEnd => {
    levels.push(stats.read().tasks);
    quanta += 1;
    if (quanta === 1) spec.set(OTHER);
    return quanta === 3 ? 'done' : 'more';
  };
  const nothing = (): void => undefined;
  const task = { runQuantum, begin: nothing, charge: nothing, setRunnable: nothing } as unknown as SlotTask;
  const scheduled: ScheduledTask = {
    job: 1,
    task,
    asker: { tenant: 'a', principal: 'p' },
    scheduledMs: 500,
    pinned: false,
    threads: 1,
  };
  await scheduler.run(scheduled);
  expect([levels[0], levels[2]]).toEqual([
    [1, 0, 0, 0, 0],
    [0, 0, 0, 0, 1],
  ]);
});
