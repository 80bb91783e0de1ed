import { MemoryUses } from '#shared/memory-uses.ts';
import { join } from 'node:path';
import { decodeTask } from '#shared/task/task-codec.ts';
import type { TaskSpec } from '#shared/task/task.ts';
import { SkeinError, type ErrorData } from '#shared/error.ts';
import { returnMemoryWhenIdle } from '#shared/thread/idle-memory.ts';
import { HeldObjects } from '../objects/held-objects.ts';
import { SlotObjects } from '../objects/slot-objects.ts';
import { TaskKeys } from '../objects/task-keys.ts';
import { ObjectFolder } from '../objects/object-folder.ts';
import { FooterCache } from '../scan/footer-cache.ts';
import { UNFETCHED } from '../scan/plan-file.ts';
import { RangeFiles } from '../staged/range-files.ts';
import { prepareSql } from './prepare-sql.ts';
import { returnFreedMemory } from '../duckdb/library.ts';
import { RowCache } from '../row-cache/row-cache.ts';
import { CopyReader, type ReadsMessage } from '../disk-cache/copied-files.ts';
import { InstancePool } from '../duckdb/instance-pool.ts';
import { InterruptControl } from '../turns/interrupt-control.ts';
import { LevelSpec } from '../turns/level-spec.ts';
import { LevelStats } from '../turns/level-stats.ts';
import { QuantumStamp } from '../turns/quantum-stamp.ts';
import { ThreadChannel } from '../turns/slot-channel.ts';
import { ACTIVITY, type SlotJob, type SlotSettings } from '../turns/slot-messages.ts';
import { SlotScheduler, type BusyTasks } from './slot-scheduler.ts';
import { SlotTask } from './slot-task.ts';
import { TaskOutput } from './task-output.ts';
import { bytesOf, reportOf, type TaskDone } from './task-report.ts';
import { currentThread, restorePriority } from '../turns/thread-priority.ts';
import { runInInstance, type RunningTask, type SlotTools } from './task-in-instance.ts';

/** Deleted positions take at most 1/POSITIONS_SHARE of a task's memory, not counting DuckDB's table of them. */
const POSITIONS_SHARE = 2;

/** Interval at which the slot checks whether its idle instances hold too much memory. */
const IDLE_LOOK_MS = 500;

/**
 * The thread of a slot: it runs several tasks at a time, each in an instance of its own. `slot-entry.ts` builds it, once in each thread.
 */
export class SlotThread {
  readonly #tools: SlotTools;
  readonly #threadId: number;
  readonly #copyReader: CopyReader | undefined;
  readonly #objects: SlotObjects;
  readonly #channel = new ThreadChannel();
  /** Time at which the last task ended; undefined once the memory freed since then has been returned to the system. */
  #endedMs: number | undefined;

  /** @param tell tells the main thread which files were read */
  constructor(settings: SlotSettings, threadId: number, tell: (message: ReadsMessage) => void) {
    this.#threadId = threadId;
    const usesOf = (memory: keyof SlotSettings['memoryUses']): MemoryUses =>
      new MemoryUses(settings.memoryUses[memory]);
    const stamp = new QuantumStamp(settings.stamp);
    const thread = currentThread();
    stamp.setThread(thread);
    // The express slot has the priority of those that plan and answer: what it runs is short, and waits for nobody.
    if (!settings.isExpress) restorePriority(thread);
    this.#tools = {
      settings,
      pool: new InstancePool(join(settings.spillDir, `slot-${threadId}`), settings.idle, usesOf('statements')),
      footers: new FooterCache(usesOf('footers')),
      rowCache: new RowCache(settings.rowCacheBytes, usesOf('rows')),
      stamp,
      scheduler: schedulerOf(settings, stamp),
    };
    this.#copyReader = settings.copies === null ? undefined : new CopyReader(settings.copies, tell, usesOf('copies'));
    this.#objects = new SlotObjects(new ObjectFolder(settings.objects, `slot-${threadId}`, tell, usesOf('objects')));
    this.#tools.pool.prepareBlank();
    setInterval(() => this.#keepLittle(), IDLE_LOOK_MS).unref();
    returnMemoryWhenIdle({ afterwards: returnFreedMemory });
  }

