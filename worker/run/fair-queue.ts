import type { Asker } from '#shared/fair/asker.ts';
import { Turns } from '#shared/fair/turns.ts';
import { DEFAULT_MLFQ, type MlfqSpec } from '#shared/mlfq-spec.ts';
import { must } from '#shared/must.ts';
import {
  addTask,
  blockTask,
  chargeTask,
  emptyMlfq,
  isIdle,
  levelDepths,
  moveTask,
  pickTask,
  removeTask,
  wakeTask,
  withSpec,
  type Mlfq,
} from '../turns/mlfq.ts';

/** Tasks of one principal. */
type Share = Asker & { tasks: Mlfq };

/**
 * The tasks of a slot: its time is shared evenly between tenants, within a tenant between its principals (`Turns`), and within a principal
 * as in `mlfq.ts`. A principal with a hundred tasks gets no more time than one with a single task.
 */
export class FairQueue {
  readonly #turns = new Turns();
  #spec: MlfqSpec = DEFAULT_MLFQ;
  readonly #shares = new Map<string, Share>();
  readonly #shareOf = new Map<string, Share>();

  /** Adds a runnable task, like `addTask` of `mlfq.ts`. */
  add(
    id: string,
    { tenant, principal }: Asker,
    level: { readonly scheduledMs: number; readonly pinned: boolean },
  ): void {
    const key = keyOf({ tenant, principal });
    const share = this.#shares.get(key) ?? { tenant, principal, tasks: withSpec(emptyMlfq, this.#spec) };
    this.#shares.set(key, share);
    this.#shareOf.set(id, share);
    share.tasks = addTask(share.tasks, id, level.scheduledMs, level.pinned);
  }

  /** Puts other levels in force, for the tasks that are here too. */
  setSpec(spec: MlfqSpec): void {
    this.#spec = spec;
    for (const share of this.#shares.values()) share.tasks = withSpec(share.tasks, spec);
  }

  /** The query of a task has had this time by now, like `moveTask` of `mlfq.ts`. */
  setTime(id: string, { scheduledMs, pinned }: { readonly scheduledMs: number; readonly pinned: boolean }): void {
    this.#change(id, (state) => moveTask(state, id, scheduledMs, pinned));
  }

  remove(id: string): void {
    this.#change(id, removeTask);
    const share = this.#shareOf.get(id);
    this.#shareOf.delete(id);
    if (share?.tasks.tasks.size === 0) this.#shares.delete(keyOf(share));
  }

  /** Blocks a task, which waits for its reader or for helper threads. */
  block(id: string): void {
    this.#change(id, blockTask);
  }

  /** Makes a blocked task runnable again. */
  wake(id: string): void {
    this.#change(id, wakeTask);
  }

  /** Picks the next task; undefined when none is runnable. */
  pick(): string | undefined {
    const share = this.#turns.pick(this.#shares.values().filter(({ tasks }) => !isIdle(tasks)));
    if (share === undefined) return undefined;
    const { id, state } = must(pickTask(share.tasks), 'a task can run');
    share.tasks = state;
    return id;
  }

  /** Charges a quantum to its task, its principal and its tenant. */
  charge(id: string, quantumMs: number): void {
    const share = this.#shareOf.get(id);
    if (share === undefined) return;
    this.#turns.charge(share, quantumMs);
    share.tasks = chargeTask(share.tasks, id, quantumMs);
  }

  /** Level of a task. */
  levelOf(id: string): number {
    return this.#shareOf.get(id)?.tasks.tasks.get(id)?.level ?? 0;
  }

  /** Runnable tasks per level. */
  depths(): number[] {
    const sums = levelDepths(emptyMlfq);
    for (const { tasks } of this.#shares.values()) {
      levelDepths(tasks).forEach((count, level) => (sums[level] = (sums[level] ?? 0) + count));
    }
    return sums;
  }

  #change(id: string, next: (state: Mlfq, id: string) => Mlfq): void {
    const share = this.#shareOf.get(id);
    if (share !== undefined) share.tasks = next(share.tasks, id);
  }
}

const keyOf = ({ tenant, principal }: Asker): string => JSON.stringify([tenant, principal]);
