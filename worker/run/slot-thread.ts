import { join } from 'node:path';
import { parentPort, threadId } from 'node:worker_threads';
import { workerData } from 'piscina';
import { decodeTask } from '#shared/task/task-codec.ts';
import type { TaskSpec, WriteSink } from '#shared/task/task.ts';
import { SkeinError, type ErrorData } from '#shared/error.ts';
import type { Json } from '#shared/json.ts';
import { returnMemoryWhenIdle } from '#shared/thread/idle-memory.ts';
import { HeldObjects } from '../objects/held-objects.ts';
import { SlotObjects } from '../objects/slot-objects.ts';
import { TaskKeys } from '../objects/task-keys.ts';
import { ObjectFolder } from '../objects/object-folder.ts';
import type { DeletedPositions } from '../scan/deleted-positions.ts';
import { dropPositions, loadPositions } from '../scan/load-positions.ts';
import { FooterCache } from '../scan/footer-cache.ts';
import { UNFETCHED } from '../scan/plan-file.ts';
import { footersOf } from '../scan/footers-of.ts';
import { RangeFiles } from '../staged/range-files.ts';
import { prepareSql, type PreparedSql } from './prepare-sql.ts';
import { returnFreedMemory } from '../duckdb/library.ts';
import { CachedScans } from '../row-cache/cached-scans.ts';
import { RowCache } from '../row-cache/row-cache.ts';
import { readProfile } from '../duckdb/profile.ts';
import { CopyReader, type CopiedFiles, type ReadsMessage } from '../disk-cache/copied-files.ts';
import { explainFailure } from './explain-failure.ts';
import { InstancePool, type TaskInstance } from '../duckdb/instance-pool.ts';
import { InterruptControl } from '../turns/interrupt-control.ts';
import { LevelSpec } from '../turns/level-spec.ts';
import { LevelStats } from '../turns/level-stats.ts';
import { SPOILS_INSTANCE, TAKES_MUCH } from './spoiling-errors.ts';
import { openWriter, type RowsOutput } from './output-writer.ts';
import { QuantumStamp } from '../turns/quantum-stamp.ts';
import { ThreadChannel } from '../turns/slot-channel.ts';
import { ACTIVITY, type SlotJob, type SlotSettings } from '../turns/slot-messages.ts';
import { SlotScheduler, type BusyTasks } from './slot-scheduler.ts';
import { fragmentError, SlotTask, type TaskText } from './slot-task.ts';
import { TaskInputs } from './task-inputs.ts';
import { TaskOutput } from './task-output.ts';
import { bytesOf, readBytes, reportOf, type TaskDone } from './task-report.ts';
import { addRuns, NO_RUN, type TaskRun } from './task-run.ts';
import { currentThread, restorePriority } from '../turns/thread-priority.ts';
import { keepsOrderOfFiles, loadRules, writeFiles } from './write-files.ts';
import { readableFolders, workFolderOf, writableFolders } from './task-folders.ts';
import { configureInstance } from './configure-instance.ts';
import { chunkTaker, type RunStatement } from '../write/write-table.ts';

/** The program of a slot's thread: several tasks at a time, each in an instance of its own. */
const settings = workerData as SlotSettings;
const pool = new InstancePool(join(settings.spillDir, `slot-${threadId}`), settings.idle);
const footers = new FooterCache();
const rowCache = new RowCache(settings.rowCacheBytes);
const tell = (message: ReadsMessage): void => parentPort?.postMessage(message, []);
const copyReader = settings.copies === null ? undefined : new CopyReader(settings.copies, tell);
const slotObjects = new SlotObjects(new ObjectFolder(settings.objects, `slot-${threadId}`, tell));
const channel = new ThreadChannel();
const stamp = new QuantumStamp(settings.stamp);
const thread = currentThread();
stamp.setThread(thread);
// The express slot has the priority of those that plan and answer: what it runs is short, and waits for nobody.
if (!settings.isExpress) restorePriority(thread);
const busy: BusyTasks = {
  count: () => Atomics.load(settings.activity, ACTIVITY.busy),
  change: (by) => Atomics.add(settings.activity, ACTIVITY.busy, by),
};
const scheduler = new SlotScheduler(stamp, busy, {
  stats: new LevelStats(settings.levels),
  spec: new LevelSpec(settings.levelSpec),
});

/**
 * Compressed bytes of column chunks, and rows, that one core works through in a few milliseconds, before a second core has started: a task
 * that reads no more uses one core. A million rows may have few bytes, and joining them is work for several.
 */
