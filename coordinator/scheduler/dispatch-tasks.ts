// long file: one class, the rules by which tasks run again
import { randomUUID } from 'node:crypto';
import type { TaskSpec } from '#shared/task/task.ts';
import { SkeinError } from '#shared/error.ts';
import { taskId, type TaskId } from '#shared/id.ts';
import { must } from '#shared/must.ts';
import { queryKilled, WorkerEnding } from '../cluster/worker-ending.ts';
import type { LiveWorker } from '../cluster/worker-pool.ts';
import { runCarrying } from './carry-rows.ts';
import { readEachOther } from './read-each-other.ts';
import { restartResult } from './restart-result.ts';
import { RunCosts } from './run-costs.ts';
import { RunKeys } from './run-keys.ts';
import { runProgress, type RunProgress, type RunView } from './run-progress.ts';
import { runTask } from './run-task.ts';
import { roomsByWidth, type RoomsByWidth } from './rooms-by-width.ts';
import { asksWorker, runningTask, type RunningTask } from './running-task.ts';
import type { Scheduler, TimedRun } from './scheduler.ts';
import { endOnWorkers } from './spooled-task.ts';
import { stageReports, type StageReport } from './stage-report.ts';
import type { StageRun } from './stage-run.ts';
import { StarvationWatch } from './starvation-watch.ts';
import { TakenCores } from './taken-cores.ts';
import { stageTasks } from './stage-state.ts';
import { taskTicket, type TaskOwner } from './task-spec.ts';
import { TaskSpecs, threadsOf, type TaskPlace } from './task-specs.ts';
import { withRun, type TaskEnd } from './task-end.ts';
import {
  failureError,
  stageError,
  FragmentRefused,
  INPUT_LOST,
  NOT_BY_WAITING,
  QUERY_ENDED,
  sentInPart,
  StartOver,
} from './task-errors.ts';
import { isCarried, type TaskEvent, type TaskOutput } from './task-state.ts';

/**
 * The last stage's task is sent before its producers have ended only when these have run for this long: then nearly all of their tasks are
 * known to their workers, and the stage is long enough that sending early saves something.
 */
const EARLY_AFTER_MS = 10;

type Options = {
  readonly scheduler: Scheduler;
  readonly owner: TaskOwner;
  readonly signal: AbortSignal;
};

/**
 * Assigns the tasks of a query's stages to workers; a query that runs whole is one stage of one task. A free slot gets a task whose input
 * lies on its worker, else any other task. A task whose worker is lost runs again on another worker, and so do the tasks whose output that
 * worker held, as long as a stage still needs it.
 */
export class TaskDispatcher implements RunView, TimedRun {
  readonly #options: Options;
  /** Stages with tasks to run. A producer whose output was lost follows the readers that wait for it. */
  readonly #active = new Set<StageRun>();
  /** Every stage that was run so far. */
  readonly #stages = new Set<StageRun>();
  readonly #running = new Map<TaskId, RunningTask>();
  readonly #cores = new TakenCores();
  readonly #costs: RunCosts;
  readonly #used = new Map<string, LiveWorker>();
  readonly #specs: TaskSpecs;
  readonly keys: RunKeys;
  readonly #stop = new AbortController();
  readonly #failed: PromiseWithResolvers<never> = Promise.withResolvers();
  readonly #onAbort: () => void;
  readonly #unwatch: () => void;
  readonly #starvation: StarvationWatch;
  #early: NodeJS.Timeout | undefined;
  /** Whether the stages that were started last have run for `EARLY_AFTER_MS`. */
  #mayBeEarly = false;
  /** Whether a worker may hold tasks or output that must be dropped at the end; streamed rows are dropped with their task. */
  #hasSpooled = false;

