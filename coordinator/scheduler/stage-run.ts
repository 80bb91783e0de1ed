// long file: one class, the life of a stage
import type { InputSource, OutputSpec, WriteSink } from '#shared/task/task.ts';
import type { ScanFile } from '#shared/iceberg/scan-file.ts';
import { must, unreachable } from '#shared/must.ts';
import type { LiveWorker } from '../cluster/worker-pool.ts';
import type { Fragment, StageFacts, TaskFragment } from '../distributor/fragment.ts';
import type { RowsPart, TableRows } from '../binding/table-rows.ts';
import type { AppliedFilter } from './applied-filter.ts';
import { chooseHome } from './choose-home.ts';
import type { FinishedTask } from './finished-task.ts';
import { inputSources, type SourceOf, type StageOutput } from './input-sources.ts';
import { partsOf, partTables, plannedFiles, type PlannedScan, type TaskTable } from './plan-scans.ts';
import { bytesOfFiles, groupsOf, readPart } from './read-bytes.ts';
import type { ResultReader } from './result-reader.ts';
import { splitsOf } from './divide-staged.ts';
import { batchFiles, SplitQueue, type Split } from './split-queue.ts';
import { NEW_STAGE, nextStage, stageTasks, type StageEvent, type StageState } from './stage-state.ts';
import { TaskAttempts } from './task-attempt.ts';
import { partitionShares, type InputShare, type TaskShare } from './task-share.ts';
import { takersOf, type TaskEvent, type TaskOutput } from './task-state.ts';

export type StageContext = {
  readonly scans: readonly PlannedScan[];
  /** `slots`: tasks of the stage that the worker runs at a time. */
  readonly workers: readonly { readonly address: string; readonly slots: number }[];
  /** The session has set the number of partitions. */
  readonly isFixed: boolean;
};

/** The stages that have brought rows to the workers, by these rows. */
export type Arrivals = ReadonlyMap<TableRows, StageRun>;

/** A task that reads at most this many bytes runs on one core: it ends before a second core would help. */
const NARROW_TASK_BYTES_MAX = 4 * 2 ** 20;

const NO_ARRIVALS: Arrivals = new Map();

type StageParts<F extends TaskFragment> = Pick<StageRun<F>, 'fragment' | 'producers' | 'result' | 'sink'> & {
  readonly arrivals?: Arrivals;
};

/** The tasks of one fragment while a query runs: their input shares, states and outputs. */
export class StageRun<F extends TaskFragment = TaskFragment> {
  readonly fragment: F;
  /** The stages that it reads, one for each of the fragment's inputs. */
  readonly producers: readonly StageRun<F>[];
  /** The stages that have brought rows of its scans to the workers. */
  readonly arrivals: Arrivals;
  /** Settles when all tasks were done for the first time. */
  readonly done: PromiseWithResolvers<void> = Promise.withResolvers();
  /** True once a task that reads this stage's output was started. */
  isRead = false;
  retries = 0;
  /** Memory that the query may use on all workers, as asked for when the stage's first task began. */
  memoryBytes: number | undefined;
  /** The fragment's scans. */
  planned: readonly PlannedScan[] = [];
  skewed = 0;
  dynamicFilters: readonly AppliedFilter[] = [];
  readonly attempts: TaskAttempts = new TaskAttempts();
  /** One core does a task's work soon enough, however many it may have. */
  isSmall = false;
  /** Its tasks may be sent while its producers run: they wait on their workers for these to end. */
  isEarly = false;
  readonly startedAtMs: number = Date.now();
  readonly startedMs: number = performance.now();
  endedMs = 0;
  #state: StageState = NEW_STAGE;
  readonly #shares: TaskShare[] = [];
  readonly #homes = new Map<number, string | undefined>();
  #queue: SplitQueue | undefined;
  #partsHome: string | undefined;
  /** The files of each scan that every task reads whole; empty for scans that are divided. */
  #wholeScans: readonly (readonly ScanFile[])[] = [];

  /** Takes the rows that the tasks stream; null when they are spooled or written. */
  readonly result: ResultReader | null;
  /** Where the tasks write files; null for every other stage. */
  readonly sink: WriteSink | null;

  constructor({ fragment, producers, result, sink, arrivals = NO_ARRIVALS }: StageParts<F>) {
    this.fragment = fragment;
    this.producers = producers;
    this.arrivals = arrivals;
    this.result = result;
    this.sink = sink;
  }

  /** All stages that it reads. */
  get read(): readonly StageRun[] {
    return [...this.producers, ...this.arrivals.values()];
  }

