// long file: one class, all slots and who has which
import { memoryUses } from '#shared/memory-uses.ts';
import { SkeinError } from '#shared/error.ts';
import type { SentTask } from '#shared/task/task.ts';
import type { QueryId } from '#shared/id.ts';
import type { MlfqSpec } from '#shared/mlfq-spec.ts';
import { Holdings, inTurn } from '#shared/fair/holdings.ts';
import type { MemoryWork } from '../memory/memory-watch.ts';
import type { Attempt } from './attempt.ts';
import { ExpressLane } from './express-lane.ts';
import { Slot } from './slot.ts';
import { hungQuantum } from './hung-quantum.ts';
import { LevelSpec } from '../turns/level-spec.ts';
import { addLevels, type Levels } from '../turns/level-stats.ts';
import {
  ACTIVITY,
  type QueryTime,
  type SlotOutput,
  type SlotSettings,
  type SlotStart,
} from '../turns/slot-messages.ts';
import type { SlotPoolOptions } from './slot-pool-options.ts';
import { bestSlot } from './slot-part.ts';
import { ownerOf, SlotRun } from './slot-run.ts';
import { TurnWaiters } from './turn-waiters.ts';

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
/** Interval at which it is decided which tasks of the express slot may run, while it has any. */
const EXPRESS_INTERVAL_MS = 10;
/** Tasks that the express slot has at once; more of them wait for their turns on the others. */
const EXPRESS_TASKS_MAX = 16;

/**
 * The slots of a worker: threads, each of which holds several tasks. No task has to wait behind a long quantum: the slot's other tasks
 * restart on another thread as soon as they have waited longer than the work they lose, new tasks go there at once, and the priority of
 * the long quantum's thread is lowered. Only tasks that have sent rows, and those of a principal at its limit of long quanta, stay. Short
 * tasks do not even wait for a step of another: while every slot is busy they go to the express slot, a thread beside the others.
 */
export class SlotPool {
  readonly #options: SlotPoolOptions;
  readonly #settings: Omit<SlotSettings, 'stamp' | 'levels' | 'isExpress'>;
  readonly #slots: Slot[] = [];
  readonly #runs = new Set<SlotRun>();
  /** Tasks that were reported as ended while a thread was still inside DuckDB for them. */
  readonly #leaving = new Set<SlotRun>();
  readonly #turns = new TurnWaiters();
  readonly #timer: NodeJS.Timeout;
  #lookedMs = performance.now();
  /** Time at which a reserve thread was last wanted. */
  #reserveWantedMs = 0;
  #jobs = 0;
  readonly #levelSpec = new LevelSpec();
  /** Decides on the tasks of the express slot, as long as there is one. */
  #lane = this.#newLane();
  #laneTimer: NodeJS.Timeout | undefined;
  /** Times of the slots that have ended. */
  #endedLevels = addLevels([]);

