import type { TaskReport } from '#shared/task/task.ts';
import type { PlannedScan } from '../scheduler/plan-scans.ts';
import type { StageReport } from '../scheduler/stage-report.ts';

/** Numbers of a run by name, in printing order; times in ms. EXPLAIN ANALYZE and profiles show the same ones. */
export type Figures = Readonly<Record<string, number>>;

/** A scan of a stage: what was pruned of it, and what its tasks read. */
export type ScanFigures = {
  /** Its number in the query. */
  readonly number: number;
  readonly table: string;
  /** Null for rows, and for a table without a snapshot. */
  readonly snapshot: string | null;
  readonly figures: Figures;
};

const sum = <T>(list: readonly T[], of: (one: T) => number): number => list.reduce((total, one) => total + of(one), 0);
/** Sums over tasks; `peakMemoryBytes` is the highest of one task. One pass, because every statement's profile has them twice. */
export function taskFigures(tasks: readonly TaskReport[]) {
  const all = {
    rows: 0,
    batches: 0,
    outputBytes: 0,
    quanta: 0,
    inputsMs: 0,
    queuedMs: 0,
    preparingMs: 0,
    scheduledMs: 0,
    blockedMs: 0,
    spilledBytes: 0,
    peakMemoryBytes: 0,
    bytesScanned: 0,
    receivedBytes: 0,
  } satisfies Figures;
  for (const task of tasks) {
    all.rows += task.rows;
    all.batches += task.batches;
    all.outputBytes += task.outputBytes;
    all.quanta += task.quanta;
    all.inputsMs += task.waits.inputsMs;
    all.queuedMs += task.waits.queuedMs;
    all.preparingMs += task.waits.preparingMs;
    all.scheduledMs += task.scheduledMs;
    all.blockedMs += task.waits.blockedMs;
    all.spilledBytes += task.spilledBytes;
    all.peakMemoryBytes = Math.max(all.peakMemoryBytes, task.peakMemoryBytes);
    all.bytesScanned += task.bytesScanned;
    all.receivedBytes += task.receivedBytes;
  }
  for (const name of TIMES) all[name] = inTenths(all[name]);
  return all;
}

const TIMES = ['inputsMs', 'queuedMs', 'preparingMs', 'scheduledMs', 'blockedMs'] as const;

/** Rounded to tenths: a small task takes less than one. */
export const inTenths = (ms: number): number => Math.round(ms * 10) / 10;

/** The rest of a stage's figures. */
export const stageFigures = ({ retries, skewed, elapsedMs }: StageReport) =>
  ({
    elapsedMs: Math.round(elapsedMs),
    retries,
    skewSplits: skewed,
  }) satisfies Figures;

/**
 * The scans of a stage. `numbers` are their places in the query, in the order of `scans`; both may have rows, which travel with the task and
 * which it does not count.
 */
export function scanFigures(
  scans: readonly PlannedScan[],
  numbers: readonly number[],
  tasks: readonly TaskReport[],
): readonly ScanFigures[] {
  let counted = 0;
  return scans.map((scan, i) => {
    const number = numbers[i] ?? i;
    if (scan.policed !== undefined && scan.kind === 'rows') {
      return { number, table: scan.rows.title, snapshot: null, figures: {} };
    }
    if (scan.kind === 'rows') {
      return { number, table: scan.rows.title, snapshot: null, figures: { rows: scan.rows.rowCount } };
    }
    const index = counted++;
    const read = tasks.flatMap((task) => task.scans.filter((one) => one.scan === index));
    const { manifests, manifestsPruned, files, filesPruned, filesPrunedByPartition, deleteFiles } = scan.report;
    const { tableName: table, snapshotId: snapshot } = scan.spec;
    const rowGroups = sum(read, (one) => one.rowGroups);
    const rowGroupsPruned = sum(read, (one) => one.rowGroupsPruned);
    const bytes = sum(read, (one) => one.bytes);
    const planned = { manifests, manifestsPruned, files, filesPruned, filesPrunedByPartition, deleteFiles };
    return { number, table, snapshot, figures: { ...planned, rowGroups, rowGroupsPruned, bytes } };
  });
}
