import type { TaskSpec, WriteSink } from '#shared/task/task.ts';
import { SkeinError } from '#shared/error.ts';
import type { Json } from '#shared/json.ts';
import { HeldObjects } from '../objects/held-objects.ts';
import type { DeletedPositions } from '../scan/deleted-positions.ts';
import { dropPositions, loadPositions } from '../scan/load-positions.ts';
import { FooterCache } from '../scan/footer-cache.ts';
import { footersOf } from '../scan/footers-of.ts';
import { RangeFiles } from '../staged/range-files.ts';
import { type PreparedSql } from './prepare-sql.ts';
import { returnFreedMemory } from '../duckdb/library.ts';
import { CachedScans } from '../row-cache/cached-scans.ts';
import { RowCache } from '../row-cache/row-cache.ts';
import { readProfile } from '../duckdb/profile.ts';
import { type CopiedFiles } from '../disk-cache/copied-files.ts';
import { explainFailure } from './explain-failure.ts';
import { InstancePool, type TaskInstance } from '../duckdb/instance-pool.ts';
import { InterruptControl } from '../turns/interrupt-control.ts';
import { SPOILS_INSTANCE, TAKES_MUCH } from './spoiling-errors.ts';
import { openWriter, type RowsOutput } from './output-writer.ts';
import { QuantumStamp } from '../turns/quantum-stamp.ts';
import { type SlotJob, type SlotSettings } from '../turns/slot-messages.ts';
import { SlotScheduler } from './slot-scheduler.ts';
import { fragmentError, SlotTask, type TaskText } from './slot-task.ts';
import { TaskInputs } from './task-inputs.ts';
import { TaskOutput } from './task-output.ts';
import { taskBytes } from './task-report.ts';
import { addRuns, NO_RUN, type TaskRun } from './task-run.ts';
import { keepsOrderOfFiles, loadRules, writeFiles } from './write-files.ts';
import { readableFolders, workFolderOf, writableFolders } from './task-folders.ts';
import { configureInstance } from './configure-instance.ts';
import { chunkTaker, type RunStatement } from '../write/write-table.ts';

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

/** The parts of a slot's thread that its tasks share. */
export type SlotTools = {
  readonly settings: SlotSettings;
  readonly pool: InstancePool;
  readonly footers: FooterCache;
  readonly rowCache: RowCache;
  readonly stamp: QuantumStamp;
  readonly scheduler: SlotScheduler;
};

/** A task on its way through an instance. */
export type RunningTask = {
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

/** Runs a task that was prepared, in an instance of its own. */
export async function runInInstance(
  tools: SlotTools,
  running: RunningTask,
  started: (task: SlotTask) => void,
): Promise<TaskRun> {
  const { settings, pool, stamp, rowCache, footers } = tools;
  const { job, spec, prepared, ranges, objects } = running;
  const sink = 'sink' in spec.output ? spec.output.sink : null;
  const folders = foldersOf(running, sink, settings.spillDir);
  const bytes = taskBytes(spec, prepared);
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
        ? await runWrite(tools, running, { ...at, to: spec.output })
        : await runRows(tools, running, { ...at, to: spec.output });
    stamp.during(job.job, () => {
      prepared.realFiles.check();
      dropPositions(instance.connection, prepared.positions);
      inputs?.drop();
      inputs?.[Symbol.dispose]();
      pool.release(confined, performance.now());
    });
    return run;
  } catch (thrown) {
    const error = stamp.during(job.job, () => afterCheck(thrown, prepared, rowCache));
    const hasMissed = cached?.missed(prepared.scans) === true;
    stamp.during(job.job, () => {
      inputs?.[Symbol.dispose]();
      const { code } = SkeinError.of(error);
      if (SPOILS_INSTANCE.has(code) || holdsTables || error instanceof FilesExchanged) instance[Symbol.dispose]();
      else pool.release(confined, performance.now());
      if (TAKES_MUCH.has(code)) returnFreedMemory();
    });
    if (error instanceof FilesExchanged) throw error.cause;
    if (hasMissed && running.output.restart()) return runInInstance(tools, { ...running, mayCache: false }, started);
    const footersOfScan = footersOf(footers, running.signal, spec.tenant);
    throw await explainFailure(error, { spec, files: prepared.files, footersOf: footersOfScan, ranges, objects });
  }
}

/** The task has read other files than it should: the error is the cause. */
class FilesExchanged extends Error {}

/** A task's error, unless it has read other files than those that were checked: nobody learns what DuckDB says of these, and nothing keeps it. */
function afterCheck(error: unknown, { realFiles }: PreparedSql, rowCache: RowCache): unknown {
  try {
    realFiles.check();
    return error;
  } catch (cause) {
    rowCache.clear();
    return new FilesExchanged('files were exchanged', { cause });
  }
}

/** The folders that the task may read, and write. */
function foldersOf(
  { spec, copies, ranges, objects }: RunningTask,
  sink: WriteSink['sink'] | null,
  spillDir: string,
): string[] {
  const written = sink === null ? [] : writableFolders(sink, workFolderOf(spillDir, spec.tenant));
  const copied = copies === undefined ? [] : [copies.folder];
  const read = spec.scans.flatMap((scan) => readableFolders(scan, objects));
  return [...new Set([...read, ...copied, ...ranges.folders, ...written])].sort();
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
  tools: SlotTools,
  running: RunningTask,
  { to, text, ...at }: InInstance<RowsText> & { readonly to: RowsOutput },
): Promise<TaskRun> {
  const { spec, output } = running;
  const { collected, keepJoinOrder: isFragment } = spec;
  const open: TaskText['open'] = (result) => openWriter(result, to, output, at.instance.instance);
  return runStatement(tools, running, { ...at, text: { ...text, collected, isFragment, mayBe: 'query', open } });
}

/** Runs a task that writes files: several statements, one after the other. */
async function runWrite(
  tools: SlotTools,
  running: RunningTask,
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
    const done = await runStatement(tools, running, { ...at, text: { loading, sql, ...rest } });
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
    workFolder: workFolderOf(tools.settings.spillDir, spec.tenant),
  };
  const files = { spec, within, readFooter: footersOf(tools.footers, signal, spec.tenant), ranges, objects };
  const { rows, bytes, written } = await writeFiles(text.sql, to, files);
  running.output.rows = rows;
  running.output.bytes = bytes;
  const all = runs.length === 0 ? NO_RUN : runs.reduce(addRuns);
  return { ...all, profile: spec.profile === 'none' ? null : all.profile, written };
}

async function runStatement(
  { settings, scheduler, stamp }: SlotTools,
  { job, spec, control, output }: RunningTask,
  at: InInstance<TaskText>,
): Promise<TaskRun> {
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
