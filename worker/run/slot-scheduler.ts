import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Asker } from '#shared/fair/asker.ts';
import { FairQueue } from './fair-queue.ts';
import { LevelSpec } from '../turns/level-spec.ts';
import { LevelStats } from '../turns/level-stats.ts';
import type { QueryTime } from '../turns/slot-messages.ts';
import type { SlotTask } from './slot-task.ts';

/** The words that the thread shares with the main thread. */
export interface QuantumMarks {
  /** Marks that this thread is at work for a job. */
  during<T>(job: number, work: () => T): T;
  /** Number of jobs that were sent to this thread so far. */
  readonly jobsSent: number;
}

/** Length of a quantum: long enough that switching costs little. It ends at once when a job comes, which may be a small query. */
const QUANTUM_MS = 10;
/** Interval at which a task checks whether its helper threads have left it work, while other tasks share the slot. */
const HELPER_POLL_MS = 1;
/** The interval for a task alone in its slot: the thread sleeps, because a timer's full millisecond per pipeline adds up. */
const LONE_POLL_MS = 0.1;
/** Delay before a wide task takes back lent cores, because small tasks often follow one another. */
const WIDEN_AFTER_MS = 50;

const NOBODY_WAKES = new Int32Array(new SharedArrayBuffer(4));

/** Tasks of the whole worker that have work to do, those of this slot included. */
export interface BusyTasks {
  count(): number;
  change(by: 1 | -1): void;
}

export type ScheduledTask = {
  /** Number of the job in the slot's stamp. */
  readonly job: number;
  readonly task: SlotTask;
  /** Tenant and principal whose share of the slot the task uses. */
  readonly asker: Asker;
  readonly scheduledMs: number;
  readonly pinned: boolean;
  /** Cores that the task uses when no other task needs them. */
  readonly threads: number;
};

/** The levels of the feedback queue: how they share the slot's time, and how much they have had. */
export type SlotLevels = { readonly stats: LevelStats; readonly spec: LevelSpec };

/** `blockedMs`: time in which the task's output was full. */
export type TaskTimes = { readonly scheduledMs: number; readonly quanta: number; readonly blockedMs: number };

type Running = ScheduledTask & {
  times: TaskTimes;
  /** True while the task waits for its reader. */
  blocked: boolean;
  /** True while the main thread keeps it from its turns. */
  held: boolean;
  /** Time at which it was blocked last. */
  blockedAtMs: number;
  /** Cores that the task has now, and the time at which it last lent some. */
  width: number;
  lentAtMs: number;
  readonly resolve: (times: TaskTimes) => void;
  readonly reject: (error: unknown) => void;
};

/** Runs the slot's tasks on its thread, one quantum at a time in the order of `FairQueue`; the event loop runs between quanta. */
export class SlotScheduler {
  readonly #running = new Map<number, Running>();
  readonly #marks: QuantumMarks;
  readonly #busy: BusyTasks;
  readonly #levels: SlotLevels;
  readonly #queue = new FairQueue();
  /** Jobs that are held, also before their tasks are here. */
  readonly #held = new Set<number>();
  #turning = false;

  constructor(marks: QuantumMarks, busy: BusyTasks, levels?: SlotLevels) {
    this.#marks = marks;
    this.#busy = busy;
    this.#levels = levels ?? { stats: new LevelStats(), spec: new LevelSpec() };
  }

  /** Runs a task to its end. @throws what `runQuantum` throws. */
  run(scheduled: ScheduledTask): Promise<TaskTimes> {
    return new Promise((resolve, reject) => {
      const times = { scheduledMs: 0, quanta: 0, blockedMs: 0 };
      const start = { times, blocked: false, held: false, blockedAtMs: 0, width: scheduled.threads, lentAtMs: 0 };
      const running: Running = { ...scheduled, ...start, resolve, reject };
      this.#running.set(scheduled.job, running);
      this.#busy.change(1);
      this.#queue.add(idOf(scheduled.job), scheduled.asker, scheduled);
      running.task.setRunnable(true);
      if (this.#held.has(scheduled.job)) this.#set(running, { held: true });
      this.#tellTasks();
      void this.#turn();
    });
  }

  /** Makes a blocked task runnable again: its reader took something, or it was cancelled. */
  wake(job: number): void {
    const running = this.#running.get(job);
    if (running === undefined) return;
    if (running.blocked) {
      const blockedMs = running.times.blockedMs + performance.now() - running.blockedAtMs;
      running.times = { ...running.times, blockedMs };
    }
    this.#set(running, { blocked: false });
  }

  /** Keeps a job from its turns, or lets it go on; it may be one whose task comes later. */
  hold(job: number, on: boolean): void {
    if (on) this.#held.add(job);
    else this.#held.delete(job);
    const running = this.#running.get(job);
    if (running !== undefined) this.#set(running, { held: on });
  }

  /** The job's query has had this time by now, and its task goes to the level of that. */
  setTime(job: number, { scheduledMs, pinnedToTop }: QueryTime): void {
    this.#queue.setTime(idOf(job), { scheduledMs, pinned: pinnedToTop });
    this.#tellTasks();
  }

  /** The job has left the thread. */
  forget(job: number): void {
    this.#held.delete(job);
  }

  #set(running: Running, change: Partial<Pick<Running, 'blocked' | 'held'>>): void {
    const had = canRun(running);
    Object.assign(running, change);
    running.task.setRunnable(!running.blocked);
    const has = canRun(running);
    if (had !== has) this.#busy.change(has ? 1 : -1);
    if (has) this.#queue.wake(idOf(running.job));
    else this.#queue.block(idOf(running.job));
    this.#tellTasks();
    if (has) void this.#turn();
  }