  /** Runs one task; its rows go through the channel, and its end when nothing of it is left here. Rejects only when there is none. */
  async runTask(job: SlotJob): Promise<void> {
    const { settings, scheduler } = this.#tools;
    this.#channel.use(job.port);
    const control = new InterruptControl(job.control);
    if (control.isHeld) scheduler.hold(job.job, true);
    let running: SlotTask | undefined;
    const abort = new AbortController();
    const goOn = (): void => {
      scheduler.hold(job.job, false);
      scheduler.wake(job.job);
    };
    const keys = new TaskKeys(abort.signal, (id) => output.wantKey(id));
    const output: TaskOutput = new TaskOutput(job.job, this.#channel, {
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
      ranges = new RangeFiles(join(settings.spillDir, `ranges-${this.#threadId}`), spec);
      objects = new HeldObjects(this.#objects, { ...spec, spillBytesMax: spec.spillLimitBytes, use: keys.use });
      const parts = {
        job,
        spec,
        control,
        output,
        ranges,
        objects,
        signal: abort.signal,
        mayCache: this.#mayCache(spec),
      };
      const done = await this.#prepareAndRun(parts, beganMs, (task) => {
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
        this.#endedMs = performance.now();
        setImmediate(() => this.#tools.pool.prepareBlank());
      }
    }
  }

  /** Closes the instances of this thread, which then runs no more tasks. */
  closeInstances(): void {
    this.#tools.pool[Symbol.dispose]();
    this.#tools.rowCache.clear();
  }

  /** An exact profile tells how the files are read. DuckDB ends the process when it has no memory to copy rows for the cache. */
  #mayCache({ profile }: TaskSpec): boolean {
    return profile !== 'exact' && Atomics.load(this.#tools.settings.activity, ACTIVITY.memoryShort) === 0;
  }

  /** Prepares a task's text and runs it; undefined when the attempt was withdrawn. When a copy of a file cannot be read, the file itself is. */
  async #prepareAndRun(
    parts: Omit<RunningTask, 'prepared' | 'copies'>,
    beganMs: number,
    started: (task: SlotTask) => void,
    may = { copy: true, haveHoles: true },
  ): Promise<TaskDone | undefined> {
    const { job, spec, signal, ranges, objects, control, output } = parts;
    // Instances that write may write wherever they may read.
    using copies = may.copy && !('sink' in spec.output) ? this.#copyReader?.of(spec) : undefined;
    const positionBytesMax = Math.floor(job.memoryBytes / POSITIONS_SHARE);
    const prepared = await prepareSql(signal, spec, {
      footers: this.#tools.footers,
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
      const run = await runInInstance(this.#tools, { ...parts, prepared, copies }, started);
      return { run, scans: prepared.reports, preparingMs };
    } catch (error) {
      // DuckDB reads a column that the plan does not: then the files come whole.
      const isHole = may.haveHoles && SkeinError.of(error).message.includes(UNFETCHED);
      if ((!isHole && copies?.giveUpAfter(SkeinError.of(error)) !== true) || !output.restart()) throw error;
      may = isHole ? { ...may, haveHoles: false } : { ...may, copy: false };
    }
    return this.#prepareAndRun(parts, beganMs, started, may);
  }

  /** Closes idle instances that hold too much, or all of them when the process is short of memory, and returns freed memory. */
  #keepLittle(): void {
    const { settings, rowCache, pool } = this.#tools;
    const now = performance.now();
    const isShort = Atomics.load(settings.activity, ACTIVITY.memoryShort) !== 0;
    if (isShort) rowCache.clear();
    const hasClosed = isShort ? pool.closeIdle() : pool.trim(now);
    const isQuiet = this.#endedMs !== undefined && now - this.#endedMs >= settings.idle.afterMs;
    if (!hasClosed && !isShort && !isQuiet) return;
    if (isQuiet) this.#endedMs = undefined;
    returnFreedMemory();
  }
}

function schedulerOf(settings: SlotSettings, stamp: QuantumStamp): SlotScheduler {
  const busy: BusyTasks = {
    count: () => Atomics.load(settings.activity, ACTIVITY.busy),
    change: (by) => Atomics.add(settings.activity, ACTIVITY.busy, by),
  };
  return new SlotScheduler(stamp, busy, {
    stats: new LevelStats(settings.levels),
    spec: new LevelSpec(settings.levelSpec),
  });
}

/** The error without its position in the text, because positions in a fragment's SQL mean nothing to the user. */
function failureOf(thrown: unknown, { bytesScanned }: InterruptControl): ErrorData {
  const { code, message } = SkeinError.of(thrown);
  return { code, message, ...(bytesScanned === 0 ? {} : { bytesScanned }) };
}
