import type { TaskSpec } from '#proto/task.ts';
import type { Clock } from '#shared/clock.ts';
import { SkeinError } from '#shared/error.ts';
import type { TaskId } from '#shared/id.ts';
import type { Logger } from '#shared/log/logger.ts';
import { isWithin } from '#shared/storage/location.ts';
import type { Ticket } from '#shared/ticket.ts';
import type { MemoryGate } from '../slot/memory-gate.ts';
import type { SlotPool, SlotRun } from '../slot/slot-pool.ts';
import type { Spool, TaskSpool } from '../spool/spool.ts';

/** A reader may come before its task: so long it waits. */
const OPEN_WAIT_MS = 10_000;
/** Ids of ended tasks that are remembered: a start that comes late, after its cancel, must not run. */
const ENDED_REMEMBERED_MAX = 10_000;

/**
 * ```
 * waiting (for memory) --> running --> spooled (output not read to its end) --> gone
 *        \_____________________\____________________\____ cancel, reader lost ____^
 * ```
 */
type Task = {
  readonly spec: TaskSpec;
  readonly spool: TaskSpool;
  readonly abort: AbortController;
  /** Settles when the task has left its slot and given its memory back. */
  stopped: Promise<void>;
  run: SlotRun | undefined;
  state: 'waiting' | 'running' | 'spooled';
  reader: boolean;
};

export type TaskRegistryOptions = {
  readonly pool: SlotPool;
  readonly memory: MemoryGate;
  readonly spool: Spool;
  readonly tasksMax: number;
  readonly orphanTimeoutMs: number;
  readonly clock: Clock;
  readonly log: Logger;
};

/** Every task of this worker, from StartTask until its output is read or dropped. */
export class TaskRegistry {
  readonly #options: TaskRegistryOptions;
  readonly #tasks = new Map<TaskId, Task>();
  readonly #ended = new Set<TaskId>();
  /** Readers that came before their task. */
  readonly #expected = new Map<TaskId, Set<() => void>>();
  /** When a coordinator of an epoch was last heard of, in monotonic milliseconds. */
  readonly #heardMs = new Map<number, number>();
  readonly #orphanTimer: NodeJS.Timeout;
  #epoch = 0;
  #draining = false;
  #drained: (() => void) | undefined;

  constructor(options: TaskRegistryOptions) {
    this.#options = options;
    this.#orphanTimer = setInterval(() => this.#endOrphans(), Math.max(100, options.orphanTimeoutMs / 4));
    this.#orphanTimer.unref();
  }

  get size(): number {
    return this.#tasks.size;
  }

  get draining(): boolean {
    return this.#draining;
  }