const NARROW_BYTES_MAX = 4 * 2 ** 20;
const NARROW_ROWS_MAX = 500_000;
/** As many of a single scan, when they come from the row cache: reading them is no work for a second core. Joins may have more to do. */
const CACHED_BYTES_MAX = 8 * 2 ** 20;
/**
 * Memory limit of a task that was allowed several cores but runs on one. It is constant, not the granted amount, because under a new limit
 * an instance returns its freed pages to the system, which costs half of the time of a point query.
 */
const NARROWED_MEMORY_BYTES = 256 * 2 ** 20;

/** Deleted positions take at most 1/POSITIONS_SHARE of a task's memory, not counting DuckDB's table of them. */
const POSITIONS_SHARE = 2;

/** Interval at which the slot checks whether its idle instances hold too much memory. */
const IDLE_LOOK_MS = 500;
/** Time at which the last task ended; undefined once the memory freed since then has been returned to the system. */
let endedMs: number | undefined;

pool.prepareBlank();
setInterval(keepLittle, IDLE_LOOK_MS).unref();
returnMemoryWhenIdle({ afterwards: returnFreedMemory });

/** Closes idle instances that hold too much, or all of them when the process is short of memory, and returns freed memory. */
function keepLittle(): void {
  const now = performance.now();
  const isShort = Atomics.load(settings.activity, ACTIVITY.memoryShort) !== 0;
  if (isShort) rowCache.clear();
  const hasClosed = isShort ? pool.closeIdle() : pool.trim(now);
  const isQuiet = endedMs !== undefined && now - endedMs >= settings.idle.afterMs;
  if (!hasClosed && !isShort && !isQuiet) return;
  if (isQuiet) endedMs = undefined;
  returnFreedMemory();
}

/** Runs when the thread has loaded this program. */
export function load(): void {}

/** Closes the instances of this thread, which then runs no more tasks. */
export function closeInstances(): void {
  pool[Symbol.dispose]();
  rowCache.clear();
}

/** Runs one task; its rows go through the channel, and its end when nothing of it is left here. Rejects only when there is none. */
export async function runTask(job: SlotJob): Promise<void> {
  channel.use(job.port);
  const control = new InterruptControl(job.control);
  if (control.isHeld) scheduler.hold(job.job, true);
  let running: SlotTask | undefined;
  const abort = new AbortController();
  const goOn = (): void => {
    scheduler.hold(job.job, false);
    scheduler.wake(job.job);
  };
  const keys = new TaskKeys(abort.signal, (id) => output.wantKey(id));
  const output: TaskOutput = new TaskOutput(job.job, channel, {
    bufferBytes: settings.outputBufferBytes,
    spoolFull: () => Atomics.load(settings.activity, ACTIVITY.spoolFull) !== 0,
    onTaken: () => scheduler.wake(job.job),
    // The attempt was withdrawn, perhaps while it waited: its next quantum ends it.
    onWithdrawn: () => goOn(),
    onHold: (on) => scheduler.hold(job.job, on),
    onTime: (time) => scheduler.setTime(job.job, time),
    onKey: ({ replaces, credential }) => keys.renewed(replaces, credential),
    onCancel: (error) => {
      const reason = SkeinError.fromData(error);
      abort.abort(reason);
      running?.cancel(reason);
      goOn();
    },
  });
  const beganMs = performance.now();
  let ranges: RangeFiles | undefined;
  let objects: HeldObjects | undefined;
  try {
    const spec = await decodeTask(job.spec);
    if (control.isWithdrawn) return;
    ranges = new RangeFiles(join(settings.spillDir, `ranges-${threadId}`), spec);
    objects = new HeldObjects(slotObjects, { ...spec, spillBytesMax: spec.spillLimitBytes, use: keys.use });
    const parts = { job, spec, control, output, ranges, objects, signal: abort.signal, mayCache: mayCache(spec) };
    const done = await prepareAndRun(parts, beganMs, (task) => {
      running = task;
    });
    if (done !== undefined) output.finish(reportOf(job, output, done));
  } catch (error) {
    output.fail(failureOf(abort.signal.aborted ? abort.signal.reason : error, control));
  } finally {
    try {
      await ranges?.[Symbol.asyncDispose]();
      await objects?.[Symbol.asyncDispose]();
    } finally {
      scheduler.forget(job.job);
      output.close();
      endedMs = performance.now();
      setImmediate(() => pool.prepareBlank());
    }
  }
}

/** An exact profile tells how the files are read. DuckDB ends the process when it has no memory to copy rows for the cache. */
const mayCache = ({ profile }: TaskSpec): boolean =>
  profile !== 'exact' && Atomics.load(settings.activity, ACTIVITY.memoryShort) === 0;

