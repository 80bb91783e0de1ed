import type { PartitionReport } from '#shared/task/task.ts';
import type { ScanFile } from '#shared/iceberg/scan-file.ts';
import { must } from '#shared/must.ts';

/**
 * The input of one task of a stage. It is fixed when the task is made and names tasks of earlier stages by number, not by the worker
 * they ran on, so the task can run again, even after its producers ran again.
 */
export type TaskShare = {
  /** Files of each of the fragment's scans. */
  readonly scans: readonly (readonly ScanFile[])[];
  /** The part of each of the fragment's inputs. */
  readonly inputs: readonly InputShare[];
  /** Compressed bytes of files plus bytes of batches: the approximate cost of the task. */
  readonly bytes: number;
};

export type InputShare =
  | { readonly kind: 'all' }
  | { readonly kind: 'partitions'; readonly partitions: readonly number[] }
  /** One part of `of` parts of a partition, in batches. */
  | { readonly kind: 'slice'; readonly partition: number; readonly part: number; readonly of: number }
  /** The whole output of some tasks. */
  | { readonly kind: 'tasks'; readonly tasks: readonly number[] };

/** The output of each task of an input's producer: `produced[t][p]` is partition p of task t. */
type Produced = readonly (readonly PartitionReport[])[];

export type PartitionInput = {
  /** The input is partitioned like the fragment's tasks; any other input is read whole by every task. */
  readonly isPartitioned: boolean;
  readonly dividable: boolean;
  readonly produced: Produced;
};

export type PartitionOptions = {
  readonly partitions: number;
  readonly slots: number;
  /** The session has set the number of partitions: every partition becomes a task of its own. */
  readonly isFixed: boolean;
};

/** Partitions are combined until a task reads about this much: starting a task costs as much as reading these bytes. */
const TASK_BYTES_MIN = 4 * 2 ** 20;
/** Tasks per slot, at most, unless the tasks would be too big. */
const TASKS_PER_SLOT = 2;
const TASK_BYTES_MAX = 256 * 2 ** 20;
/**
 * Rows of a task, at most: in a hash table of millions of rows each row is a cache miss. The limit rises to the rows that every task reads
 * whole, because it builds a hash table of those too.
 */
const TASK_ROWS_MAX = 1_000_000;
/** A partition is skewed when it is more than `SKEW_FACTOR` times as big as the median and has at least `SKEW_BYTES_MIN` bytes. */
const SKEW_FACTOR = 4;
const SKEW_BYTES_MIN = 16 * 2 ** 20;
/** Number of parts of one skewed partition, at most. */
const SKEW_PARTS_MAX = 64;

/**
 * Divides a stage with partitioned inputs into tasks.
 * ```
 * partitions   0: 1 MB   1: 90 MB   2: 2 MB   3: 1 MB
 * tasks        {0, 2, 3}   {1, part 0 of 3}   {1, part 1 of 3}   {1, part 2 of 3}
 * ```
 * Small partitions share a task: rows that belong together are still in one. A partition that is much bigger than the median is divided
 * by the batches of an input that may be divided, and every part reads the other inputs' partition whole.
 */
export function partitionShares(
  inputs: readonly PartitionInput[],
  options: PartitionOptions,
): { readonly shares: readonly TaskShare[]; readonly skewed: number } {
  const sizes = Array.from({ length: options.partitions }, (_, p) => ({
    p,
    bytes: sum(inputs.map((input) => bytesOf(input, p))),
    rows: Math.max(...inputs.map((input) => rowsOf(input, p))),
  }));
  const order = sizes.toSorted((a, b) => b.bytes - a.bytes || a.p - b.p);
  const median = order[Math.floor(order.length / 2)]?.bytes ?? 0;
  const shares: TaskShare[] = [];
  const whole: PartitionSize[] = [];
  let skewed = 0;
  for (const one of order) {
    const isSkewed = one.bytes >= SKEW_BYTES_MIN && one.bytes > SKEW_FACTOR * median;
    const parts = isSkewed ? slices(inputs, one.p, options.slots) : [];
    if (parts.length > 0) skewed += 1;
    else whole.push(one);
    shares.push(...parts);
  }
  const repeatedRows = sum(
    inputs.map((input) => (input.isPartitioned ? 0 : sum(input.produced.flat().map(({ rows }) => rows)))),
  );
  for (const { partitions, bytes } of bins(whole, { ...options, rowsMax: Math.max(TASK_ROWS_MAX, repeatedRows) })) {
    const own: InputShare = { kind: 'partitions', partitions };
    shares.push({ scans: [], inputs: inputs.map((input) => (input.isPartitioned ? own : ALL)), bytes });
  }
  return { shares: shares.toSorted((a, b) => b.bytes - a.bytes), skewed };
}