  constructor(options: SlotPoolOptions) {
    this.#options = options;
    this.#settings = {
      ...options.thread,
      levelSpec: this.#levelSpec.buffer,
      quantumMaxMs: options.quanta.ageMaxMs,
      activity: new Int32Array(new SharedArrayBuffer(ACTIVITY.words * 4)),
      memoryUses: {
        rows: memoryUses('decoded_columns').words,
        copies: memoryUses('copies').words,
        footers: memoryUses('footers').words,
        statements: memoryUses('prepared_statements').words,
        objects: memoryUses('objects').words,
      },
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

  /** Slots that take tasks and can run them now. */
  get openSlots(): number {
    return this.#open.filter(({ isLoaded }) => isLoaded).length;
  }

  /** Tasks and time by level, of all slots since the start. */
  get levels(): Levels {
    return addLevels([this.#endedLevels, ...this.#slots.map((slot) => slot.levels)]);
  }

  /** Tells all slots how the levels share their time; a spec that makes no sense is ignored. */
  setLevels(spec: MlfqSpec): void {
    this.#levelSpec.set(spec);
  }

  /** Tells the tasks of these queries what their queries have had by now. */
  setQueryTimes(queries: ReadonlyMap<QueryId, QueryTime>): void {
    for (const run of this.#runs) {
      const time = queries.get(run.start.spec.queryId);
      if (time !== undefined) run.setTime(time);
    }
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

  /** Tasks that may hold memory: also those that ended before their threads had finished with them. */
  get holders(): readonly SlotRun[] {
    return [...this.#runs, ...this.#leaving];
  }

  /** The task for which each thread is inside DuckDB at this moment, with the pages that the thread touched since the last call. */
  working(): readonly MemoryWork[] {
    const { holders } = this;
    return this.#slots.map((slot) => {
      const { attempt, pages, isShared } = slot.takePages();
      const user = attempt === undefined ? undefined : holders.find((run) => run.began(attempt));
      const isWide = user !== undefined && user.start.spec.threads > 1;
      return { user: user ?? null, pages, ownPages: isShared ? 0 : pages, isWide };
    });
  }

  /** Resolves when the task's principal is below its limit of long quanta. @throws the reason of `signal` */
  turn(signal: AbortSignal, spec: SentTask): Promise<void> {
    return this.#turns.wait(signal, () => this.#isLimited(ownerOf(spec)));
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
    this.#leaving.add(run);
    this.#placeWaiting();
    await run.left();
    this.#leaving.delete(run);
  }

  /** Ends the threads; the tasks have ended before. */
  async close(): Promise<void> {
    clearInterval(this.#timer);
    clearInterval(this.#laneTimer);
    await Promise.all(this.#slots.map((slot) => slot.close()));
  }

  #addSlot(life: 'open' | 'reserve' | 'express'): Slot {
    const { slots, quanta, log, onReads } = this.#options;
    if (this.#slots.length >= slots) quanta.onSpares(this.#slots.length + 1 - slots);
    const slot = new Slot(life, {
      settings: this.#settings,
      log,
      onReads,
      onLeft: (attempt) => this.#onLeft(attempt),
    });
    this.#slots.push(slot);
    return slot;
  }

  /**
   * Places waiting tasks, each on the open slot where it gets most. Placing on the slot with the fewest tasks would let those of one principal
   * gather on one slot, while another principal has the other slot for itself. The order is: the tenant with the fewest tasks on slots first,
   * then its principal with the fewest. Queueing in order of arrival would favour whoever sends most.
   */
  #placeWaiting(): void {
    const waiting = new Set([...this.#runs].filter((run) => run.isWaiting && !this.#isLimited(run.owner)));
    if (waiting.size === 0) return;
    this.#placeExpress(waiting);
    const running = [...this.#runs].filter((run) => !run.isWaiting);
    const free = this.#open.reduce((sum, { attempts }) => sum + this.#options.tasksPerSlotMax - attempts.size, 0);
    const places = new Holdings(running.length + free);
    for (const run of running) places.take(run, 1);
    for (;;) {
      const next = inTurn(waiting, places).find((run) => places.freeFor(run) >= 1);
      if (next === undefined) return;
      const slot = bestSlot(
        next,
        this.#open.filter(({ attempts }) => attempts.size < this.#options.tasksPerSlotMax),
      );
      if (slot === undefined) return;
      waiting.delete(next);
      places.take(next, 1);
      next.place(slot, ++this.#jobs);
    }
  }

  /** Places tasks that would wait for a step of another task on the express slot, in turn, and takes them from `waiting`. */
  #placeExpress(waiting: Set<SlotRun>): void {
    const short = [...waiting].filter(({ mayExpress }) => mayExpress);
    if (short.length === 0 || !this.#lane.isWanted(this.#slots)) return;
    const slot = this.#express ?? this.#addExpress();
    if (slot === undefined) return;
    const places = new Holdings(EXPRESS_TASKS_MAX);
    for (const { start } of slot.attempts.values()) places.take(start.spec, 1);
    for (;;) {
      const next = inTurn(short, places).find((run) => places.freeFor(run) >= 1);
      if (next === undefined) break;
      short.splice(short.indexOf(next), 1);
      waiting.delete(next);
      places.take(next, 1);
      next.place(slot, ++this.#jobs);
    }
    this.#laneTimer ??= setInterval(() => this.#decideExpress(), EXPRESS_INTERVAL_MS);
    this.#decideExpress();
  }

  /** Starts the express slot, unless the worker may start no thread beside its slots, or has more than it may already. */
  #addExpress(): Slot | undefined {
    const { slots, quanta } = this.#options;
    const isAllowed = quanta.sparesMax > 0 && this.#threads <= slots + quanta.sparesMax;
    if (!isAllowed) return undefined;
    this.#lane = this.#newLane();
    return this.#addSlot('express');
  }

  #newLane(): ExpressLane<Attempt> {
    return new ExpressLane(new LevelSpec(this.#levelSpec.buffer));
  }

  get #express(): Slot | undefined {
    return this.#slots.find(({ life }) => life === 'express');
  }

  #onLeft(attempt: Attempt): void {
    if (this.#express !== undefined) this.#lane.left(attempt);
  }

  /** Lets tasks of the express slot run, or holds them; those that stay too long go to the other slots. */
  #decideExpress(): void {
    const mayLeave = (attempt: Attempt): boolean => this.#runOf(attempt)?.mayLeaveExpress === true;
    const leaving = this.#lane.decide(this.#slots, performance.now(), mayLeave);
    for (const attempt of leaving) this.#runOf(attempt)?.leaveExpress();
    if ((this.#express?.attempts.size ?? 0) > 0) return;
    clearInterval(this.#laneTimer);
    this.#laneTimer = undefined;
  }

  /** Threads beside the express slot. */
  get #threads(): number {
    return this.#slots.filter(({ life }) => life !== 'express').length;
  }

  /** Wakes tasks and callers of `turn` that may wait for a long quantum to end. */
  #wakeWaiting(): void {
    this.#placeWaiting();
    this.#turns.wake();
  }

  /** Whether a principal is at its limit of long quanta. */
  #isLimited(owner: string): boolean {
    const long = this.#slots.filter((slot) => slot.life === 'slow' && ownerOfCurrent(slot) === owner);
    return long.length >= this.#options.quanta.longMax;
  }

  #look(): void {
    const { quanta } = this.#options;
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
      const isUnwanted = slot.life === 'reserve' && now - this.#reserveWantedMs >= this.#options.thread.idle.afterMs;
      const isLeft = slot.life === 'retired' && slot.attempts.size === 0;
      if (isUnwanted || isLeft) this.#closeSlot(slot);
    }
    // Its accounts go on while it has no task: who had none before it came cannot claim that time.
    if (this.#express !== undefined) this.#decideExpress();
    if (hasChanged) this.#wakeWaiting();
    quanta.onHung(hungQuantum(this.#slots, quanta.overrunMs));
  }

  /** Starts a reserve thread, so that the next replacement is available at once. It ends when none was wanted for `idle.afterMs`. */
  #makeReserve(): void {
    const { slots, quanta } = this.#options;
    const hasReserve = this.#slots.some(({ life }) => life === 'reserve');
    if (!hasReserve && this.#threads < slots + quanta.sparesMax) this.#addSlot('reserve');
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
    for (const attempt of slot.attempts.values()) {
      const other = attempt === current ? undefined : this.#runOf(attempt);
      if (other === undefined) continue;
      const mayBegin = !this.#isLimited(other.owner) && other.investedMs <= ageMs && this.#open.length > 0;
      if (other.isCancelled || mayBegin) other.leaveSlot();
    }
  }

  get #open(): readonly Slot[] {
    return this.#slots.filter(({ life }) => life === 'open');
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
      if (reserve === undefined && this.#threads >= slots + quanta.sparesMax) return;
      if (reserve === undefined) this.#addSlot('open');
      else reserve.life = 'open';
    }
  }

  /** Number of open slots that are missing. */
  #missing(): number {
    return this.#options.slots - this.#open.length;
  }

  /** The task of an attempt that was not withdrawn. */
  #runOf(attempt: Attempt): SlotRun | undefined {
    for (const run of this.#runs) if (run.isOn(attempt)) return run;
    return undefined;
  }
}

const ownerOfCurrent = ({ current }: Slot): string | undefined =>
  current === undefined ? undefined : ownerOf(current.start.spec);
