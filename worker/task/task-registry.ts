import { LRUCache } from 'lru-cache';
import type { WantedKey } from '#proto/generated/skein/worker/v1/WantedKey.ts';
import type { TaskTime } from '#proto/generated/skein/worker/v1/TaskTime.ts';
import { PARTITIONS_MAX, type InputSource, type SentTask, type TaskReport } from '#shared/task/task.ts';
import type { Clock } from '#shared/clock.ts';
import { SkeinError } from '#shared/error.ts';
import type { QueryId, TaskId } from '#shared/id.ts';
import type { Logger } from '#shared/log/logger.ts';
import { orAborted } from '#shared/or-aborted.ts';
import type { Keyring } from '#shared/keyring.ts';
import { credentialId } from '#shared/storage/credential.ts';
import { verifyTicket, type Ticket } from '#shared/ticket.ts';
import type { InputPlaces } from '../exchange/collect-inputs.ts';
import type { PeerClients } from '../exchange/peer-clients.ts';
import type { MemoryGate } from '../slot/memory-gate.ts';
import type { RenewedKey } from '../turns/slot-messages.ts';
import type { SlotPool } from '../slot/slot-pool.ts';
import type { Spool, TaskSpool, WholeOutput } from '../spool/spool.ts';
import type { SpooledOutput, SpoolStore } from '../spool/spooled-output.ts';
import { checkRenewal, checkSourceTicket, checkTaskTicket, isOfQuery } from './check-ticket.ts';
import { isReplaced, nextCoordinators, NO_COORDINATORS } from './coordinators-state.ts';
import type { TaskEnd } from './execute-task.ts';
import { nextIntake, refusal, type IntakeEvent, type IntakeState } from './intake-state.ts';
import { PartitionedOutput } from './partitioned-output.ts';
import { StreamedOutput } from './streamed-output.ts';
import { isActive, isLive, type TaskState } from './task-state.ts';
import { WorkerTask, type KeptOutput } from './worker-task.ts';

/** Number of ids remembered, so that a task whose start arrives after its cancel does not run. */
const REMEMBERED_MAX = 10_000;

/** An output of at most this many bytes, whose task ends within this time after its first row, comes with the answer. */
const WHOLE_BYTES_MAX = 64 * 2 ** 10;
const WHOLE_WAIT_MS = 10;

/** Ends a task whose reader does not want its rows any more. */
export const READER_LEFT = new SkeinError('QUERY_CANCELLED', 'the reader went away');

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

/** Every task of this worker, from the call that brings it until its output is free. */
export class TaskRegistry {
  readonly #options: TaskRegistryOptions;
  readonly #tasks = new Map<TaskId, WorkerTask>();
  /** Tasks that have not left their slot. */
  #active = 0;
  readonly #ended = new LRUCache<TaskId, true>({ max: REMEMBERED_MAX });
  readonly #endedQueries = new LRUCache<QueryId, true>({ max: REMEMBERED_MAX });
  readonly #orphanTimer: NodeJS.Timeout;
  #coordinators = NO_COORDINATORS;
  #intake: IntakeState = { kind: 'open' };
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

