import { expect, test } from 'vitest';
import { LevelSpec } from './level-spec.ts';
import { addLevels, LevelStats } from './level-stats.ts';
import { SlotScheduler, type ScheduledTask } from '../run/slot-scheduler.ts';
import type { QuantumEnd, SlotTask } from '../run/slot-task.ts';

test('what a slot writes is read from its memory, and slots are added up', () => {
  const slot = new LevelStats();
  const main = new LevelStats(slot.buffer);
  slot.setTasks([2, 0, 0, 1, 0]);
  slot.charge(0, 1.5);
  slot.charge(0, 0.25);
  slot.charge(4, 3_000_000_000);
  const levels = { tasks: [2, 0, 0, 1, 0], scheduledMs: [1.75, 0, 0, 0, 3_000_000_000] };
  expect(main.read()).toEqual(levels);
  expect(addLevels([levels, levels, new LevelStats().read()])).toEqual({
    tasks: [4, 0, 0, 2, 0],
    scheduledMs: [3.5, 0, 0, 0, 6_000_000_000],
  });
});

test('a slot tells the tasks and the time of each level', async () => {
  const stats = new LevelStats();
  const busy = { count: () => 1, change: () => undefined };
  const marks = { during: <T>(_job: number, work: () => T): T => work(), jobsSent: 0 };
  const scheduler = new SlotScheduler(marks, busy, { stats, spec: new LevelSpec() });
  const seen: (readonly number[])[] = [];
  /** A task that takes two quanta of a few milliseconds. */
  const task = (job: number, scheduledMs: number): ScheduledTask => {
    let left = 2;
    const runQuantum = (): QuantumEnd => {
      seen.push(stats.read().tasks);
      const endMs = performance.now() + 3;
      while (performance.now() < endMs);
      left -= 1;
      return left === 0 ? 'done' : 'more';
    };
    const nothing = (): void => undefined;
    const slotTask = {
      runQuantum,
      begin: nothing,
      charge: nothing,
      setRunnable: nothing,
      useThreads: nothing,
    } as unknown as SlotTask;
    return { job, task: slotTask, asker: { tenant: 'a', principal: 'p' }, scheduledMs, pinned: false, threads: 1 };
  };
  await Promise.all([scheduler.run(task(1, 0)), scheduler.run(task(2, 20_000))]);
  const { tasks, scheduledMs } = stats.read();
  expect(seen.some(([top, _second, third]) => top === 1 && third === 1)).toBe(true);
  expect(tasks).toEqual([0, 0, 0, 0, 0]);
  expect(scheduledMs.map((ms) => ms >= 6)).toEqual([true, false, true, false, false]);
});