  /** @throws FORBIDDEN for an epoch older than one that was seen. */
  hear(epoch: number): void {
    if (epoch < this.#epoch) throw new SkeinError('FORBIDDEN', 'a newer coordinator has taken over');
    this.#epoch = epoch;
    this.#heardMs.set(epoch, this.#options.clock.monotonicMs());
  }

  /**
   * Takes a task; a task that is here already is not started again.
   * @throws UNAUTHENTICATED when the ticket is for another task or location, FORBIDDEN, QUEUE_FULL, NO_WORKERS while draining,
   * QUERY_CANCELLED when it was cancelled before it came.
   */
  start(spec: TaskSpec, ticket: Ticket): void {
    checkTicket(spec, ticket);
    this.hear(spec.epoch);
    if (this.#tasks.has(spec.taskId)) return;
    if (this.#ended.has(spec.taskId)) throw new SkeinError('QUERY_CANCELLED', 'the task has ended');
    if (this.#draining) throw new SkeinError('NO_WORKERS', 'the worker is shutting down');
    if (this.#tasks.size >= this.#options.tasksMax) throw new SkeinError('QUEUE_FULL', 'the worker has too many tasks');
    const task: Task = {
      spec,
      abort: new AbortController(),
      spool: this.#options.spool.open((bytes) => task.run?.taken(bytes)),
      stopped: Promise.resolve(),
      run: undefined,
      state: 'waiting',
      reader: false,
    };
    this.#tasks.set(spec.taskId, task);
    task.stopped = this.#execute(task);
    for (const resolve of this.#expected.get(spec.taskId) ?? []) resolve();
    this.#expected.delete(spec.taskId);
  }

  async #execute(task: Task): Promise<void> {
    const { pool, memory, log } = this.#options;
    const { spec, spool } = task;
    try {
      const memoryBytes = await memory.acquire(spec.memoryLimitBytes, task.abort.signal);
      try {
        // A cancel may have come between the grant and this line; from here on it reaches the run.
        task.abort.signal.throwIfAborted();
        task.state = 'running';
        task.run = pool.run(spec, memoryBytes, (output) => {
          if (output.kind === 'data') spool.push(output.data);
          else spool.end(output);
        });
        await task.run.ended;
      } finally {
        memory.release(memoryBytes);
      }
    } catch (error) {
      spool.end({ kind: 'failed', error: SkeinError.of(error).toData() });
    } finally {
      task.run = undefined;
      task.state = 'spooled';
      log.debug({ query: spec.queryId, task: spec.taskId }, 'task left its slot');
    }
  }

  /**
   * The output of a task, for the one reader that it has; waits a while for a task that has not come yet.
   * @throws UNAUTHENTICATED for another query's ticket, QUERY_CANCELLED, WORKER_LOST when the task never comes.
   */
  async open(ticket: Ticket): Promise<TaskSpool> {
    const { taskId } = ticket;
    if (!this.#tasks.has(taskId) && !this.#ended.has(taskId)) await this.#expect(taskId);
    const task = this.#tasks.get(taskId);
    if (task === undefined) {
      throw this.#ended.has(taskId)
        ? new SkeinError('QUERY_CANCELLED', 'the task has ended')
        : new SkeinError('WORKER_LOST', 'the worker does not know the task');
    }
    if (task.spec.queryId !== ticket.queryId || task.spec.tenant !== ticket.tenant || ticket.partition !== 0) {
      throw new SkeinError('UNAUTHENTICATED', 'the ticket is for another output');
    }
    if (task.reader) throw new SkeinError('INVALID_REQUEST', 'the output is read already');
    task.reader = true;
    return task.spool;
  }

  #expect(taskId: TaskId): Promise<void> {
    return new Promise((resolve) => {
      const waiting = this.#expected.get(taskId) ?? new Set();
      const done = (): void => {
        clearTimeout(timer);
        waiting.delete(done);
        if (waiting.size === 0) this.#expected.delete(taskId);
        resolve();
      };
      const timer = setTimeout(done, OPEN_WAIT_MS);
      waiting.add(done);
      this.#expected.set(taskId, waiting);
    });
  }

  /** Ends a task and drops its output; resolves when nothing of it runs any more, to false when it is not here. */
  async cancel(taskId: TaskId, error: SkeinError): Promise<boolean> {
    this.#remember(taskId);
    const task = this.#tasks.get(taskId);
    if (task === undefined) return false;
    task.abort.abort(error);
    task.run?.cancel(error);
    task.spool.end({ kind: 'failed', error: error.toData() });
    await task.stopped;
    this.#forget(task);
    return true;
  }

  /** The reader has read the output to its end. */
  async finish(taskId: TaskId): Promise<void> {
    const task = this.#tasks.get(taskId);
    if (task === undefined) return;
    this.#remember(taskId);
    await task.stopped;
    this.#forget(task);
  }

  /** Refuses new tasks; resolves when the last one is gone. */
  async drain(): Promise<void> {
    this.#draining = true;
    if (this.#tasks.size === 0) return;
    await new Promise<void>((resolve) => {
      const previous = this.#drained;
      this.#drained = () => {
        previous?.();
        resolve();
      };
    });
  }

  async close(): Promise<void> {
    clearInterval(this.#orphanTimer);
    this.#draining = true;
    const error = new SkeinError('WORKER_LOST', 'the worker is shutting down');
    await Promise.all([...this.#tasks.keys()].map((id) => this.cancel(id, error)));
    for (const readers of this.#expected.values()) for (const done of readers) done();
  }

  #forget(task: Task): void {
    task.spool.clear();
    if (this.#tasks.get(task.spec.taskId) === task) this.#tasks.delete(task.spec.taskId);
    if (this.#tasks.size === 0) this.#drained?.();
  }

  #remember(taskId: TaskId): void {
    this.#ended.delete(taskId);
    this.#ended.add(taskId);
    if (this.#ended.size <= ENDED_REMEMBERED_MAX) return;
    const [oldest] = this.#ended;
    if (oldest !== undefined) this.#ended.delete(oldest);
  }

  #endOrphans(): void {
    const { clock, orphanTimeoutMs, log } = this.#options;
    const nowMs = clock.monotonicMs();
    const silent = new Set([...this.#heardMs].filter(([, ms]) => nowMs - ms > orphanTimeoutMs).map(([epoch]) => epoch));
    for (const epoch of silent) this.#heardMs.delete(epoch);
    for (const { spec } of this.#tasks.values()) {
      if (this.#heardMs.has(spec.epoch)) continue;
      log.warn({ query: spec.queryId, task: spec.taskId }, 'the coordinator is silent: task ended');
      void this.cancel(spec.taskId, new SkeinError('QUERY_CANCELLED', 'the coordinator of the query is gone'));
    }
  }
}

function checkTicket(spec: TaskSpec, ticket: Ticket): void {
  const same =
    ticket.taskId === spec.taskId &&
    ticket.queryId === spec.queryId &&
    ticket.tenant === spec.tenant &&
    ticket.principal === spec.principal &&
    ticket.epoch === spec.epoch;
  if (!same) throw new SkeinError('UNAUTHENTICATED', 'the ticket is for another task');
  const covered = (root: string): boolean => ticket.locations.some((location) => isWithin(root, location));
  if (!spec.scans.every((scan) => scan.allowedRoots.every(covered))) {
    throw new SkeinError('UNAUTHENTICATED', 'the ticket does not cover the locations of the task');
  }
}
