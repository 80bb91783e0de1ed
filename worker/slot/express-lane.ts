import type { SentTask } from '#shared/task/task.ts';
import { DEFAULT_MLFQ, type MlfqSpec } from '#shared/mlfq-spec.ts';
import type { LevelSpec } from '../turns/level-spec.ts';
import { levelOf } from '../turns/mlfq.ts';
import { ShareClock } from './share-clock.ts';
import type { QueryTime } from '../turns/slot-messages.ts';
import type { SlotLife } from './slot.ts';

/** CPU time that a tenant, a principal or its top level may have on the express slot beyond its share: that of ten short queries. */
const AHEAD_MS = 100;
/**
 * CPU time after which a task leaves the express slot: most queries of one row take less than a tenth of it, and one that was taken for
 * such loses no more than this when it begins again.
 */
const EXPRESS_CPU_MS = 100;
/** Time after which a task that is held leaves the express slot, to have its turns on the others. */
const HELD_MS = 50;
/** One that cannot leave, because it has sent rows, goes on for one decision after this time. */
const HELD_MAX_MS = 500;

/** An attempt to run a task on a slot. */
export interface LaneTask {
  readonly start: { readonly spec: Pick<SentTask, 'tenant' | 'principal'> };
  readonly time: QueryTime;
  readonly isRunnable: boolean;
  /** Its CPU time so far. */
  readonly cpuMs: number;
  /** Its thread is at work for it: nobody knows when that ends. */
  readonly isInside: boolean;
  hold(on: boolean): void;
}

/** A slot with its attempts by job number. `isBusy`: one of them has work to do. */
export interface LaneSlot<Task extends LaneTask> {
  readonly life: SlotLife;
  readonly isBusy: boolean;
  readonly attempts: ReadonlyMap<number, Task>;
}

type Entry = { chargedMs: number; heldSinceMs: number | undefined };

/** The times that tenants, principals and levels had, and those of them that have work, with their weights. */
type Sums = { readonly hadMs: Map<string, number>; readonly active: Map<string, number> };

/**
 * Decides which tasks of the express slot may run. That slot is a thread beside the worker's others, with a higher priority, for tasks of
 * interactive queries that would wait until a step of another task has ended. It changes when a task runs, and not how much anybody gets:
 * ```
 *   express slot   ......i1.i2......           held while their tenant, their principal, or the top level of its
 *   slot           [ step of b1      ][ ...    tasks has had more than its share of the worker's CPU time
 * ```
 * CPU time counts, because the thread may share a core with those of the slots. A share is an equal part for each tenant that has work, of
 * that an equal part for each of its principals, and of that the part of each level as in `mlfq.ts`.
 */
export class ExpressLane<Task extends LaneTask> {
  readonly #levels: LevelSpec;
  readonly #entries = new WeakMap<Task, Entry>();
  /** Tasks that have left their slots since the last decision. */
  #left: Task[] = [];
  /** The first decision is made: what tasks had before does not count. */
  #follows = false;
  /** Clocks of tenants, of a tenant's principals, and of a principal's levels, by their path. */
  #clocks = new Map<string, ShareClock<string>>();
  #spec: MlfqSpec = DEFAULT_MLFQ;

  /** `levels` tells which are in force. */
  constructor(levels: LevelSpec) {
    this.#levels = levels;
  }

  /** Whether a task would wait on the slots, and no level is as good as any other. */
  isWanted(slots: readonly LaneSlot<Task>[]): boolean {
    this.#spec = this.#levels.take() ?? this.#spec;
    return this.#spec.levelWeightRatio > 1 && hasNoIdle(slots);
  }

  /** A task has left its slot: its last time counts, too. */
  left(task: Task): void {
    this.#left.push(task);
  }