  /** Where the rows of its tasks go. */
  get output(): OutputSpec {
    if (this.sink !== null) return this.sink;
    return this.result === null ? { kind: 'spool', partitions: this.fragment.partitions } : { kind: 'stream' };
  }

  get state(): StageState {
    return this.#state;
  }

  /** Whether a task reads a slice of a partition: a range of batches, which is valid only while the output stays exactly the same. */
  get readsSlices(): boolean {
    return this.skewed > 0;
  }

  /** Tasks that are known by now. */
  get tasksMade(): number {
    return this.#shares.length;
  }

  share(task: number): TaskShare {
    return must(this.#shares[task], 'every task has a share');
  }

  apply(event: StageEvent): void {
    this.#state = nextStage(this.#state, event);
    if (this.#state.kind === 'done') this.endedMs = performance.now();
  }

  applyTask(task: number, event: TaskEvent): void {
    this.apply({ kind: 'task', task, event });
  }

  /** Makes the tasks' shares, or the queue that they are taken from. Producers that it reads in parts are done. */
  start({ scans, workers, isFixed }: StageContext): void {
    const { fragment } = this;
    this.planned = fragment.scans.map(({ scan }) => must(scans[scan], 'a fragment names planned scans'));
    const files = this.planned.map(plannedFiles);
    this.#wholeScans = fragment.scans.map(({ read }, i) => (read === 'all' ? (files[i] ?? []) : []));
    const slots = workers.reduce((total, worker) => total + worker.slots, 0);
    switch (fragment.tasks.kind) {
      case 'single':
        this.#make({ scans: files, inputs: this.producers.map(() => ALL), bytes: bytesOfFiles(files) });
        break;
      case 'partitions': {
        const partitions = Math.max(1, ...fragment.inputs.map((input, i) => this.#partitionsOf(input.read, i)));
        const inputs = fragment.inputs.map((input, i) => ({
          isPartitioned: input.read === 'partition',
          dividable: input.dividable === true,
          produced: this.#producer(i)
            .reports()
            .map(({ partitions }) => partitions),
        }));
        const { shares, skewed } = partitionShares(inputs, { partitions, slots: Math.max(1, slots), isFixed });
        this.skewed = skewed;
        for (const share of shares) this.#make({ ...share, scans: this.#wholeScans });
        break;
      }
      case 'splits': {
        const splits = this.#splits(files);
        this.#queue = new SplitQueue(splits, {
          workers,
          repeatedBytes: this.#repeatedBytes(),
          readPart: readPart(this.fragment, this.planned),
          groups: groupsOf(fragment),
        });
        // An empty input needs a task, too: a count of no rows is 0.
        if (splits.length === 0) this.#make(this.#shareOf([]));
        break;
      }
      case 'parts':
        for (const { bytes } of partsOf(this.planned)) this.#make({ scans: [], inputs: [], bytes });
        break;
      default:
        unreachable(fragment.tasks.kind);
    }
    const tasks = this.#queue === undefined ? this.#shares.length : Math.max(1, slots);
    this.isSmall = fragment.width === 'share' && this.#readBytes(files) <= NARROW_TASK_BYTES_MAX * tasks;
    if (this.#queue === undefined || this.#queue.size === 0) this.apply({ kind: 'allMade' });
  }

  /** Whether a task waits, or may still be made. */
  get hasWork(): boolean {
    const isAllMade = this.#queue === undefined || this.#queue.size === 0;
    return !isAllMade || stageTasks(this.#state).some(({ kind }) => kind === 'waiting');
  }

  /**
   * Returns the next task for a worker with a free slot: a waiting one, or a new one. `isNear`: only a task whose input lies on it;
   * `others`: all workers that take tasks.
   */
  take(worker: LiveWorker, isNear: boolean, others: readonly LiveWorker[]): number | undefined {
    const { address } = worker.link;
    for (const [task, state] of stageTasks(this.#state).entries()) {
      if (state.kind !== 'waiting') continue;
      const takers = takersOf(state, others);
      if (!takers.includes(worker)) continue;
      const home = this.#homeOfParts(takers) ?? (isNear ? (this.#home(task) ?? this.#homeOfTables(takers)) : undefined);
      if (home === undefined || home === address) return task;
    }
    const batch = this.#queue?.take(address, !isNear) ?? [];
    if (batch.length === 0) return undefined;
    const task = this.#make(this.#shareOf(batch));
    if (this.#queue?.size === 0) this.apply({ kind: 'allMade' });
    return task;
  }

  /** Whether the stages that it reads have ended. */
  get isReady(): boolean {
    return this.read.every(({ state }) => state.kind === 'done');
  }

  /** Whether its tasks can be sent now, although producers still run: all tasks of these are on workers, and none of its own has come back. */
  get startsEarly(): boolean {
    if (!this.isEarly) return false;
    const isNew = stageTasks(this.#state).every((task) => task.kind !== 'waiting' || task.attempts === 0);
    return isNew && this.read.every((producer) => producer.#isPlaced);
  }

  get #isPlaced(): boolean {
    const state = this.#state;
    if (state.kind !== 'running') return state.kind === 'done';
    return state.allMade && state.tasks.every(({ kind }) => kind === 'running' || kind === 'done');
  }

  outputs(): readonly TaskOutput[] {
    return stageTasks(this.#state).flatMap((task) => (task.kind === 'done' ? [task.output] : []));
  }

  reports(): readonly FinishedTask[] {
    return this.outputs().map((output) => output.report);
  }

  /** Returns the fragment's tables with the files of one task. */
  tables(task: number): readonly TaskTable[] {
    const part = this.part(task);
    if (part !== undefined) return partTables(this.planned, part);
    const { scans } = this.share(task);
    return this.planned.map((table, i) => {
      // The statement's own text may name any column.
      if (table.kind === 'rows' || this.fragment.plan === null) return table;
      const { spec } = table;
      // Nor are they those of a plan in the text of policies.
      if (this.fragment.policed !== undefined) return { kind: 'files', spec: { ...spec, files: scans[i] ?? [] } };
      const read = new Set(spec.readFieldIds ?? spec.columns.map(({ fieldId }) => fieldId));
      // The fragment's SQL names only these columns: any other would be bound and looked up in all row groups for nothing.
      const columns = spec.columns.filter(({ fieldId }) => read.has(fieldId));
      return { kind: 'files', spec: { ...spec, columns, files: scans[i] ?? [] } };
    });
  }

  /** The rows that a task carries to its worker; undefined when it carries none. */
  part(task: number): RowsPart | undefined {
    return this.fragment.tasks.kind === 'parts' ? partsOf(this.planned)[task] : undefined;
  }

  /** Returns the outputs of all its tasks, at their current workers. */
  given(sourceOf: SourceOf): InputSource[] {
    return inputSources(ALL, this.#output(), sourceOf);
  }

  /** Returns the outputs that a task reads from input `index`, at their current workers. */
  sources(task: number, index: number, sourceOf: SourceOf): InputSource[] {
    return this.#sourcesOf(this.share(task), index, sourceOf);
  }

  #sourcesOf(share: TaskShare, index: number, sourceOf: SourceOf): InputSource[] {
    const part = must(share.inputs[index], 'a share has every input');
    return inputSources(part, this.#producer(index).#output(), sourceOf);
  }

  #output(): StageOutput {
    const outputs = this.outputs();
    const running = stageTasks(this.#state).flatMap((task) => (task.kind === 'running' ? [task] : []));
    const partitions = Array.from({ length: this.fragment.partitions }, (_, partition) => partition);
    return { outputs, running, partitions };
  }

  /** Bytes that it has given so far. */
  get #givenBytes(): number {
    return this.reports().reduce((sum, { outputBytes }) => sum + outputBytes, 0);
  }

  facts(this: StageRun<Fragment>): StageFacts {
    const { output, partitions: count } = this.fragment;
    const reports = this.reports();
    const partitions = Array.from({ length: count }, (_, p) => ({
      rows: reports.reduce((sum, report) => sum + (report.partitions[p]?.rows ?? 0), 0),
      bytes: reports.reduce((sum, report) => sum + (report.partitions[p]?.bytes ?? 0), 0),
    }));
    return {
      rows: partitions.reduce((sum, { rows }) => sum + rows, 0),
      bytes: partitions.reduce((sum, { bytes }) => sum + bytes, 0),
      output: must(output, 'the last stage has no facts'),
      partitions,
      tasks: reports.length,
    };
  }

  #make(share: TaskShare): number {
    this.#shares.push(share);
    this.apply({ kind: 'made' });
    return this.#shares.length - 1;
  }

  #producer(index: number): StageRun<F> {
    return must(this.producers[index], 'an input has a producer');
  }

  #partitionsOf(read: 'partition' | 'all' | 'share', index: number): number {
    return read === 'partition' ? this.#producer(index).fragment.partitions : 1;
  }

  /** Returns the bytes that every task reads whole. */
  #repeatedBytes(): number {
    const stages = this.fragment.inputs.map(({ read }, i) => (read === 'all' ? this.#producer(i).#givenBytes : 0));
    const rows = this.planned.map((table) => (table.kind === 'rows' ? table.rows.bytes : 0));
    return [...stages, ...rows].reduce((sum, bytes) => sum + bytes, bytesOfFiles(this.#wholeScans));
  }

  /** Returns the bytes that all tasks read together, as if none read the same as another. */
  #readBytes(files: readonly (readonly ScanFile[])[]): number {
    const inputs = this.producers.map((producer) => producer.#givenBytes);
    return inputs.reduce((sum, bytes) => sum + bytes, bytesOfFiles(files) * readPart(this.fragment, this.planned));
  }

  #splits(files: readonly (readonly ScanFile[])[]): Split[] {
    const rows = this.fragment.scans.flatMap(({ read }, scan) =>
      read === 'split' ? (files[scan] ?? []).flatMap((file) => splitsOf(scan, file, this.planned[scan])) : [],
    );
    const outputs = this.fragment.inputs.flatMap(({ read }, input): Split[] => {
      if (read !== 'share') return [];
      return this.#producer(input)
        .outputs()
        .map(({ report, worker }, task) => ({
          kind: 'output',
          input,
          task,
          bytes: report.outputBytes,
          address: worker.address,
        }));
    });
    return [...rows, ...outputs];
  }

  #shareOf(batch: readonly Split[]): TaskShare {
    const files = batchFiles(batch, this.fragment.scans.length);
    const scans = this.fragment.scans.map(({ read }, i) => (read === 'all' ? this.#wholeScans : files)[i] ?? []);
    const inputs = this.fragment.inputs.map(({ read }, input): InputShare => {
      if (read !== 'share') return ALL;
      return {
        kind: 'tasks',
        tasks: batch.flatMap((split) => (split.kind === 'output' && split.input === input ? [split.task] : [])),
      };
    });
    return { scans, inputs, bytes: batch.reduce((sum, split) => sum + split.bytes, 0) };
  }

  /** Returns the address of the worker that holds most of a task's input. Cached, because it is only a preference. */
  #home(task: number): string | undefined {
    if (this.startsEarly) return this.fragment.tasks.kind === 'single' ? this.#earlyHome() : undefined;
    if (!this.#homes.has(task)) this.#homes.set(task, this.#findHome(this.share(task)));
    return this.#homes.get(task);
  }

  /** Returns the worker that all parts of rows go to, where one task reads them all: what lies elsewhere would have to be sent again. */
  #homeOfParts(takers: readonly LiveWorker[]): string | undefined {
    if (this.fragment.tasks.kind !== 'parts') return undefined;
    if (!takers.some(({ link }) => link.address === this.#partsHome)) {
      this.#partsHome = chooseHome(takers, undefined);
    }
    return this.#partsHome;
  }

  /** Returns the address of a worker that runs a producer's task: whose is as good as random, because nobody knows yet who gives most. */
  #earlyHome(): string | undefined {
    const tasks = this.producers.flatMap((producer) => producer.#output().running);
    return tasks.toSorted((a, b) => (a.taskId < b.taskId ? -1 : 1))[0]?.worker.address;
  }

  /**
   * Returns the address of the worker whose caches are warm for the biggest table of a fragment that reads nothing else, unless it has
   * much more to do than the others.
   */
  #homeOfTables(takers: readonly LiveWorker[]): string | undefined {
    const { tasks, inputs } = this.fragment;
    if (tasks.kind !== 'single' || inputs.length > 0) return undefined;
    const tables = this.planned.flatMap((table) => (table.kind === 'files' ? [table] : []));
    const [biggest] = tables.toSorted((a, b) => b.report.bytes - a.report.bytes);
    return chooseHome(takers, biggest?.spec.tableUuid);
  }

  #findHome(share: TaskShare): string | undefined {
    const bytes = new Map<string, number>();
    const here: SourceOf = ({ taskId, worker }) => ({ address: worker.address, taskId, ticket: '' });
    for (const index of share.inputs.keys()) {
      if (share.inputs[index]?.kind === 'all' && this.fragment.tasks.kind !== 'single') continue;
      for (const source of this.#sourcesOf(share, index, here)) {
        bytes.set(source.address, (bytes.get(source.address) ?? 0) + source.bytes);
      }
    }
    const [most] = [...bytes].toSorted(([, a], [, b]) => b - a);
    return most?.[0];
  }
}

const ALL: InputShare = { kind: 'all' };
