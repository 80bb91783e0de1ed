import { SkeinError } from '#shared/error.ts';
import type { SentTask } from '#proto/task.ts';
import type { MlfqSpec } from '#shared/mlfq-spec.ts';
import { Holdings, inTurn } from '#shared/fair/holdings.ts';
import type { Logger } from '#shared/log/logger.ts';
import type { MemoryWork } from '../memory/memory-watch.ts';
import type { Attempt } from './attempt.ts';
import type { IdleLimits } from './instance-pool.ts';
import { Slot } from './slot.ts';
import { LevelSpec } from './level-spec.ts';
import { addLevels, type Levels } from './level-stats.ts';
import { ACTIVITY, type SlotOutput, type SlotSettings, type SlotStart } from './slot-messages.ts';
import { ownerOf, SlotRun } from './slot-run.ts';

export type SlotPoolOptions = {
  readonly slots: number;
  readonly tasksPerSlotMax: number;
  readonly spillDir: string;
  /** Limits of each slot's idle instances; `afterMs` also of a thread in reserve. */
  readonly idle: IdleLimits;
  readonly outputBufferBytes: number;
  /** Memory of each slot's row cache. */
  readonly rowCacheBytes: number;
  readonly quanta: QuantumLimits;
  readonly log: Logger;
};

type QuantumLimits = {
  /** Most long quanta that one principal may have at once. */
  readonly longMax: number;
  /** Age at which a quantum is interrupted, and its statement cancelled. */
  readonly ageMaxMs: number;
  /** Time within which a quantum must end after its interrupt. */
  readonly overrunMs: number;
  /** Most threads that may be started in place of slow ones. */
  readonly sparesMax: number;
  /** Called with the number of threads beyond the number of slots, when it changes. */
  readonly onSpares: (spares: number) => void;
  /** Called, perhaps repeatedly, when a quantum has used `OVERRUN_PART` of `overrunMs`. */
  readonly onOverrun: () => void;
  /** Called once, for the first quantum that does not end within `overrunMs`: only the end of the process stops it. */
  readonly onHung: (hung: HungQuantum) => void;
};

/** A quantum that does not react to interrupts. */
export type HungQuantum = { readonly spec: SentTask; readonly ageMs: number };

/** Interval at which the slots are polled. */
const LOOK_INTERVAL_MS = 100;
/** Age from which a quantum is long: the other tasks of its slot move elsewhere. */
const LONG_MS = 1_000;
/** Time after which a cancelled task is reported as ended even if its quantum still runs. */
const ABANDON_MS = 300;
/** The part of `overrunMs` after which `onOverrun` is called, so that a replacement process can be prepared. */
const OVERRUN_PART = 1 / 5;
/** Age of a quantum at which a reserve thread is started, because starting takes some time. */
const RESERVE_MS = 400;

/**
 * The slots of a worker: threads, each of which holds several tasks. No task has to wait behind a long quantum: the slot's other tasks
 * restart on another thread as soon as they have waited longer than the work they lose, new tasks go there at once, and the priority of
 * the long quantum's thread is lowered. Only tasks that have sent rows, and those of a principal at its limit of long quanta, stay.
 */
export class SlotPool {
  readonly #options: SlotPoolOptions;
  readonly #settings: Omit<SlotSettings, 'stamp' | 'levels'>;
  readonly #slots: Slot[] = [];
  readonly #runs = new Set<SlotRun>();
  readonly #turns = new Set<() => void>();
  readonly #timer: NodeJS.Timeout;
  #lookedMs = performance.now();
  /** Time at which a reserve thread was last wanted. */
  #reserveWantedMs = 0;
  #jobs = 0;
  #hasHung = false;
  readonly #levelSpec = new LevelSpec();
  /** Of the slots that have ended. */
  #endedLevels = addLevels([]);