  async #turn(): Promise<void> {
    if (this.#turning) return;
    this.#turning = true;
    for (let id = this.#pick(); id !== undefined; id = this.#pick()) {
      this.#runQuantum(Number(id));
      this.#tellTasks();
      await nextTurn();
    }
    this.#turning = false;
  }

  /** The next task, by the levels that are in force now. */
  #pick(): string | undefined {
    const spec = this.#levels.spec.take();
    if (spec !== null) this.#queue.setSpec(spec);
    return this.#queue.pick();
  }

  #runQuantum(job: number): void {
    const running = this.#running.get(job);
    if (running === undefined) {
      this.#queue.remove(idOf(job));
      return;
    }
    const startMs = performance.now();
    const { jobsSent } = this.#marks;
    const busy = this.#busy.count();
    // A wide task has cores to lend as soon as another task has work.
    const mustLend = (): boolean => running.width > 1 && this.#busy.count() > busy;
    const isOver = (): boolean =>
      performance.now() >= startMs + QUANTUM_MS || this.#marks.jobsSent !== jobsSent || mustLend();
    running.task.begin();
    try {
      const end = this.#marks.during(job, () => {
        if (running.threads > 1) this.#share(running, startMs);
        return running.task.runQuantum(isOver);
      });
      this.#charge(running, performance.now() - startMs);
      if (end === 'done') this.#end(running, () => running.resolve(running.times));
      if (end === 'waiting') this.#waitForHelpers(job);
      if (end === 'blocked') {
        running.blockedAtMs = performance.now();
        this.#set(running, { blocked: true });
      }
    } catch (error) {
      this.#charge(running, performance.now() - startMs);
      this.#end(running, () => running.reject(error));
    }
  }

  #waitForHelpers(job: number): void {
    if (this.#running.size === 1) {
      Atomics.wait(NOBODY_WAKES, 0, 0, LONE_POLL_MS);
      return;
    }
    this.#queue.block(idOf(job));
    setTimeout(() => this.wake(job), HELPER_POLL_MS);
  }

  #tellTasks(): void {
    this.#levels.stats.setTasks(this.#queue.depths());
  }

  #charge(running: Running, quantumMs: number): void {
    this.#levels.stats.charge(this.#queue.levelOf(idOf(running.job)), quantumMs);
    this.#queue.charge(idOf(running.job), quantumMs);
    const { scheduledMs, quanta, blockedMs } = running.times;
    running.times = { scheduledMs: scheduledMs + quantumMs, quanta: quanta + 1, blockedMs };
    running.task.charge(quantumMs);
  }

  #end(running: Running, settle: () => void): void {
    this.#running.delete(running.job);
    running.task.setRunnable(false);
    if (canRun(running)) this.#busy.change(-1);
    this.#queue.remove(idOf(running.job));
    settle();
  }

  /** A wide task lends a core to every other task of the worker, and keeps its own thread in any case. */
  #share(running: Running, nowMs: number): void {
    const wanted = Math.max(1, running.threads - (this.#busy.count() - 1));
    if (wanted <= running.width) running.lentAtMs = wanted < running.threads ? nowMs : running.lentAtMs;
    else if (nowMs - running.lentAtMs < WIDEN_AFTER_MS) return;
    running.width = wanted;
    running.task.useThreads(wanted);
  }
}

const canRun = ({ blocked, held }: Running): boolean => !blocked && !held;

/** The queue's id of a job. */
const idOf = (job: number): string => String(job);
