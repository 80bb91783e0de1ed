import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Asker } from '#shared/fair/asker.ts';
import { FairQueue } from './fair-queue.ts';
import type { SlotTask } from './slot-task.ts';

/** Says to others that the thread is at work for a job, which may last. */
export interface QuantumMarks {
  during<T>(job: number, work: () => T): T;
}

/** Long enough that turns cost little, short enough that a small query never waits long for its first. */
const QUANTUM_MS = 10;
/** How often a task looks again whether its helper threads have left it something to do, while other tasks of the slot run. */
const HELPER_POLL_MS = 1;
/** The same while it is alone: the thread sleeps between two looks, because a timer's millisecond at every pipeline's end adds up. */
const LONE_POLL_MS = 0.1;
/** A wide task whose cores were lent away takes them back so long after: small tasks often come one after the other. */
const WIDEN_AFTER_MS = 50;

const NOBODY_WAKES = new Int32Array(new SharedArrayBuffer(4));

/** Tasks of the whole worker that have work to do, those of this slot included. */
export interface BusyTasks {
  count(): number;
  change(by: 1 | -1): void;
}

export type ScheduledTask = {
  /** As the slot's stamp names it. */
  readonly job: number;
  readonly task: SlotTask;
  /** Whose share of the slot it takes. */
  readonly asker: Asker;
  readonly scheduledMs: number;
  readonly pinned: boolean;
  /** Cores while nobody else wants them. */
  readonly threads: number;
};

export type TaskTimes = { readonly scheduledMs: number; readonly quanta: number };

type Running = ScheduledTask & {
  times: TaskTimes;
  /** It waits for its reader. */
  blocked: boolean;
  /** Cores that it has now, and when it last lent some. */
  width: number;
  lentAtMs: number;
  readonly resolve: (times: TaskTimes) => void;
  readonly reject: (error: unknown) => void;
};

/** Gives the slot's thread to its tasks, a quantum at a time, as `FairQueue` says; between quanta the event loop has its turn. */
export class SlotScheduler {
  readonly #running = new Map<number, Running>();
  readonly #marks: QuantumMarks;
  readonly #busy: BusyTasks;
  readonly #queue = new FairQueue();
  #turning = false;

  constructor(marks: QuantumMarks, busy: BusyTasks) {
    this.#marks = marks;
    this.#busy = busy;
  }

  /** Runs a task to its end. @throws what `runQuantum` throws. */
  run(scheduled: ScheduledTask): Promise<TaskTimes> {
    return new Promise((resolve, reject) => {
      const start = { times: { scheduledMs: 0, quanta: 0 }, blocked: false, width: scheduled.threads, lentAtMs: 0 };
      this.#running.set(scheduled.job, { ...scheduled, ...start, resolve, reject });
      this.#busy.change(1);
      this.#queue.add(idOf(scheduled.job), scheduled.asker, scheduled);
      void this.#turn();
    });
  }

  /** A blocked task can go on: its reader took something, or it was cancelled. */
  wake(job: number): void {
    const running = this.#running.get(job);
    if (running?.blocked === true) {
      running.blocked = false;
      this.#busy.change(1);
    }
    this.#queue.wake(idOf(job));
    void this.#turn();
  }

  /** Runnable tasks per level. */
  depths(): number[] {
    return this.#queue.depths();
  }

  async #turn(): Promise<void> {
    if (this.#turning) return;
    this.#turning = true;
    for (let id = this.#queue.pick(); id !== undefined; id = this.#queue.pick()) {
      this.#runQuantum(Number(id));
      await nextTurn();
    }
    this.#turning = false;
  }

  #runQuantum(job: number): void {
    const running = this.#running.get(job);
    if (running === undefined) {
      this.#queue.remove(idOf(job));
      return;
    }
    const startMs = performance.now();
    try {
      const end = this.#marks.during(job, () => {
        if (running.threads > 1) this.#share(running, startMs);
        return running.task.runQuantum(startMs + QUANTUM_MS);
      });
      this.#charge(running, performance.now() - startMs);
      if (end === 'done') this.#end(running, () => running.resolve(running.times));
      if (end === 'waiting') this.#waitForHelpers(job);
      if (end === 'blocked') this.#queue.block(idOf(job));
      if (end === 'blocked') {
        running.blocked = true;
        this.#busy.change(-1);
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

  #charge(running: Running, quantumMs: number): void {
    this.#queue.charge(idOf(running.job), quantumMs);
    running.times = { scheduledMs: running.times.scheduledMs + quantumMs, quanta: running.times.quanta + 1 };
    running.task.charge(running.times.scheduledMs);
  }

  #end(running: Running, settle: () => void): void {
    this.#running.delete(running.job);
    this.#busy.change(-1);
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

/** As the queue names a job. */
const idOf = (job: number): string => String(job);