  constructor(options: SlotPoolOptions) {
    this.#options = options;
    this.#settings = {
      spillDir: options.spillDir,
      idle: options.idle,
      outputBufferBytes: options.outputBufferBytes,
      rowCacheBytes: options.rowCacheBytes,
      levelSpec: this.#levelSpec.buffer,
      quantumMaxMs: options.quanta.ageMaxMs,
      activity: new Int32Array(new SharedArrayBuffer(ACTIVITY.words * 4)),
    };
    for (let i = 0; i < options.slots; i++) this.#addSlot('open');
    this.#timer = setInterval(() => this.#look(), LOOK_INTERVAL_MS);
    this.#timer.unref();
  }

  /** Number of tasks that have not ended: on slots, or waiting for one. */
  get activeTasks(): number {
    return this.#runs.size;
  }

  /** Quanta that are long now. */
  get longQuanta(): number {
    return this.#slots.filter(({ life }) => life === 'slow').length;
  }

  /** Tasks and time by level, of all slots since the start. */
  get levels(): Levels {
    return addLevels([this.#endedLevels, ...this.#slots.map((slot) => slot.levels)]);
  }

  /** Tells all slots how the levels share their time; a spec that makes no sense is ignored. */
  setLevels(spec: MlfqSpec): void {
    this.#levelSpec.set(spec);
  }

  /** Tells all slots whether the spool is over its limit. */
  setSpoolFull(full: boolean): void {
    Atomics.store(this.#settings.activity, ACTIVITY.spoolFull, full ? 1 : 0);
  }

  /** Tells all slots whether the process is near its memory limit. */
  setMemoryShort(short: boolean): void {
    Atomics.store(this.#settings.activity, ACTIVITY.memoryShort, short ? 1 : 0);
  }

  /** Tasks that have not ended: on slots, or waiting for one. */
  get runs(): Iterable<SlotRun> {
    return this.#runs;
  }

  /** Tasks for which a thread is inside DuckDB at this moment, with the pages that the thread touched since the last call. */
  working(): readonly MemoryWork[] {
    return this.#slots.flatMap((slot) => {
      const pages = slot.takePages();
      const attempt = slot.working;
      const user = attempt === undefined ? undefined : this.#runOf(attempt);
      return user === undefined ? [] : [{ user, pages, isWide: user.start.spec.threads > 1 }];
    });
  }

  /** Resolves when the task's principal is below its limit of long quanta. @throws the reason of `signal` */
  async turn(signal: AbortSignal, spec: SentTask): Promise<void> {
    while (this.#isLimited(ownerOf(spec))) {
      await new Promise<void>((resolve) => {
        const done = (): void => {
          this.#turns.delete(done);
          signal.removeEventListener('abort', done);
          resolve();
        };
        this.#turns.add(done);
        signal.addEventListener('abort', done, { once: true });
        if (signal.aborted) done();
      });
      signal.throwIfAborted();
    }
  }

  /** Starts a task, or queues it; `onOutput` receives its messages and, last, its end. */
  run(start: SlotStart, onOutput: (output: SlotOutput) => void): SlotRun {
    const run = new SlotRun(start, onOutput, () => this.#placeWaiting());
    this.#runs.add(run);
    void this.#follow(run);
    this.#placeWaiting();
    return run;
  }

  async #follow(run: SlotRun): Promise<void> {
    await run.ended;
    this.#runs.delete(run);
    this.#placeWaiting();
  }

  /** Ends the threads; the tasks have ended before. */
  async close(): Promise<void> {
    clearInterval(this.#timer);
    await Promise.all(this.#slots.map((slot) => slot.close()));
  }

  #addSlot(life: 'open' | 'reserve'): Slot {
    const { slots, tasksPerSlotMax: tasksMax, quanta, log } = this.#options;
    if (this.#slots.length >= slots) quanta.onSpares(this.#slots.length + 1 - slots);
    const slot = new Slot(life, { settings: this.#settings, tasksMax, log });
    this.#slots.push(slot);
    return slot;
  }

  /**
   * Places waiting tasks on the open slot with the fewest tasks. The order is: the tenant with the fewest tasks on slots first, then its
   * principal with the fewest. Queueing in order of arrival would favour whoever sends most.
   */
  #placeWaiting(): void {
    const waiting = new Set([...this.#runs].filter((run) => run.isWaiting && !this.#isLimited(run.owner)));
    if (waiting.size === 0) return;
    const running = [...this.#runs].filter((run) => !run.isWaiting);
    const open = this.#slots.filter(({ life }) => life === 'open');
    const free = open.reduce((sum, { attempts }) => sum + this.#options.tasksPerSlotMax - attempts.size, 0);
    const places = new Holdings(running.length + free);
    for (const run of running) places.take(run, 1);
    for (;;) {
      const slot = this.#slotWithPlace();
      const next = inTurn(waiting, places).find((run) => places.freeFor(run) >= 1);
      if (slot === undefined || next === undefined) return;
      waiting.delete(next);
      places.take(next, 1);
      next.place(slot, ++this.#jobs);
    }
  }

  #slotWithPlace(): Slot | undefined {
    const [least] = this.#slots
      .filter(({ life, attempts }) => life === 'open' && attempts.size < this.#options.tasksPerSlotMax)
      .toSorted((a, b) => a.attempts.size - b.attempts.size);
    return least;
  }

  /** Wakes tasks and callers of `turn` that may wait for a long quantum to end. */
  #wakeWaiting(): void {
    this.#placeWaiting();
    for (const done of this.#turns) done();
  }

  /** Whether a principal is at its limit of long quanta. */
  #isLimited(owner: string): boolean {
    const long = this.#slots.filter((slot) => slot.life === 'slow' && ownerOfCurrent(slot) === owner);
    return long.length >= this.#options.quanta.longMax;
  }

  #look(): void {
    const now = performance.now();
    // If this process was suspended, so were the slots: a long gap must not count as the age of a quantum.
    const elapsedMs = Math.min(now - this.#lookedMs, 2 * LOOK_INTERVAL_MS);
    this.#lookedMs = now;
    let hasChanged = false;
    for (const slot of this.#slots.slice()) {
      const watched = slot.look(elapsedMs);
      const ageMs = watched.kind === 'inside' ? watched.ageMs : 0;
      if (ageMs >= RESERVE_MS) {
        this.#reserveWantedMs = now;
        this.#makeReserve();
      }
      if (ageMs >= LONG_MS) {
        this.#onLong(slot, ageMs);
        hasChanged = true;
      } else if (slot.life === 'slow') {
        this.#onEnded(slot);
        hasChanged = true;
      }
      const isUnwanted = slot.life === 'reserve' && now - this.#reserveWantedMs >= this.#options.idle.afterMs;
      const isLeft = slot.life === 'retired' && slot.attempts.size === 0;
      if (isUnwanted || isLeft) this.#closeSlot(slot);
    }
    if (hasChanged) this.#wakeWaiting();
  }

  /** Starts a reserve thread, so that the next replacement is available at once. It ends when none was wanted for `idle.afterMs`. */
  #makeReserve(): void {
    const { slots, quanta } = this.#options;
    const hasReserve = this.#slots.some(({ life }) => life === 'reserve');
    if (!hasReserve && this.#slots.length < slots + quanta.sparesMax) this.#addSlot('reserve');
  }

  #onLong(slot: Slot, ageMs: number): void {
    const { quanta, log } = this.#options;
    const { current } = slot;
    const run = current === undefined ? undefined : this.#runOf(current);
    if (slot.life !== 'slow') {
      const isOver = run !== undefined && this.#isLimited(run.owner);
      slot.life = 'slow';
      const isLower = slot.stepAside();
      log.warn({ query: current?.start.spec.queryId, task: current?.start.spec.taskId, isLower }, 'a quantum is long');
      if (isOver) run.stepBack();
    }
    this.#makeUp();
    if (ageMs >= quanta.ageMaxMs) {
      const limit = `one step of the query took longer than ${quanta.ageMaxMs} ms (worker.quantum_max)`;
      run?.cancel(new SkeinError('STEP_TOO_LONG', limit));
    }
    if (slot.stoppedMs >= ABANDON_MS) run?.abandon();
    if (slot.stoppedMs >= quanta.overrunMs * OVERRUN_PART) quanta.onOverrun();
    if (current !== undefined && slot.stoppedMs >= quanta.overrunMs && !this.#hasHung) {
      this.#hasHung = true;
      quanta.onHung({ spec: current.start.spec, ageMs });
    }
    for (const attempt of slot.attempts.values()) {
      const other = attempt === current ? undefined : this.#runOf(attempt);
      if (other === undefined) continue;
      const mayBegin = !this.#isLimited(other.owner) && other.investedMs <= ageMs && this.#hasOpen();
      if (other.isCancelled || mayBegin) other.leaveSlot();
    }
  }

  #hasOpen(): boolean {
    return this.#slots.some(({ life }) => life === 'open');
  }

  /** Called when a long quantum has ended: reopens its slot if one is missing and its priority can be restored, else retires it. */
  #onEnded(slot: Slot): void {
    slot.life = this.#missing() > 0 && slot.stepForward() ? 'open' : 'retired';
    this.#makeUp();
  }

  #closeSlot(slot: Slot): void {
    this.#slots.splice(this.#slots.indexOf(slot), 1);
    const { scheduledMs } = slot.levels;
    this.#endedLevels = addLevels([this.#endedLevels, { tasks: [], scheduledMs }]);
    void this.#retire(slot);
    this.#makeUp();
  }

  async #retire(slot: Slot): Promise<void> {
    const { slots, quanta, log } = this.#options;
    await slot.retire().catch((error: unknown) => log.warn({ err: error }, 'a slot thread did not end in order'));
    quanta.onSpares(Math.max(0, this.#slots.length - slots));
  }

  /** Opens other slots in place of slow and retired ones, within the limit of threads. */
  #makeUp(): void {
    const { slots, quanta } = this.#options;
    while (this.#missing() > 0) {
      const reserve = this.#slots.find(({ life }) => life === 'reserve');
      if (reserve === undefined && this.#slots.length >= slots + quanta.sparesMax) return;
      if (reserve === undefined) this.#addSlot('open');
      else reserve.life = 'open';
    }
  }

  /** Number of open slots that are missing. */
  #missing(): number {
    return this.#options.slots - this.#slots.filter(({ life }) => life === 'open').length;
  }

  /** The task of an attempt that was not withdrawn. */
  #runOf(attempt: Attempt): SlotRun | undefined {
    for (const run of this.#runs) if (run.isOn(attempt)) return run;
    return undefined;
  }
}

const ownerOfCurrent = ({ current }: Slot): string | undefined =>
  current === undefined ? undefined : ownerOf(current.start.spec);
