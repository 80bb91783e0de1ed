import { expect, test } from 'vitest';
import { SlotScheduler, type ScheduledTask } from './slot-scheduler.ts';
import type { QuantumEnd, SlotTask } from './slot-task.ts';

const job = (id: string): number => id.charCodeAt(0);
const marks = { during: <T>(_job: number, work: () => T): T => work(), jobsSent: 0 };

function scripted(id: string, script: readonly (QuantumEnd | Error)[], log: string[], threads = 1): ScheduledTask {
  const left = [...script];
  const task = {
    runQuantum: (): QuantumEnd => {
      log.push(id);
      const next = left.shift() ?? 'done';
      if (next instanceof Error) throw next;
      return next;
    },
    begin: () => undefined,
    charge: () => undefined,
    setRunnable: () => undefined,
    useThreads: (count: number) => log.push(`${id} uses ${count}`),
  };
  return {
    job: job(id),
    task: task as unknown as SlotTask,
    asker: { tenant: 'a', principal: 'p' },
    scheduledMs: 0,
    pinned: false,
    threads,
  };
}

function busyTasks(others = 0): { count(): number; change(by: number): void; others: number } {
  let own = 0;
  return {
    others,
    count(): number {
      return own + this.others;
    },
    change(by: number): void {
      own += by;
    },
  };
}

test('tasks take turns until each is done', async () => {
  const log: string[] = [];
  const busy = busyTasks();
  const scheduler = new SlotScheduler(marks, busy);
  const [a, b] = await Promise.all([
    scheduler.run(scripted('a', ['more', 'more', 'done'], log)),
    scheduler.run(scripted('b', ['more', 'done'], log)),
  ]);
  expect([a.quanta, b.quanta]).toEqual([3, 2]);
  expect(log.indexOf('b')).toBeLessThan(log.lastIndexOf('a'));
  expect(busy.count()).toBe(0);
});

test('an error ends its task and no other', async () => {
  const log: string[] = [];
  const busy = busyTasks();
  const scheduler = new SlotScheduler(marks, busy);
  const failed = scheduler.run(scripted('a', ['more', new Error('broken')], log)).catch((error: unknown) => error);
  const fine = await scheduler.run(scripted('b', ['more', 'more', 'more', 'done'], log));
  expect(await failed).toEqual(new Error('broken'));
  expect(fine.quanta).toBe(4);
  expect(busy.count()).toBe(0);
});

test('a blocked task waits until it is woken, and does not count as busy', async () => {
  const log: string[] = [];
  const busy = busyTasks();
  const scheduler = new SlotScheduler(marks, busy);
  const beganMs = performance.now();
  const run = scheduler.run(scripted('a', ['blocked', 'done'], log));
  await new Promise((resolve) => setTimeout(resolve, 20));
  expect(log).toEqual(['a']);
  expect(busy.count()).toBe(0);
  scheduler.wake(job('a'));
  scheduler.wake(job('a'));
  const { quanta, blockedMs } = await run;
  expect(quanta).toBe(2);
  expect(blockedMs).toBeGreaterThan(15);
  expect(blockedMs).toBeLessThanOrEqual(performance.now() - beganMs);
  expect(busy.count()).toBe(0);
});

test('a task that waits for its helper threads looks again by itself', async () => {
  const log: string[] = [];
  const scheduler = new SlotScheduler(marks, busyTasks());
  expect((await scheduler.run(scripted('a', ['waiting', 'waiting', 'done'], log))).quanta).toBe(3);
});

test('a wide task lends a core to every other task at once, and takes it back later', async () => {
  const log: string[] = [];
  const busy = busyTasks(2);
  const scheduler = new SlotScheduler(marks, busy);
  const run = scheduler.run(
    scripted(
      'wide',
      Array.from({ length: 2_000 }, () => 'waiting' as const),
      log,
      4,
    ),
  );
  await expect.poll(() => log).toContain('wide uses 2');
  busy.others = 9;
  await expect.poll(() => log).toContain('wide uses 1');
  busy.others = 0;
  await run;
  const back = log.indexOf('wide uses 4');
  expect(back).toBeGreaterThan(log.indexOf('wide uses 1'));
  // But not in the first moments after that.
  expect(log.slice(log.indexOf('wide uses 1'), back).filter((entry) => entry === 'wide').length).toBeGreaterThan(5);
});

test('a job that is sent to the thread ends the quantum, and not the next one', async () => {
  const sent = { ...marks };
  const log: boolean[] = [];
  const runQuantum = (isOver: () => boolean): QuantumEnd => {
    log.push(isOver());
    if (log.length > 2) return 'done';
    sent.jobsSent += 1;
    log.push(isOver());
    return 'more';
  };
  const nothing = (): void => undefined;
  const task = { runQuantum, begin: nothing, charge: nothing, setRunnable: nothing } as unknown as SlotTask;
  await new SlotScheduler(sent, busyTasks()).run({ ...scripted('a', [], []), task });
  expect(log).toEqual([false, true, false]);
});

test('a task that is held has no turn and does not count as busy; what its reader takes does not wake it', async () => {
  const log: string[] = [];
  const busy = busyTasks();
  const scheduler = new SlotScheduler(marks, busy);
  // Held before it is here.
  scheduler.hold(job('a'), true);
  const a = scheduler.run(scripted('a', ['blocked', 'done'], log));
  await scheduler.run(scripted('b', ['more', 'done'], log));
  expect(log).toEqual(['b', 'b']);
  expect(busy.count()).toBe(0);
  scheduler.hold(job('a'), false);
  await expect.poll(() => log).toEqual(['b', 'b', 'a']);
  scheduler.hold(job('a'), true);
  scheduler.wake(job('a'));
  await new Promise((resolve) => setTimeout(resolve, 20));
  expect(log).toEqual(['b', 'b', 'a']);
  scheduler.hold(job('a'), false);
  expect((await a).quanta).toBe(2);
  expect(busy.count()).toBe(0);
});