const ALL: InputShare = { kind: 'all' };

const sum = (numbers: readonly number[]): number => numbers.reduce((total, number) => total + number, 0);

const bytesOf = ({ isPartitioned, produced }: PartitionInput, partition: number): number =>
  isPartitioned ? sum(produced.map((task) => task[partition]?.bytes ?? 0)) : 0;

const rowsOf = ({ isPartitioned, produced }: PartitionInput, partition: number): number =>
  isPartitioned ? sum(produced.map((task) => task[partition]?.rows ?? 0)) : 0;

/** Divides a skewed partition into several tasks; returns none when no input may be divided. */
function slices(inputs: readonly PartitionInput[], partition: number, slots: number): TaskShare[] {
  const candidates = inputs.flatMap((input, i) => (input.dividable ? [{ i, bytes: bytesOf(input, partition) }] : []));
  const [divided] = candidates.toSorted((a, b) => b.bytes - a.bytes);
  if (divided === undefined) return [];
  const batches = sum(
    must(inputs[divided.i], 'a candidate is an input').produced.map((task) => task[partition]?.batches ?? 0),
  );
  const of = Math.min(SKEW_PARTS_MAX, batches, Math.max(2, slots));
  if (of < 2) return [];
  const others = sum(inputs.map((input, i) => (i === divided.i ? 0 : bytesOf(input, partition))));
  return Array.from({ length: of }, (_, part) => ({
    scans: [],
    inputs: inputs.map((input, i): InputShare => {
      if (i === divided.i) return { kind: 'slice', partition, part, of };
      return input.isPartitioned ? { kind: 'partitions', partitions: [partition] } : ALL;
    }),
    bytes: divided.bytes / of + others,
  }));
}

/** `rows`: of the input that has the most. */
type PartitionSize = { readonly p: number; readonly bytes: number; readonly rows: number };
type Bin = { partitions: number[]; bytes: number };

/** Packs partitions, biggest first, into as few tasks as are worth starting: each goes to the task with the fewest bytes. */
function bins(partitions: readonly PartitionSize[], options: PartitionOptions & { readonly rowsMax: number }): Bin[] {
  if (options.isFixed) return partitions.map(({ p, bytes }) => ({ partitions: [p], bytes }));
  if (partitions.length === 0) return [];
  const total = sum(partitions.map(({ bytes }) => bytes));
  const worth = Math.min(Math.ceil(total / TASK_BYTES_MIN), options.slots * TASKS_PER_SLOT);
  const rows = sum(partitions.map((partition) => partition.rows));
  const many = Math.max(Math.ceil(total / TASK_BYTES_MAX), Math.ceil(rows / options.rowsMax));
  const count = Math.min(partitions.length, Math.max(1, worth, many));
  const made = Array.from({ length: count }, (): Bin => ({ partitions: [], bytes: 0 }));
  for (const { p, bytes } of partitions) {
    const emptiest = made.reduce((best, bin) => (bin.bytes < best.bytes ? bin : best));
    emptiest.partitions.push(p);
    emptiest.bytes += bytes;
  }
  return made.filter((bin) => bin.partitions.length > 0);
}

/**
 * Returns the batches of part `part` of `of` of a partition that is spread over several outputs: for each output, `[start, end)` or null.
 */
export function sliceBatches(
  batches: readonly number[],
  part: number,
  of: number,
): readonly ({ readonly start: number; readonly end: number } | null)[] {
  const total = sum(batches);
  const from = Math.floor((total * part) / of);
  const to = Math.floor((total * (part + 1)) / of);
  let at = 0;
  return batches.map((count) => {
    const start = Math.max(0, from - at);
    const end = Math.min(count, to - at);
    at += count;
    return start < end ? { start, end } : null;
  });
}
