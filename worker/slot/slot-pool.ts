import { SkeinError } from '#shared/error.ts';
import type { SentTask } from '#proto/task.ts';
import { Holdings, inTurn } from '#shared/fair/holdings.ts';
import type { Logger } from '#shared/log/logger.ts';
import type { MemoryWork } from '../memory/memory-watch.ts';
import type { Attempt } from './attempt.ts';
import type { IdleLimits } from './instance-pool.ts';
import { Slot } from './slot.ts';
import { ACTIVITY, type SlotOutput, type SlotSettings, type SlotStart } from './slot-messages.ts';
import { ownerOf, SlotRun } from './slot-run.ts';

export type SlotPoolOptions = {
  readonly slots: number;
  readonly tasksPerSlotMax: number;
  readonly spillDir: string;
  /** Of each slot. */
  readonly idle: IdleLimits;
  readonly outputBufferBytes: number;
  readonly quanta: QuantumLimits;
  readonly log: Logger;
};

type QuantumLimits = {
  /** Long quanta that one principal may have at once. */
  readonly longMax: number;
  /** Age at which a quantum is interrupted, and its statement cancelled. */
  readonly ageMaxMs: number;
  /** Time after its interrupt in which a quantum must end. */
  readonly overrunMs: number;
  /** Threads that may be started in place of slow ones. */
  readonly sparesMax: number;
  /** Called when there are so many threads more than slots. */
  readonly onSpares: (spares: number) => void;
  /** Called, perhaps often, when a quantum has used a part of that time. */
  readonly onOverrun: () => void;
  /** Called once, for the first quantum that does not end in that time: only the end of the process ends it. */
  readonly onHung: (hung: HungQuantum) => void;
};

/** A quantum that goes on although it was interrupted long ago. */
export type HungQuantum = { readonly spec: SentTask; readonly ageMs: number };

/** How often the slots are looked at. */
const LOOK_INTERVAL_MS = 100;
/** From this age on a quantum is long: the other tasks of its slot go elsewhere. */
const LONG_MS = 1_000;
/** A cancelled task whose quantum has not ended by then is reported as ended all the same. */
const ABANDON_MS = 300;
/** The part of `overrunMs` after which somebody prepares for the end. */
const OVERRUN_PART = 1 / 5;
/** At this age of a quantum a thread is made ready, because that takes some time. */
const RESERVE_MS = 400;

/**
 * The slots of a worker: threads each of which holds several tasks. Nobody waits behind a quantum that is long: the slot's other tasks
 * begin again on another thread as soon as they lose less than they have waited, new tasks go there at once, and the long one's thread
 * lets the others go first. Only tasks that have given rows, and those of the principal that is the cause, stay.
 */
export class SlotPool {
  readonly #options: SlotPoolOptions;
  readonly #settings: Omit<SlotSettings, 'stamp'>;
  readonly #slots: Slot[] = [];
  readonly #runs = new Set<SlotRun>();
  readonly #turns = new Set<() => void>();
  readonly #timer: NodeJS.Timeout;
  #lookedMs = performance.now();
  #jobs = 0;
  #hasHung = false;

