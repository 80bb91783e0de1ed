import { PARTITIONS_MAX, type InputSource, type TaskReport, type SentTask } from '#proto/task.ts';
import type { Clock } from '#shared/clock.ts';
import { SkeinError } from '#shared/error.ts';
import type { QueryId, TaskId, TenantId } from '#shared/id.ts';
import type { Logger } from '#shared/log/logger.ts';
import { isWithin } from '#shared/storage/location.ts';
import type { Keyring } from '#shared/keyring.ts';
import { verifyTicket, type Ticket } from '#shared/ticket.ts';
import type { InputPlaces } from '../exchange/collect-inputs.ts';
import type { PeerClients } from '../exchange/peer-clients.ts';
import type { MemoryGate } from '../slot/memory-gate.ts';
import type { SlotPool } from '../slot/slot-pool.ts';
import type { Spool, TaskSpool } from '../spool/spool.ts';
import type { SpooledOutput, SpoolStore } from '../spool/spooled-output.ts';
import { executeTask, type TaskEnd, type TaskSink } from './execute-task.ts';
import { RecentIds } from './recent-ids.ts';
import { PartitionSink } from './partition-sink.ts';

/** Tasks whose output is held, finished ones included. */
const TASKS_HELD_MAX = 100_000;

/**
 * ```
 * fetching (inputs) --> waiting (for memory) --> running --> spooled (not read to its end; partitions: until EndQuery) --> gone
 *        \_____________________\_____________________\____________________\____ cancel, reader lost, failure _______^
 * ```
 */
type Task = {
  readonly spec: SentTask;
  readonly abort: AbortController;
  readonly output:
    | { readonly kind: 'stream'; readonly spool: TaskSpool }
    | { readonly kind: 'spool'; readonly stored: SpooledOutput; readonly end: Promise<TaskEnd> };
  /** Settles when the task has left its slot and given its memory back. */
  stopped: Promise<void>;
  state: 'waiting' | 'running' | 'spooled';
  /** Number of RunTask calls that wait for the task. */
  callers: number;
  /** Settles when all memory and files of the task are freed; undefined until freeing begins. */
  freed: Promise<void> | undefined;
};

/** A partition opened for a reader: its output is retained on the reader's behalf, and the reader must release it. */
export type OpenedPartition = {
  readonly output: SpooledOutput;
  readonly partition: number;
  readonly report: TaskReport;
};

export type TaskRegistryOptions = {
  readonly pool: SlotPool;
  readonly memory: MemoryGate;
  readonly spool: Spool;
  readonly store: SpoolStore;
  readonly peers: PeerClients;
  /** Addresses by which other processes name this worker. */
  readonly addresses: ReadonlySet<string>;
  readonly keyring: Keyring;
  readonly tasksMax: number;
  readonly orphanTimeoutMs: number;
  readonly clock: Clock;
  readonly log: Logger;
};

/** Every task of this worker, from the call that brings it until its output is read or dropped. */
export class TaskRegistry {
  readonly #options: TaskRegistryOptions;
  readonly #tasks = new Map<TaskId, Task>();
  /** Tasks that have not ended. */
  #active = 0;
  readonly #ended = new RecentIds<TaskId>();
  readonly #endedQueries = new RecentIds<QueryId>();
  /** Per epoch, the monotonic milliseconds at which its coordinator was last heard. */
  readonly #heardMs = new Map<number, number>();
  readonly #orphanTimer: NodeJS.Timeout;
  #epoch = 0;
  readonly #drain = new AbortController();
  /** Aborts when the drain begins: from then on new tasks are refused. */
  readonly drainBegan = this.#drain.signal;
  readonly #drained = Promise.withResolvers<void>();