type Running = {
  readonly job: SlotJob;
  readonly spec: TaskSpec;
  readonly control: InterruptControl;
  readonly output: TaskOutput;
  readonly prepared: PreparedSql;
  readonly copies: CopiedFiles | undefined;
  /** Small scans may read from the row cache. */
  readonly mayCache: boolean;
  readonly ranges: RangeFiles;
  readonly objects: HeldObjects;
  /** Aborts when the task is cancelled. */
  readonly signal: AbortSignal;
};

/** Prepares a task's text and runs it; undefined when the attempt was withdrawn. When a copy of a file cannot be read, the file itself is. */
async function prepareAndRun(
  parts: Omit<Running, 'prepared' | 'copies'>,
  beganMs: number,
  started: (task: SlotTask) => void,
  may = { copy: true, haveHoles: true },
): Promise<TaskDone | undefined> {
  const { job, spec, signal, ranges, objects, control, output } = parts;
  // Instances that write may write wherever they may read.
  using copies = may.copy && !('sink' in spec.output) ? copyReader?.of(spec) : undefined;
  const positionBytesMax = Math.floor(job.memoryBytes / POSITIONS_SHARE);
  const prepared = await prepareSql(signal, spec, {
    footers,
    positionBytesMax,
    ranges,
    copies,
    objects,
    mayHaveHoles: may.haveHoles,
  });
  copies?.tellReads();
  const preparingMs = performance.now() - beganMs;
  if (control.isWithdrawn) return undefined;
  control.scans(bytesOf(prepared));
  try {
    const run = await runInInstance({ ...parts, prepared, copies }, started);
    return { run, scans: prepared.reports, preparingMs };
  } catch (error) {
    // DuckDB reads a column that the plan does not: then the files come whole.
    const isHole = may.haveHoles && SkeinError.of(error).message.includes(UNFETCHED);
    if ((!isHole && copies?.giveUpAfter(SkeinError.of(error)) !== true) || !output.restart()) throw error;
    may = isHole ? { ...may, haveHoles: false } : { ...may, copy: false };
  }
  return prepareAndRun(parts, beganMs, started, may);
}

async function runInInstance(running: Running, started: (task: SlotTask) => void): Promise<TaskRun> {
  const { job, spec, prepared, ranges, objects, copies } = running;
  const sink = 'sink' in spec.output ? spec.output.sink : null;
  const written = sink === null ? [] : writableFolders(sink, workFolderOf(settings.spillDir, spec.tenant));
  const copied = copies === undefined ? [] : [copies.folder];
  const folders = [
    ...new Set([
      ...spec.scans.flatMap((scan) => readableFolders(scan, objects)),
      ...copied,
      ...ranges.folders,
      ...written,
    ]),
  ].sort();
  const bytes = readBytes(spec, prepared);
  const rows = prepared.scans.reduce((sum, scan) => sum + scan.rows, 0);
  const isSmall = bytes <= NARROW_BYTES_MAX && (rows <= NARROW_ROWS_MAX || spec.threads === 1);
  using cached =
    running.mayCache && sink === null && (spec.scans.length === 1 ? bytes <= CACHED_BYTES_MAX : isSmall)
      ? stamp.during(job.job, () => new CachedScans(rowCache, prepared.scans))
      : undefined;
  // A task has one core of the express slot.
  const isNarrow = settings.isExpress || cached?.isUsed === true || (prepared.reports.length > 0 && isSmall);
  const threads = isNarrow || keepsOrderOfFiles(spec) ? 1 : spec.threads;
  const memoryBytes = isNarrow && spec.threads > 1 ? Math.min(job.memoryBytes, NARROWED_MEMORY_BYTES) : job.memoryBytes;
  const confined = stamp.during(job.job, () =>
    pool.acquire({ tenant: spec.tenant, writes: sink !== null }, folders, memoryBytes),
  );
  const { instance } = confined;
  const holdsTables = prepared.positions.files.length > 0 || job.inputs.length > 0;
  let inputs: TaskInputs | undefined;
  try {
    inputs = stamp.during(job.job, () => {
      const spillLimitBytes = Math.max(0, spec.spillLimitBytes - objects.spilledBytes);
      configureInstance(instance, { ...spec, spillLimitBytes }, { memoryBytes, threads });
      return openInputs(instance, job, threads);
    });
    const { texts } = inputs;
    const served = stamp.during(job.job, () => cached?.open(instance, job.inputs.length));
    const text = {
      loading: loading(instance, prepared.positions, inputs, cached),
      sql: prepared.print(texts, served),
      repeatable: !holdsTables && cached?.servesAny !== true,
    };
    const at = { instance, threads, started, text };
    const run =
      'sink' in spec.output
        ? await runWrite(running, { ...at, to: spec.output })
        : await runRows(running, { ...at, to: spec.output });
    stamp.during(job.job, () => {
      dropPositions(instance.connection, prepared.positions);
      inputs?.drop();
      inputs?.[Symbol.dispose]();
      pool.release(confined, performance.now());
    });
    return run;
  } catch (error) {
    const hasMissed = cached?.missed(prepared.scans) === true;
    stamp.during(job.job, () => {
      inputs?.[Symbol.dispose]();
      const { code } = SkeinError.of(error);
      if (SPOILS_INSTANCE.has(code) || holdsTables) instance[Symbol.dispose]();
      else pool.release(confined, performance.now());
      if (TAKES_MUCH.has(code)) returnFreedMemory();
    });
    if (hasMissed && running.output.restart()) return runInInstance({ ...running, mayCache: false }, started);
    const footersOfScan = footersOf(footers, running.signal, spec.tenant);
    throw await explainFailure(error, { spec, files: prepared.files, footersOf: footersOfScan, ranges, objects });
  }
}

