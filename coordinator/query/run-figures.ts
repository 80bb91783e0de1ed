import type { TaskReport } from '#proto/task.ts';
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
/** Rounded to tenths: a small task takes less than one. */
const sumMs = <T>(list: readonly T[], of: (one: T) => number): number => Math.round(sum(list, of) * 10) / 10;

/** What tasks did together; `peakMemoryBytes` is the highest of one task. */
export const taskFigures = (tasks: readonly TaskReport[]) =>
  ({
    rows: sum(tasks, (task) => task.rows),
    batches: sum(tasks, (task) => task.batches),
    outputBytes: sum(tasks, (task) => task.outputBytes),
    quanta: sum(tasks, (task) => task.quanta),
    inputsMs: sumMs(tasks, (task) => task.waits.inputsMs),
    queuedMs: sumMs(tasks, (task) => task.waits.queuedMs),
    preparingMs: sumMs(tasks, (task) => task.waits.preparingMs),
    scheduledMs: sumMs(tasks, (task) => task.scheduledMs),
    blockedMs: sumMs(tasks, (task) => task.waits.blockedMs),
    spilledBytes: sum(tasks, (task) => task.spilledBytes),
    peakMemoryBytes: Math.max(0, ...tasks.map((task) => task.peakMemoryBytes)),
    bytesScanned: sum(tasks, (task) => task.bytesScanned),
    receivedBytes: sum(tasks, (task) => task.receivedBytes),
  }) satisfies Figures;

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