  /**
   * Holds the tasks of the express slot that have had more than their share, and lets the others go on. To be called often, also while it
   * has no task. Returns those that are to leave it, because they are not short or would be held for long: of those that `mayLeave`, and only
   * between two quanta, because one that does not end would have a second thread.
   */
  decide(slots: readonly LaneSlot<Task>[], nowMs: number, mayLeave: (task: Task) => boolean): readonly Task[] {
    this.#spec = this.#levels.take() ?? this.#spec;
    this.#advance(slots);
    const isShared = hasNoIdle(slots);
    const leaving: Task[] = [];
    for (const task of slots.flatMap(({ life, attempts }) => (life === 'express' ? [...attempts.values()] : []))) {
      const entry = this.#entryOf(task);
      const isAhead = isShared && task.isRunnable && this.#leadMs(task) > AHEAD_MS;
      entry.heldSinceMs = isAhead ? (entry.heldSinceMs ?? nowMs) : undefined;
      const heldMs = nowMs - (entry.heldSinceMs ?? nowMs);
      if (heldMs >= HELD_MAX_MS) entry.heldSinceMs = undefined;
      const leaves = (task.cpuMs >= EXPRESS_CPU_MS || heldMs >= HELD_MS) && mayLeave(task);
      task.hold(leaves || entry.heldSinceMs !== undefined);
      if (leaves && !task.isInside) leaving.push(task);
    }
    return leaving;
  }

  /** By how much a task's tenant, principal or level is ahead of its share, whichever is most. */
  #leadMs(task: Task): number {
    return Math.max(...this.#pathOf(task).map(([parent, name]) => this.#clocks.get(parent)?.leadMs(name) ?? 0));
  }

  /** Brings the clocks up to now. */
  #advance(slots: readonly LaneSlot<Task>[]): void {
    const sums = new Map<string, Sums>();
    for (const task of [...this.#left, ...slots.flatMap(({ attempts }) => [...attempts.values()])]) {
      const entry = this.#entryOf(task);
      const { cpuMs } = task;
      const hadMs = Math.max(0, cpuMs - entry.chargedMs);
      entry.chargedMs = Math.max(entry.chargedMs, cpuMs);
      for (const [parent, name, weight] of this.#pathOf(task)) {
        const sum = sums.get(parent) ?? { hadMs: new Map<string, number>(), active: new Map<string, number>() };
        sums.set(parent, sum);
        sum.hadMs.set(name, (sum.hadMs.get(name) ?? 0) + hadMs);
        if (task.isRunnable || hadMs > 0) sum.active.set(name, weight);
      }
    }
    this.#left = [];
    this.#follows = true;
    const clocks = this.#clocks;
    // A tenant or principal without tasks has no clock: it had no time to divide.
    this.#clocks = new Map([...sums.keys()].map((parent) => [parent, clocks.get(parent) ?? new ShareClock()]));
    const root = clocks.get(ROOT);
    if (root !== undefined) this.#clocks.set(ROOT, root);
    for (const [parent, clock] of this.#clocks)
      clock.advance(sums.get(parent)?.hadMs ?? NONE, sums.get(parent)?.active ?? NONE);
  }

  #entryOf(task: Task): Entry {
    const known = this.#entries.get(task);
    if (known !== undefined) return known;
    const entry = { chargedMs: this.#follows ? 0 : task.cpuMs, heldSinceMs: undefined };
    this.#entries.set(task, entry);
    return entry;
  }

  /** The clocks that a task counts to, each with its name and weight there. */
  #pathOf({ start: { spec }, time }: Task): readonly (readonly [parent: string, name: string, weight: number])[] {
    const { tenant, principal } = spec;
    const level = time.pinnedToTop ? 0 : levelOf(time.scheduledMs, this.#spec);
    return [
      [ROOT, tenant, 1],
      [JSON.stringify([tenant]), principal, 1],
      [JSON.stringify([tenant, principal]), String(level), this.#spec.levelWeightRatio ** -level],
    ];
  }
}

const ROOT = '';
const NONE: ReadonlyMap<string, number> = new Map();

const hasNoIdle = (slots: readonly LaneSlot<LaneTask>[]): boolean =>
  slots.every(({ life, isBusy }) => life !== 'open' || isBusy);