  constructor(options: SlotPoolOptions) {
    this.#options = options;
    this.#settings = {
      spillDir: options.spillDir,
      idle: options.idle,
      outputBufferBytes: options.outputBufferBytes,
      quantumMaxMs: options.quanta.ageMaxMs,
      activity: new Int32Array(new SharedArrayBuffer(ACTIVITY.words * 4)),
    };
    for (let i = 0; i < options.slots; i++) this.#addSlot('open');
    this.#timer = setInterval(() => this.#look(), LOOK_INTERVAL_MS);
    this.#timer.unref();
  }

  /** Tasks on slots. */
  get activeTasks(): number {
    return this.#runs.size;
  }

  /** Quanta that are long now. */
  get longQuanta(): number {
    return this.#slots.filter(({ life }) => life === 'slow').length;
  }

  /** Says to all slots whether the spool is over its limit. */
  setSpoolFull(full: boolean): void {
    Atomics.store(this.#settings.activity, ACTIVITY.spoolFull, full ? 1 : 0);
  }

  /** Says to all slots whether the process is near its limit of memory. */
  setMemoryShort(short: boolean): void {
    Atomics.store(this.#settings.activity, ACTIVITY.memoryShort, short ? 1 : 0);
  }

  /** Tasks that have not ended. */
  get runs(): Iterable<SlotRun> {
    return this.#runs;
  }

  /** Those of them that a thread is inside of DuckDB for at this moment, with the pages that it has touched since the last call. */
  working(): readonly MemoryWork[] {
    return this.#slots.flatMap((slot) => {
      const pages = slot.takePages();
      const attempt = slot.working;
      const user = attempt === undefined ? undefined : this.#runOf(attempt);
      return user === undefined ? [] : [{ user, pages, isWide: user.start.spec.threads > 1 }];
    });
  }

  /** Resolves when the task's principal has fewer long quanta than it may have. @throws the reason of `signal` */
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

  /** Starts a task, or has it wait for its turn; `onOutput` gets its messages and, last, its end. */
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
   * Gives tasks that wait a place on the open slot that has the fewest, in turn: the tenant with the fewest tasks on slots first, then its
   * principal with the fewest. A slot's own queue would be the order in which they came, which is whoever sends most.
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

  /** What may wait for a long quantum to end. */
  #wakeWaiting(): void {
    this.#placeWaiting();
    for (const done of this.#turns) done();
  }

  /** Whether a principal has as many long quanta as it may have. */
  #isLimited(owner: string): boolean {
    const long = this.#slots.filter((slot) => slot.life === 'slow' && ownerOfCurrent(slot) === owner);
    return long.length >= this.#options.quanta.longMax;
  }

  #look(): void {
    const now = performance.now();
    // When this process was stopped, so were the slots.
    const elapsedMs = Math.min(now - this.#lookedMs, 2 * LOOK_INTERVAL_MS);
    this.#lookedMs = now;
    let hasChanged = false;
    for (const slot of this.#slots.slice()) {
      const watched = slot.look(elapsedMs);
      const ageMs = watched.kind === 'inside' ? watched.ageMs : 0;
      if (ageMs >= RESERVE_MS) this.#makeReserve();
      if (ageMs >= LONG_MS) {
        this.#onLong(slot, ageMs);
        hasChanged = true;
      } else if (slot.life === 'slow') {
        this.#onEnded(slot);
        hasChanged = true;
      }
      if (slot.life === 'retired' && slot.attempts.size === 0) this.#closeSlot(slot);
    }
    if (hasChanged) this.#wakeWaiting();
  }

  /** A thread that is ready, so that the next one that is needed is there at once. */
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

  /** A long quantum has ended: its slot takes tasks again if it is needed and can be as fast as the others. */
  #onEnded(slot: Slot): void {
    slot.life = this.#missing() > 0 && slot.stepForward() ? 'open' : 'retired';
    this.#makeUp();
  }

  #closeSlot(slot: Slot): void {
    this.#slots.splice(this.#slots.indexOf(slot), 1);
    void slot.close().then(() => this.#options.quanta.onSpares(Math.max(0, this.#slots.length - this.#options.slots)));
    this.#makeUp();
  }

  /** Other slots take the place of slow and retired ones, as far as there may be more threads. */
  #makeUp(): void {
    const { slots, quanta } = this.#options;
    while (this.#missing() > 0) {
      const reserve = this.#slots.find(({ life }) => life === 'reserve');
      if (reserve === undefined && this.#slots.length >= slots + quanta.sparesMax) return;
      if (reserve === undefined) this.#addSlot('open');
      else reserve.life = 'open';
    }
  }

  /** Open slots that there should be and are not. */
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