function openInputs(instance: TaskInstance, { inputs }: SlotJob, threads: number): TaskInputs {
  try {
    return new TaskInputs(instance, inputs, threads);
  } catch (error) {
    throw fragmentError(error);
  }
}

/** Fills the tables that the task's text reads. */
function* loading(
  instance: TaskInstance,
  positions: DeletedPositions,
  inputs: TaskInputs,
  cached: CachedScans | undefined,
): Generator<void> {
  yield* loadPositions(instance.connection, positions);
  yield* inputs.load();
  if (cached !== undefined) yield* cached.fill(instance);
}

type InInstance<Text> = {
  readonly instance: TaskInstance;
  readonly threads: number;
  readonly started: (task: SlotTask) => void;
  readonly text: Text;
};
type RowsText = Pick<TaskText, 'loading' | 'sql' | 'repeatable'>;

function runRows(
  running: Running,
  { to, text, ...at }: InInstance<RowsText> & { readonly to: RowsOutput },
): Promise<TaskRun> {
  const { spec, output } = running;
  const { collected, keepJoinOrder: isFragment } = spec;
  const open: TaskText['open'] = (result) => openWriter(result, to, output, at.instance.instance);
  return runStatement(running, { ...at, text: { ...text, collected, isFragment, mayBe: 'query', open } });
}

/** Runs a task that writes files: several statements, one after the other. */
async function runWrite(
  running: Running,
  { to, text, ...at }: InInstance<RowsText> & { readonly to: WriteSink },
): Promise<TaskRun> {
  const { connection } = at.instance;
  const runs: TaskRun[] = [];
  let { loading } = text;
  let operators: Json = null;
  const run: RunStatement = async (sql, mayBe, take) => {
    running.signal.throwIfAborted();
    const isFragment = running.spec.keepJoinOrder;
    const open: TaskText['open'] = () => chunkTaker(take);
    const rest = { repeatable: false, collected: true, isFragment, mayBe, open };
    const done = await runStatement(running, { ...at, text: { loading, sql, ...rest } });
    if (mayBe === 'copy') operators = done.profile;
    runs.push(done);
    loading = [].values();
  };
  const { spec, ranges, objects, signal } = running;
  const within = {
    connection,
    run,
    signal,
    use: objects.use,
    operators: () => operators,
    workFolder: workFolderOf(settings.spillDir, spec.tenant),
  };
  const tools = { spec, within, readFooter: footersOf(footers, signal, spec.tenant), ranges, objects };
  const { rows, bytes, written } = await writeFiles(text.sql, to, tools);
  running.output.rows = rows;
  running.output.bytes = bytes;
  const all = runs.length === 0 ? NO_RUN : runs.reduce(addRuns);
  return { ...all, profile: spec.profile === 'none' ? null : all.profile, written };
}

async function runStatement({ job, spec, control, output }: Running, at: InInstance<TaskText>): Promise<TaskRun> {
  const task = new SlotTask(at.instance, at.text, { output, control, quantumMaxMs: settings.quantumMaxMs });
  try {
    at.started(task);
    const times = await scheduler.run({
      job: job.job,
      task,
      asker: spec,
      scheduledMs: spec.scheduledMs,
      pinned: spec.pinnedToTop,
      threads: at.threads,
    });
    const isLoad = loadRules(spec) !== undefined;
    const profile = spec.profile !== 'none' || isLoad ? readProfile(at.instance.connection) : null;
    return { times, peak: task.peakUse, profile, written: { files: [] } };
  } finally {
    stamp.during(job.job, () => task[Symbol.dispose]());
  }
}

/** The error without its position in the text, because positions in a fragment's SQL mean nothing to the user. */
function failureOf(thrown: unknown, { bytesScanned }: InterruptControl): ErrorData {
  const { code, message } = SkeinError.of(thrown);
  return { code, message, ...(bytesScanned === 0 ? {} : { bytesScanned }) };
}