  /** Costs of tasks that have not ended: all of them, or those that are meant. */
  times(isMeant: (spec: SentTask) => boolean = () => true): readonly TaskTime[] {
    return [...this.#options.pool.runs].flatMap(({ start: { spec }, scheduledMs, bytesScanned }) => {
      const { queryId: query_id, taskId: task_id } = spec;
      return isMeant(spec) ? [{ query_id, task_id, scheduled_ms: scheduledMs, bytes_scanned: bytesScanned }] : [];
    });
  }

  /** The keys in whose place tasks wait for others. */
  wantedKeys(): readonly WantedKey[] {
    return [...this.#options.pool.runs].flatMap(({ start: { spec }, wantedKeys }) =>
      wantedKeys.map((credential_id) => ({ query_id: spec.queryId, credential_id })),
    );
  }

  /**
   * Brings a task a key in place of another; false when the task is not here. @throws UNAUTHENTICATED when the ticket is for another task, or
   * does not cover what the task does with the key
   */
  renewKey(ticket: Ticket, key: RenewedKey): boolean {
    const task = this.#tasks.get(ticket.taskId);
    if (task === undefined) return false;
    checkRenewal(task.spec, ticket, credentialId(key.credential));
    for (const run of this.#options.pool.runs) if (run.start.spec.taskId === ticket.taskId) run.renewKey(key);
    return true;
  }

  /** Tasks that have not left their slot. */
  get active(): number {
    return this.#active;
  }

  get draining(): boolean {
    return this.#intake.kind !== 'open';
  }

  /** Whether a coordinator has been heard within the time for orphans. */
  get isHeard(): boolean {
    return this.#coordinators.heardMs.size > 0;
  }

  /**
   * @param handsOver the coordinator has given up the lead, and is heard until its queries have ended
   * @throws FORBIDDEN for an epoch older than one that was seen
   */
  hear(epoch: number, handsOver = false): void {
    if (isReplaced(this.#coordinators, epoch)) throw new SkeinError('FORBIDDEN', 'a newer coordinator has taken over');
    const atMs = this.#options.clock.monotonicMs();
    this.#coordinators = nextCoordinators(this.#coordinators, { kind: 'heard', epoch, atMs, handsOver });
  }

  /**
   * Runs a task with a streamed output. Answers with all of it when it is small and comes together; else with null, and the output waits for
   * its reader (`attach`). The task ends when `signal`, the caller's, aborts before that.
   * @throws UNAUTHENTICATED when the ticket is for another task or location, FORBIDDEN, QUEUE_FULL, WORKER_DRAINING,
   * QUERY_CANCELLED when it was cancelled before it came, INVALID_REQUEST when it is here already.
   */
  async stream(signal: AbortSignal, spec: SentTask, ticket: Ticket): Promise<WholeOutput | null> {
    if (spec.output.kind !== 'stream')
      throw new SkeinError('INVALID_REQUEST', 'the output of the task is not streamed');
    if (this.#find(spec, ticket) !== undefined)
      throw new SkeinError('INVALID_REQUEST', 'the task has a reader already');
    const output = new StreamedOutput(this.#options.spool);
    this.#add(spec, () => output);
    const leave = (): void => void this.cancel(spec.taskId, READER_LEFT);
    if (signal.aborted) leave();
    signal.addEventListener('abort', leave, { once: true });
    const whole = await output.spool.whole(WHOLE_BYTES_MAX, WHOLE_WAIT_MS);
    signal.removeEventListener('abort', leave);
    if (whole === null) output.hasReader = false;
    else this.finish(spec.taskId);
    return whole;
  }

  /**
   * The output of a task that `stream` has started, for its one reader.
   * @throws WORKER_LOST when the task is not here, UNAUTHENTICATED, INVALID_REQUEST for another output or a second reader
   */
  attach(ticket: Ticket): TaskSpool {
    const task = this.#tasks.get(ticket.taskId);
    if (task === undefined) throw new SkeinError('WORKER_LOST', 'the worker does not know the task');
    if (!isOfQuery(task.spec, ticket)) throw new SkeinError('UNAUTHENTICATED', 'the ticket is for another task');
    const { output } = task;
    if (output.kind !== 'stream' || output.hasReader) {
      throw new SkeinError('INVALID_REQUEST', 'the output of the task is not streamed, or has a reader already');
    }
    output.hasReader = true;
    return output.spool;
  }

  /**
   * Runs a task with a spooled output to its end, or waits for it when it is already here. `signal` is the caller's: when the last caller's
   * aborts, the task ends.
   * @throws what `stream` throws; how the task ends is an answer.
   */
  async run(signal: AbortSignal, spec: SentTask, ticket: Ticket): Promise<TaskEnd> {
    if (spec.output.kind === 'stream') throw new SkeinError('INVALID_REQUEST', 'the output of the task is streamed');
    // The files of a table are in the report, and no rows are spooled.
    const partitions = 'sink' in spec.output ? 0 : spec.output.partitions;
    if (
      spec.output.kind === 'spool' &&
      (!Number.isInteger(partitions) || partitions < 1 || partitions > PARTITIONS_MAX)
    ) {
      throw new SkeinError('INVALID_REQUEST', `an output has 1 to ${PARTITIONS_MAX} partitions`);
    }
    const open = (abort: AbortController): KeptOutput =>
      new PartitionedOutput(this.#options.store.open(spec.queryId, partitions), abort);
    return await (this.#find(spec, ticket) ?? this.#add(spec, open)).end(signal);
  }

  /** The task if it is here; undefined when it may be added. @throws what `stream` throws */
  #find(spec: SentTask, ticket: Ticket): WorkerTask | undefined {
    checkTaskTicket(spec, ticket);
    this.hear(spec.epoch);
    const found = this.#tasks.get(spec.taskId);
    if (found !== undefined && !isOfQuery(found.spec, spec)) {
      throw new SkeinError('UNAUTHENTICATED', 'the ticket is for another task');
    }
    if (found !== undefined && found.state.kind !== 'freeing') return found;
    if (found !== undefined || this.#ended.has(spec.taskId) || this.#endedQueries.has(spec.queryId)) {
      throw new SkeinError('QUERY_CANCELLED', 'the task has ended');
    }
    const load = { active: this.#active, activeMax: this.#options.tasksMax, held: this.#tasks.size };
    const refused = refusal(this.#intake, load);
    if (refused !== undefined) throw refused;
    return undefined;
  }

  #add(spec: SentTask, open: (abort: AbortController) => KeptOutput): WorkerTask {
    const { pool, memory } = this.#options;
    const services = { pool, memory, places: this.#places };
    const onChange = (changed: WorkerTask, before: TaskState): void => this.#onChange(changed, before);
    const task = new WorkerTask({ spec, services, open, onChange });
    this.#tasks.set(spec.taskId, task);
    this.#active++;
    return task;
  }

  #onChange({ spec, state }: WorkerTask, before: TaskState): void {
    if (isActive(before) && !isActive(state)) {
      this.#active--;
      this.#options.log.debug({ query: spec.queryId, task: spec.taskId }, 'task left its slot');
    }
    if (state.kind !== 'gone') return;
    this.#tasks.delete(spec.taskId);
    this.#applyIntake({ kind: 'taskGone', held: this.#tasks.size });
  }

  #applyIntake(event: IntakeEvent): void {
    this.#intake = nextIntake(this.#intake, event);
    if (this.#intake.kind !== 'open') this.#drain.abort();
    if (this.#intake.kind === 'drained') this.#drained.resolve();
  }

  readonly #places: InputPlaces = {
    isLocal: ({ address }) => this.#options.addresses.has(address),
    local: (signal, source, spec) => this.#localSource(signal, source, spec),
    open: (source, spec) => {
      this.#checkSource(source, spec);
      return this.#options.store.open(spec.queryId, 1);
    },
    fetch: (signal, source, into) => this.#options.peers.fetch(signal, source, into),
  };

  async #localSource(signal: AbortSignal, source: InputSource, spec: SentTask): Promise<SpooledOutput | undefined> {
    this.#checkSource(source, spec);
    const task = this.#tasks.get(source.taskId);
    if (task?.output.kind !== 'spool') return undefined;
    const { stored } = task.output;
    if (!isOfQuery(task.spec, spec) || !stored.has(source.partition)) {
      throw new SkeinError('UNAUTHENTICATED', 'the ticket is for another output');
    }
    if (source.awaited === true) {
      const [end] = await orAborted(Promise.all([task.output.end, task.left]), signal);
      if (end.kind !== 'finished') return undefined;
    }
    return task.state.kind === 'held' ? stored.retain() : undefined;
  }

  #checkSource(source: InputSource, spec: SentTask): void {
    const { keyring, clock } = this.#options;
    checkSourceTicket(source, spec, verifyTicket(source.ticket, keyring, clock.nowMs()));
  }

  /**
   * Opens a partition of a task's spooled output; waits for the end of the task.
   * @throws UNAUTHENTICATED for another query's ticket, WORKER_LOST when the output is not here, the task's own error.
   */
  async openPartition(ticket: Ticket): Promise<OpenedPartition> {
    const { taskId, partition } = ticket;
    const task = this.#tasks.get(taskId);
    if (task === undefined) throw new SkeinError('WORKER_LOST', 'the worker does not know the task');
    const { output } = task;
    if (!isOfQuery(task.spec, ticket) || output.kind !== 'spool' || !output.stored.has(partition)) {
      throw new SkeinError('UNAUTHENTICATED', 'the ticket is for another output');
    }
    const end = await output.end;
    if (end.kind === 'failed') throw SkeinError.fromData(end.error);
    if (end.kind === 'lost' || !isLive(task.state)) {
      throw new SkeinError('WORKER_LOST', 'a worker was lost while it ran the query');
    }
    return { output: output.stored.retain(), partition, report: end.report };
  }

  /** Ends a task and drops its output. Resolves when no part of it runs any more; to false when this worker does not have the task. */
  async cancel(taskId: TaskId, error: SkeinError): Promise<boolean> {
    this.#ended.set(taskId, true);
    const task = this.#tasks.get(taskId);
    if (task === undefined) return false;
    task.stop(error);
    await task.gone;
    return true;
  }

  /** Ends all tasks of a query and frees their spooled output; later tasks of the query are refused. */
  async endQuery(queryId: QueryId): Promise<void> {
    this.#endedQueries.set(queryId, true);
    const error = new SkeinError('QUERY_CANCELLED', 'the query has ended');
    const tasks = [...this.#tasks.values()].filter(({ spec }) => spec.queryId === queryId);
    for (const task of tasks) task.stop(error);
    await Promise.all(tasks.map((task) => task.gone));
  }

  /** Called when the reader has read the output to its end. */
  finish(taskId: TaskId): void {
    const task = this.#tasks.get(taskId);
    if (task === undefined) return;
    this.#ended.set(taskId, true);
    task.read();
  }

  /** Refuses new tasks; resolves when the last task is gone, including its spooled output. */
  drain(): Promise<void> {
    this.#applyIntake({ kind: 'drain', held: this.#tasks.size });
    return this.drained;
  }

  /** Resolves when a drain is done. */
  get drained(): Promise<void> {
    return this.#drained.promise;
  }

  async close(): Promise<void> {
    clearInterval(this.#orphanTimer);
    this.#applyIntake({ kind: 'drain', held: this.#tasks.size });
    const error = new SkeinError('WORKER_LOST', 'the worker is shutting down');
    await Promise.all([...this.#tasks.keys()].map((id) => this.cancel(id, error)));
  }

  #endOrphans(): void {
    const { clock, orphanTimeoutMs, log } = this.#options;
    const checked = { kind: 'checked', atMs: clock.monotonicMs(), silenceMaxMs: orphanTimeoutMs } as const;
    this.#coordinators = nextCoordinators(this.#coordinators, checked);
    for (const { spec } of this.#tasks.values()) {
      if (this.#coordinators.heardMs.has(spec.epoch)) continue;
      log.warn({ query: spec.queryId, task: spec.taskId }, 'the coordinator is silent: task ended');
      void this.cancel(spec.taskId, new SkeinError('QUERY_CANCELLED', 'the coordinator of the query is gone'));
    }
  }
}