  constructor(options: TaskRegistryOptions) {
    this.#options = options;
    // If this process itself hung, the beats wait in the socket: `setImmediate` lets them be read before orphans are judged.
    const judge = (): void => void setImmediate(() => this.#endOrphans());
    this.#orphanTimer = setInterval(judge, Math.max(100, options.orphanTimeoutMs / 4));
    this.#orphanTimer.unref();
  }

  get size(): number {
    return this.#tasks.size;
  }

  /** The queries that have a task or spooled output here. */
  queries(): readonly QueryId[] {
    return [...new Set([...this.#tasks.values()].map(({ spec }) => spec.queryId))];
  }

  /** Tasks that have not ended. */
  get active(): number {
    return this.#active;
  }

  get draining(): boolean {
    return this.drainBegan.aborted;
  }

  /** @throws FORBIDDEN for an epoch older than one that was seen. */
  hear(epoch: number): void {
    if (epoch < this.#epoch) throw new SkeinError('FORBIDDEN', 'a newer coordinator has taken over');
    this.#epoch = epoch;
    this.#heardMs.set(epoch, this.#options.clock.monotonicMs());
  }

  /**
   * Starts a task with a streamed output, whose only reader is the caller.
   * @throws UNAUTHENTICATED when the ticket is for another task or location, FORBIDDEN, QUEUE_FULL, WORKER_DRAINING,
   * QUERY_CANCELLED when it was cancelled before it came, INVALID_REQUEST when it is here already.
   */
  stream(spec: SentTask, ticket: Ticket): TaskSpool {
    if (spec.output.kind !== 'stream') throw new SkeinError('INVALID_REQUEST', 'DoGet is for streamed outputs');
    if (this.#tasks.has(spec.taskId)) throw new SkeinError('INVALID_REQUEST', 'the task has a reader already');
    const { output } = this.#admit(spec, ticket);
    if (output.kind !== 'stream') throw new Error('invariant: a task has the output that its description names');
    return output.spool;
  }

  /**
   * Runs a task with a spooled output to its end; one that is here already is waited for. `signal` is the caller's: when the last caller
   * goes, the task ends.
   * @throws what `stream` throws; how the task ends is an answer.
   */
  async run(signal: AbortSignal, spec: SentTask, ticket: Ticket): Promise<TaskEnd> {
    if (spec.output.kind !== 'spool') throw new SkeinError('INVALID_REQUEST', 'RunTask is for spooled outputs');
    const task = this.#admit(spec, ticket);
    if (task.output.kind !== 'spool') throw new SkeinError('INVALID_REQUEST', 'the task streams its output');
    task.callers++;
    const leave = (): void => {
      task.callers--;
      if (task.callers > 0) return;
      void this.#end(task, new SkeinError('QUERY_CANCELLED', 'the coordinator went away'));
    };
    if (signal.aborted) leave();
    signal.addEventListener('abort', leave, { once: true });
    try {
      const end = await task.output.end;
      await task.stopped;
      if (end.kind !== 'finished') await this.#forget(task);
      return end;
    } finally {
      signal.removeEventListener('abort', leave);
    }
  }

  #admit(spec: SentTask, ticket: Ticket): Task {
    checkTicket(spec, ticket);
    this.hear(spec.epoch);
    const found = this.#tasks.get(spec.taskId);
    if (found !== undefined && !belongsTo(found, spec)) {
      throw new SkeinError('UNAUTHENTICATED', 'the ticket is for another task');
    }
    if (found !== undefined && found.freed === undefined) return found;
    if (found !== undefined || this.#ended.has(spec.taskId) || this.#endedQueries.has(spec.queryId)) {
      throw new SkeinError('QUERY_CANCELLED', 'the task has ended');
    }
    if (this.draining) throw new SkeinError('WORKER_DRAINING', 'the worker is shutting down');
    if (this.#active >= this.#options.tasksMax || this.#tasks.size >= TASKS_HELD_MAX) {
      throw new SkeinError('QUEUE_FULL', 'the worker has too many tasks');
    }
    const task = spec.output.kind === 'stream' ? this.#stream(spec) : this.#divide(spec, spec.output.partitions);
    this.#tasks.set(spec.taskId, task);
    return task;
  }

  #stream(spec: SentTask): Task {
    let stored: ((bytes: number) => void) | undefined;
    const spool = this.#options.spool.open((bytes) => stored?.(bytes));
    const sink: TaskSink = {
      accept: (output, onStored) => {
        stored = onStored;
        if (output.kind === 'data') spool.push(output.data);
        else if (output.kind === 'finished' || output.kind === 'failed') spool.end(output);
      },
    };
    return this.#execute({ ...newTask(spec), output: { kind: 'stream', spool } }, sink, (end) => {
      // The coordinator recomputes the input when it knows which task produced it.
      if (end.kind !== 'lost') return spool.end(end);
      const message = 'an input of the task was lost';
      spool.end({ kind: 'failed', error: { code: 'INPUT_LOST', message, lostTask: end.lost.taskId } });
    });
  }

  #divide(spec: SentTask, partitions: number): Task {
    if (!Number.isInteger(partitions) || partitions < 1 || partitions > PARTITIONS_MAX) {
      throw new SkeinError('INVALID_REQUEST', `an output has 1 to ${PARTITIONS_MAX} partitions`);
    }
    const stored = this.#options.store.open(spec.queryId, partitions);
    const fresh = newTask(spec);
    const sink = new PartitionSink(stored, fresh.abort);
    const task = this.#execute({ ...fresh, output: { kind: 'spool', stored, end: sink.end } }, sink, (end) =>
      sink.fail(end),
    );
    // A failed task is forgotten, because the coordinator may send it again.
    void sink.end.then((end) => (end.kind === 'finished' ? undefined : task.stopped.then(() => this.#forget(task))));
    return task;
  }

  /** Starts the task; `failed` is called when it ends without a report from its slot. */
  #execute(task: Task, sink: TaskSink, failed: (end: TaskEnd & { kind: 'failed' | 'lost' }) => void): Task {
    const { pool, memory, log } = this.#options;
    const { spec, abort } = task;
    this.#active++;
    const started = (): void => {
      task.state = 'running';
    };
    const run = async (): Promise<void> => {
      try {
        const lost = await executeTask(abort.signal, spec, sink, { pool, memory, places: this.#places, started });
        if (lost !== undefined) failed({ kind: 'lost', lost });
      } catch (error) {
        failed({ kind: 'failed', error: SkeinError.of(error).toData() });
      } finally {
        task.state = 'spooled';
        this.#active--;
        log.debug({ query: spec.queryId, task: spec.taskId }, 'task left its slot');
      }
    };
    task.stopped = run();
    return task;
  }

  readonly #places: InputPlaces = {
    isLocal: ({ address }) => this.#options.addresses.has(address),
    local: (source, spec) => this.#localSource(source, spec),
    open: (source, spec) => {
      this.#checkSource(source, spec);
      return this.#options.store.open(spec.queryId, 1);
    },
    fetch: (signal, source, into) => this.#options.peers.fetch(signal, source, into),
  };

  #localSource(source: InputSource, spec: SentTask): SpooledOutput | undefined {
    this.#checkSource(source, spec);
    const task = this.#tasks.get(source.taskId);
    if (task?.output.kind !== 'spool' || task.state !== 'spooled' || task.freed !== undefined) return undefined;
    if (!belongsTo(task, spec) || !task.output.stored.has(source.partition)) {
      throw new SkeinError('UNAUTHENTICATED', 'the ticket is for another output');
    }
    return task.output.stored.retain();
  }

  /** Checks that a task reads only outputs of its own query, on any worker. @throws UNAUTHENTICATED */
  #checkSource({ taskId, partition, ticket: text }: InputSource, spec: SentTask): void {
    const ticket = verifyTicket(text, this.#options.keyring, this.#options.clock.nowMs());
    const isFor = ticket.taskId === taskId && ticket.partition === partition;
    if (!isFor || ticket.queryId !== spec.queryId || ticket.tenant !== spec.tenant) {
      throw new SkeinError('UNAUTHENTICATED', 'the ticket is for another output');
    }
  }

  /**
   * Opens a partition of a task's spooled output; waits for the end of the task.
   * @throws UNAUTHENTICATED for another query's ticket, WORKER_LOST when the output is not here, the task's own error.
   */
  async open(ticket: Ticket): Promise<OpenedPartition> {
    const { taskId, partition } = ticket;
    const task = this.#tasks.get(taskId);
    if (task === undefined) throw new SkeinError('WORKER_LOST', 'the worker does not know the task');
    const { output } = task;
    if (!belongsTo(task, ticket) || output.kind !== 'spool' || !output.stored.has(partition)) {
      throw new SkeinError('UNAUTHENTICATED', 'the ticket is for another output');
    }
    const end = await output.end;
    if (end.kind === 'failed') throw SkeinError.fromData(end.error);
    if (end.kind === 'lost' || task.freed !== undefined) throw lostError;
    return { output: output.stored.retain(), partition, report: end.report };
  }

  /** Ends a task and drops its output; resolves when none of it runs any more, to false when this worker does not have it. */
  async cancel(taskId: TaskId, error: SkeinError): Promise<boolean> {
    this.#ended.add(taskId);
    const task = this.#tasks.get(taskId);
    if (task === undefined) return false;
    await this.#end(task, error);
    return true;
  }

  async #end(task: Task, error: SkeinError): Promise<void> {
    task.abort.abort(error);
    if (task.output.kind === 'stream') task.output.spool.end({ kind: 'failed', error: error.toData() });
    await task.stopped;
    await this.#forget(task);
  }

  /** Ends all tasks of a query and frees their spooled output; later tasks of the query are refused. */
  async endQuery(queryId: QueryId): Promise<void> {
    this.#endedQueries.add(queryId);
    const error = new SkeinError('QUERY_CANCELLED', 'the query has ended');
    const tasks = [...this.#tasks.values()].filter(({ spec }) => spec.queryId === queryId);
    await Promise.all(tasks.map((task) => this.#end(task, error)));
  }

  /** The reader has read the output to its end. */
  async finish(taskId: TaskId): Promise<void> {
    const task = this.#tasks.get(taskId);
    if (task === undefined) return;
    this.#ended.add(taskId);
    await task.stopped;
    await this.#forget(task);
  }

  /** Refuses new tasks; resolves when the last task is gone, including its spooled output. */
  drain(): Promise<void> {
    this.#drain.abort();
    if (this.#tasks.size === 0) this.#drained.resolve();
    return this.drained;
  }

  /** Resolves when a drain is done. */
  get drained(): Promise<void> {
    return this.#drained.promise;
  }

  async close(): Promise<void> {
    clearInterval(this.#orphanTimer);
    this.#drain.abort();
    const error = new SkeinError('WORKER_LOST', 'the worker is shutting down');
    await Promise.all([...this.#tasks.keys()].map((id) => this.cancel(id, error)));
  }

  #forget(task: Task): Promise<void> {
    return (task.freed ??= this.#free(task));
  }

  async #free({ spec, output }: Task): Promise<void> {
    if (output.kind === 'stream') {
      output.spool.clear();
    } else {
      output.stored.close();
      await output.stored.release();
    }
    this.#tasks.delete(spec.taskId);
    if (this.draining && this.#tasks.size === 0) this.#drained.resolve();
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

const lostError = new SkeinError('WORKER_LOST', 'a worker was lost while it ran the query');

const newTask = (spec: SentTask): Omit<Task, 'output'> => ({
  spec,
  abort: new AbortController(),
  stopped: Promise.resolve(),
  state: 'waiting',
  callers: 0,
  freed: undefined,
});

const belongsTo = ({ spec }: Task, other: { readonly queryId: QueryId; readonly tenant: TenantId }): boolean =>
  spec.queryId === other.queryId && spec.tenant === other.tenant;

function checkTicket(spec: SentTask, ticket: Ticket): void {
  const same =
    ticket.taskId === spec.taskId &&
    ticket.queryId === spec.queryId &&
    ticket.tenant === spec.tenant &&
    ticket.principal === spec.principal &&
    ticket.epoch === spec.epoch;
  if (!same) throw new SkeinError('UNAUTHENTICATED', 'the ticket is for another task');
  const covered = (root: string): boolean => ticket.locations.some((location) => isWithin(root, location));
  if (!spec.allowedRoots.flat().every(covered)) {
    throw new SkeinError('UNAUTHENTICATED', 'the ticket does not cover the locations of the task');
  }
}