  constructor(options: Options) {
    this.#options = options;
    this.#costs = new RunCosts(options.owner);
    this.#specs = new TaskSpecs(options.scheduler, options.owner);
    this.keys = new RunKeys(options.scheduler, options.owner);
    const { pool, workerWaitMs } = options.scheduler;
    this.#starvation = new StarvationWatch({ pool, waitMs: workerWaitMs, onStarved: (error) => this.#fail(error) });
    this.#failed.promise.catch(() => undefined);
    this.#onAbort = () => this.#fail(SkeinError.of(options.signal.reason));
    if (options.signal.aborted) this.#onAbort();
    options.signal.addEventListener('abort', this.#onAbort, { once: true });
    this.#unwatch = options.scheduler.pool.onChange(() => this.#pump());
  }

  /** Total scheduled time of its tasks so far, in ms. */
  get scheduledMs(): number {
    return this.#costs.scheduledMs;
  }

  get isPinned(): boolean {
    return this.#options.owner.isPinned();
  }

  timed(id: TaskId, { scheduledMs, bytesScanned }: Parameters<TimedRun['timed']>[1]): void {
    const running = this.#running.get(id);
    if (running === undefined) return;
    this.#costs.worked(running, { rows: 0, scheduledMs });
    this.#costs.scanned(id, bytesScanned);
  }

  /** Progress of the stages that were started so far. */
  get progress(): RunProgress {
    return { ...runProgress([...this.#stages], [...this.#running.values()]), bytesScanned: this.#costs.bytesScanned };
  }

  get stages(): readonly StageReport[] {
    return stageReports(this.#stages);
  }

  /**
   * Runs stages, whose producers are done or among them, to their end.
   * @throws StartOver, FragmentRefused, or the error that ends the query.
   */
  async run(stages: readonly StageRun[]): Promise<void> {
    for (const stage of stages) {
      this.#active.add(stage);
      this.#stages.add(stage);
    }
    this.#mayBeEarly = false;
    if (stages.some(({ isEarly }) => isEarly)) {
      this.#early = setTimeout(() => {
        this.#mayBeEarly = true;
        this.#pump();
      }, EARLY_AFTER_MS);
    }
    this.#pump();
    try {
      await Promise.race([Promise.all(stages.map((stage) => stage.done.promise)), this.#failed.promise]);
    } finally {
      clearTimeout(this.#early);
    }
  }

  /** Ends running tasks and frees spooled output. Resolves when every live worker has confirmed it, or has not within the deadline. */
  async end(): Promise<void> {
    this.#fail(QUERY_ENDED);
    this.#unwatch();
    this.#options.signal.removeEventListener('abort', this.#onAbort);
    const ending = [...this.#running.values()].map(({ ended }) => ended.promise);
    await Promise.all(this.#hasSpooled ? [...ending, this.#endOnWorkers()] : ending);
  }

  async #endOnWorkers(): Promise<void> {
    const ended = await endOnWorkers(this.#used.values(), this.#options.owner.queryId);
    for (const { taskId: id, bytesScanned } of ended) this.#costs.scanned(id, bytesScanned);
  }

  #fail(error: Error): void {
    if (this.#stop.signal.aborted) return;
    this.#starvation.stop();
    clearTimeout(this.#early);
    this.#failed.reject(error);
    this.#stop.abort(SkeinError.of(error));
    for (const { stage, stop } of this.#running.values()) {
      stage.result?.close();
      stop.abort(this.#stop.signal.reason);
    }
  }

  /** Starts every task that can start now. Called after every change: a task ended, a worker came or went. */
  #pump(): void {
    if (this.#stop.signal.aborted) return;
    try {
      const { pool } = this.#options.scheduler;
      this.#dropLost(new Set(pool.live().map(({ info }) => info.id)));
      for (const stage of this.#active) this.#settle(stage);
      const open = readEachOther(this.#stages) ? pool.together() : pool.open();
      const rooms = roomsByWidth(open);
      const hasWork = (): boolean => [...this.#active].some((stage) => stage.hasWork);
      while (hasWork() && (this.#startSome(open, rooms, true) || this.#startSome(open, rooms, false)));
      this.#starvation.look(this.#active.size > 0 && this.#running.size === 0);
    } catch (error) {
      this.#fail(error instanceof Error ? error : new Error(String(error)));
    }
  }

  /** Starts one task on each worker with a free slot. Returns whether any was started. */
  #startSome(workers: readonly LiveWorker[], rooms: RoomsByWidth, isNear: boolean): boolean {
    let started = false;
    for (const [i, worker] of workers.entries()) {
      for (const stage of this.#active) {
        const room = must(rooms(stage.fragment.width)[i], 'every worker has room');
        const isEarly = !stage.isReady;
        if (isEarly && !(this.#mayBeEarly && stage.startsEarly)) continue;
        const taken = this.#cores.of(worker.info.id, isEarly);
        if (taken > 0 && taken + threadsOf(stage, room) > room.cores) continue;
        const task = stage.take(worker, isNear, workers);
        if (task === undefined) continue;
        this.#start(stage, task, { worker, room, isEarly });
        started = true;
        break;
      }
    }
    return started;
  }

  #settle(stage: StageRun): void {
    const { state } = stage;
    if (state.kind === 'running') return;
    this.#active.delete(stage);
    if (state.kind === 'failed') throw stageError(stage.fragment, failureError(state.failure));
    stage.done.resolve();
  }

  /** Reruns the tasks whose output was on a worker that is gone, when an unfinished stage reads it. */
  #dropLost(alive: ReadonlySet<string>): void {
    const seen = new Set<StageRun>();
    const visit = (stage: StageRun): void => {
      if (seen.has(stage)) return;
      seen.add(stage);
      if (stage.result === null) {
        for (const output of stage.outputs()) {
          if (alive.has(output.worker.id)) continue;
          if (isCarried(output)) this.#stopReaders(output.taskId, asksWorker);
          else this.#loseOutput(stage, output);
        }
      }
      if (stage.state.kind !== 'done') for (const producer of stage.read) visit(producer);
    };
    for (const stage of new Set(this.#active)) visit(stage);
  }

  #loseOutput(stage: StageRun, output: TaskOutput): void {
    const readers = [...this.#active].filter((reader) => reader.read.includes(stage));
    const isSliced = readers.some((reader) => reader.readsSlices);
    if (stage.isRead && (isSliced || !stage.fragment.repeatable)) {
      throw new StartOver('what a lost worker held cannot be made again as it was');
    }
    const task = stageTasks(stage.state).findIndex((one) => one.kind === 'done' && one.output === output);
    stage.applyTask(task, { kind: 'outputLost' });
    stage.retries += 1;
    this.#options.scheduler.onRetry();
    this.#active.add(stage);
    // A read from a worker that hangs would never end.
    this.#stopReaders(output.taskId);
  }

  #stopReaders(of: TaskId, isMeant: (reader: RunningTask, id: TaskId) => boolean = () => true): void {
    for (const [id, reader] of this.#running) {
      if (reader.reads.has(of) && isMeant(reader, id)) reader.stop.abort(INPUT_LOST);
    }
  }

  #start(stage: StageRun, task: number, { worker, room, isEarly }: TaskPlace & { readonly isEarly: boolean }): void {
    const id = taskId(randomUUID());
    const { info, link } = worker;
    const spec = this.#specs.make(
      stage,
      task,
      { worker, room },
      { id, scheduledMs: Math.round(this.#costs.scheduledMs) },
    );
    const running = runningTask({ stage, worker, spec, isEarly, part: stage.part(task) });
    stage.applyTask(task, { kind: 'placed', taskId: id, worker: { id: info.id, address: link.address } });
    for (const producer of stage.read) producer.isRead = true;
    this.#running.set(id, running);
    this.keys.add(worker, spec);
    this.#cores.add(running);
    this.#used.set(info.id, worker);
    this.#hasSpooled ||= spec.output.kind !== 'stream';
    const noteEnd = stage.attempts.begin(task, { worker: info.name, threads: spec.threads });
    const run = async (): Promise<void> => {
      const sentAtMs = Date.now();
      const end = await this.#execute(running, spec, worker);
      const event = withRun(end, { worker: info.name, threads: spec.threads, sentAtMs, endedAtMs: Date.now() });
      noteEnd(event);
      if (event.kind === 'finished') this.#costs.scanned(id, event.report.bytesScanned);
      this.#running.delete(id);
      this.keys.remove(id);
      this.#cores.remove(running);
      running.ended.resolve();
      this.#ended(running, task, event, id);
      // Only after the task's state is settled: when the result restarts, the batches that wait belong after the restart.
      stage.result?.ended(id);
      this.#pump();
    };
    void run();
  }

  #ended(running: RunningTask, task: number, event: TaskEvent, id: TaskId): void {
    const { stage, isEarly } = running;
    if (this.#stop.signal.aborted) return;
    if (event.kind === 'finished') {
      const { scheduledMs, rows } = event.report;
      // Rows of the result are counted as they come.
      this.#costs.worked(running, { rows: stage.result === null ? rows : 0, scheduledMs });
    }
    stage.applyTask(task, event);
    // Readers that wait for its end would wait forever.
    if (event.kind !== 'finished') this.#stopReaders(id);
    for (const reader of this.#running.values()) if (reader.stage.isReady) this.#cores.waitsNoMore(reader);
    if (stage.state.kind === 'failed' || event.kind === 'finished' || event.kind === 'refused') return;
    if (stage.result?.hasDelivered(id) === true && !restartResult(stage, stage.result)) {
      this.#fail(sentInPart(event.kind));
      return;
    }
    // One that was sent early, and lost what it waited for, has cost nothing.
    if (event.kind === 'workerEnded' || (isEarly && event.kind === 'inputLost')) return;
    stage.retries += 1;
    this.#options.scheduler.onRetry();
  }

  /** Runs a task to its end. Never rejects. */
  async #execute(running: RunningTask, spec: TaskSpec, worker: LiveWorker): Promise<TaskEnd> {
    const { stage, stop, part } = running;
    const { scheduler, owner } = this.#options;
    const { result } = stage;
    const onLost = (): void => stop.abort(worker.lost.reason);
    worker.lost.addEventListener('abort', onLost);
    try {
      if (worker.lost.aborted) onLost();
      const task = {
        calls: worker.link.calls,
        spec,
        ticket: taskTicket(owner, spec, scheduler.keyring),
        taskBytesMax: scheduler.taskBytesMax,
        signal: stop.signal,
      };
      if (result !== null) {
        const onStopped = (bytes: number): void => this.#costs.scanned(spec.taskId, bytes);
        const run = { ...task, keyring: scheduler.keyring, onMessage: result.reader(spec.taskId), onStopped };
        return { kind: 'finished', report: result.checked(await runTask(run)) };
      }
      const end = await runCarrying(part, task, scheduler);
      if (end.kind === 'finished') return end;
      await this.#lookForInput(running, end.producer);
      return { kind: 'inputLost' };
    } catch (thrown) {
      this.#costs.scanned(spec.taskId, SkeinError.of(thrown).bytesScanned ?? 0);
      return await this.#eventOf(thrown, running);
    } finally {
      worker.lost.removeEventListener('abort', onLost);
    }
  }

  /** Turns the error of a task into an event. `signal` is the task's own; it is also aborted when the worker is lost. */
  async #eventOf(thrown: unknown, running: RunningTask): Promise<TaskEnd> {
    const { stage, worker, waits, stop } = running;
    const { signal } = stop;
    const { code } = SkeinError.of(thrown);
    // It has not begun: neither did it kill its worker, nor need its worker have had room for one more task.
    if (waits && NOT_BY_WAITING.has(code) && !(signal.reason instanceof WorkerEnding)) return { kind: 'inputLost' };
    const broke = code === 'CONNECTION_LOST';
    if (broke && !signal.aborted && (await worker.link.outlives([signal]))) return { kind: 'connectionLost' };
    if (signal.aborted && signal.reason === INPUT_LOST) return { kind: 'inputLost' };
    // A connection that breaks while its worker is lost says less than the signal does.
    const error = SkeinError.of(broke ? signal.reason : thrown);
    if (error instanceof WorkerEnding) {
      const isOurs = error.hung.queryId === this.#options.owner.queryId;
      return isOurs ? { kind: 'failed', error: queryKilled(error.hung) } : { kind: 'workerEnded' };
    }
    if (error.lostTask !== undefined) {
      await this.#lookForInput(running, taskId(error.lostTask));
      return { kind: 'inputLost' };
    }
    if (error.code === 'WORKER_LOST') return { kind: 'workerLost' };
    if (error.code === 'FRAGMENT_REFUSED' && stage.fragment.policed === undefined)
      this.#fail(new FragmentRefused(stage.fragment, error.message));
    return error.code === 'WORKER_DRAINING' ? { kind: 'refused' } : { kind: 'failed', error };
  }

  /**
   * Finds out why a reader could not fetch a task's output. When its worker does not reach the one that has it, or makes it, the query starts
   * over on workers that reach each other.
   */
  async #lookForInput({ stage, worker, isEarly }: RunningTask, producer: TaskId): Promise<void> {
    const { pool } = this.#options.scheduler;
    const output = stage.read.flatMap((one) => one.outputs()).find((one) => one.taskId === producer);
    const id = output?.worker.id ?? this.#running.get(producer)?.worker.info.id;
    const holder = pool.live().find(({ info }) => info.id === id);
    if (holder !== undefined && (await pool.pairs.look(worker, holder))) {
      this.#fail(new StartOver('two workers do not reach each other'));
      return;
    }
    // An early reader may have come before the task that it reads. What is really lost the next attempt finds out.
    if (!isEarly) this.#inputLost(stage, producer);
  }

  /** Handles a reader that could not fetch a task's output, even if the worker that holds the output still answers the coordinator. */
  #inputLost(reader: StageRun, producer: TaskId): void {
    try {
      for (const stage of reader.read) {
        const output = stage.outputs().find((one) => one.taskId === producer);
        if (output !== undefined) this.#loseOutput(stage, output);
      }
    } catch (error) {
      this.#fail(error as StartOver);
    }
  }
}
