import { scannedBytes } from '#shared/task/scanned-bytes.ts';
import type { ScanFile } from '#shared/iceberg/scan-file.ts';
import { DISTRIBUTION_LIMITS } from '../distributor/limits.ts';
import { cutEvery } from './cut-file.ts';

/** The smallest part of a scan that is handed out: some rows of one file, or the output of one task of an earlier stage. */
export type Split =
  | { readonly kind: 'rows'; readonly scan: number; readonly file: ScanFile; readonly bytes: number }
  | {
      readonly kind: 'output';
      readonly input: number;
      readonly task: number;
      readonly bytes: number;
      readonly address: string;
    };

/** A file is divided at multiples of this, the rows of DuckDB's row groups: a row group that two tasks share is read twice. */
const ROW_GROUP_ROWS = 122_880;
/** Approximate compressed bytes of a split. */
const SPLIT_BYTES = 2 * 2 ** 20;
/** Number of splits of one file, at most; the splits of a bigger file are bigger. */
const SPLITS_OF_FILE_MAX = 1_000;
/** A file is assigned to workers in blocks of this size. */
const AFFINITY_BYTES = 64 * 2 ** 20;

/** Divides a file into splits of whole row groups, as DuckDB writes them. */
export function splitFile(scan: number, file: ScanFile): Split[] {
  const { recordCount, sizeBytes } = file;
  const groups = Math.ceil(recordCount / ROW_GROUP_ROWS);
  const wanted = Math.min(SPLITS_OF_FILE_MAX, Math.ceil(sizeBytes / SPLIT_BYTES));
  if (groups < 2 || wanted < 2 || file.rows !== null) return [{ kind: 'rows', scan, file, bytes: sizeBytes }];
  const step = Math.ceil(groups / wanted) * ROW_GROUP_ROWS;
  const splits: Split[] = [];
  for (let start = 0; start < recordCount; start += step) {
    const end = Math.min(start + step, recordCount);
    const bytes = Math.round((sizeBytes * (end - start)) / recordCount);
    splits.push({ kind: 'rows', scan, file: { ...file, rows: { start, end } }, bytes });
  }
  return splits;
}

/** Bytes of a split of a stage's file: it is cheaper to read than the tables' own. */
const STAGED_SPLIT_BYTES = 4 * 2 ** 20;

/** Divides a file of a stage into splits of the same number of bytes. */
export function divideFile(scan: number, file: ScanFile): Split[] {
  const { sizeBytes } = file;
  const count = Math.min(SPLITS_OF_FILE_MAX, Math.ceil(sizeBytes / STAGED_SPLIT_BYTES));
  if (count < 2) return [{ kind: 'rows', scan, file, bytes: sizeBytes }];
  return cutEvery(file, Math.ceil(sizeBytes / count)).map((part) => ({
    kind: 'rows',
    scan,
    file: part,
    bytes: scannedBytes(part),
  }));
}

/** A slot whose share of a stage reads at most this takes it in one task: planning a task costs milliseconds, whatever it reads. */
const SHARE_BYTES_MIN = 64 * 2 ** 20;
/** Part of a bigger share that a slot takes in its first batch. The rest balances slots of different speed. */
const FIRST_BATCH_PART = 0.8;
/** Each later batch is this part of the slot's share of the remaining bytes, but not smaller than the two limits below. */
const NEXT_BATCH_PART = 0.5;
/** Smallest later batch; it is also at least the slot's whole share divided by `BATCHES_MAX_PER_SLOT`. */
const BATCH_BYTES_MIN = 16 * 2 ** 20;
const BATCHES_MAX_PER_SLOT = 8;
/** The last batch also takes up to this many remaining splits, when their bytes are less than a batch divided by this number. */
const REMNANT_MAX = 8;
/** A slot also takes its share in one task when the share is at most this many times the bytes that every task reads beside its batch. */
const REPEATED_SHARE = 16;

export type SplitQueueOptions = {
  /** `slots`: tasks of the stage that the worker runs at a time. */
  readonly workers: readonly { readonly address: string; readonly slots: number }[];
  /**
   * Bytes that every task of the stage reads beside its batch: the other sides of joins, for which each task builds its own hash tables.
   */
  readonly repeatedBytes: number;
  /** Approximate share of a split's bytes that is read: the share of its columns. */
  readonly readPart: number;
  /** Estimated number of groups that the tasks produce together; 0 when they do not group. */
  readonly groups: number;
};

/**
 * The splits of a stage that no task has taken yet. Each worker has its own share, by rendezvous hashing of the files, so that the same
 * files, and the same parts of a big one, go to the same worker every time. A worker without splits takes from the end of the longest
 * queue. The first batches are big and the last ones small, so a slow worker takes fewer. When every slot takes its share in one task, what
 * hashing gave one worker beyond its share goes to those with less: else it would become one more task, which starts when all others end.
 */
export class SplitQueue {
  readonly #options: SplitQueueOptions;
  readonly #queues = new Map<string, Split[]>();
  readonly #totalBytes: number;
  #leftBytes: number;
  #left: number;
  #batches = 0;

  constructor(splits: readonly Split[], options: SplitQueueOptions) {
    this.#options = options;
    for (const { address } of options.workers) this.#queues.set(address, []);
    const ranks = new Map<string, readonly string[]>();
    for (const split of splits) this.#ownerQueue(split, ranks).push(split);
    this.#totalBytes = splits.reduce((sum, split) => sum + split.bytes, 0);
    this.#leftBytes = this.#totalBytes;
    this.#left = splits.length;
    if (this.#takesShares) this.#level();
  }

  get size(): number {
    return this.#left;
  }

  /** Takes the next batch for a worker, from its own share or, when it may, from another's; empty when there is none. */
  take(address: string, mayTakeOthers: boolean): readonly Split[] {
    const wanted = this.#batchBytes();
    const batch: Split[] = [];
    let bytes = 0;
    while (batch.length === 0 || bytes < wanted) {
      const own = this.#queues.get(address)?.shift();
      const split = own ?? (mayTakeOthers ? this.#longest()?.pop() : undefined);
      if (split === undefined) break;
      // Half a split too many is as good as half too few.
      if (batch.length > 0 && bytes + split.bytes / 2 > wanted) {
        this.#giveBack(address, split);
        break;
      }
      batch.push(split);
      bytes += split.bytes;
    }
    batch.push(...this.#remnant(address, wanted));
    this.#left -= batch.length;
    this.#leftBytes = batch.reduce((left, split) => left - split.bytes, this.#leftBytes);
    if (batch.length > 0) this.#batches += 1;
    return batch;
  }

  /** Takes the rest of a worker's own share when it is too small for a task of its own. */
  #remnant(address: string, wanted: number): readonly Split[] {
    const own = this.#queues.get(address) ?? [];
    const isSmall = own.length <= REMNANT_MAX && own.reduce((sum, { bytes }) => sum + bytes, 0) < wanted / REMNANT_MAX;
    return isSmall ? own.splice(0) : [];
  }

  get #slots(): number {
    return this.#options.workers.reduce((sum, worker) => sum + worker.slots, 0) || 1;
  }

  /** The share of a slot up to which it takes it in one task because of what every task reads beside its batch. */
  get #repeatedShare(): number {
    const { repeatedBytes, readPart } = this.#options;
    return (repeatedBytes * REPEATED_SHARE) / readPart;
  }

  /** Whether a slot takes its whole share in its first task. */
  get #takesShares(): boolean {
    return this.#totalBytes / this.#slots <= Math.max(SHARE_BYTES_MIN / this.#options.readPart, this.#repeatedShare);
  }

  /** Moves splits from the ends of workers' queues that are longer than their share to the queues, not empty, that are shorter. */
  #level(): void {
    const share = this.#totalBytes / this.#slots;
    const queues = this.#options.workers.map(({ address, slots }) => {
      const splits = this.#queues.get(address) ?? [];
      return { splits, target: share * slots, bytes: splits.reduce((sum, split) => sum + split.bytes, 0) };
    });
    for (const short of queues) {
      if (short.splits.length === 0) continue;
      for (const long of queues) {
        for (let last = long.splits.at(-1); last !== undefined; last = long.splits.at(-1)) {
          const isLong = long !== short && long.bytes - last.bytes / 2 > long.target;
          if (!isLong || short.bytes + last.bytes / 2 > short.target) break;
          long.splits.pop();
          long.bytes -= last.bytes;
          short.splits.push(last);
          short.bytes += last.bytes;
        }
      }
    }
  }

  /** Size of the next batch, in bytes of splits. */
  #batchBytes(): number {
    const { readPart, groups } = this.#options;
    const slots = this.#slots;
    const share = this.#totalBytes / slots;
    const isFirst = this.#batches < slots;
    const most = Math.max(
      this.#repeatedShare,
      this.#totalBytes / Math.max(1, groups / DISTRIBUTION_LIMITS.hashedRowsMax),
    );
    if (isFirst && this.#takesShares) return Math.min(most, share);
    const least = Math.max(BATCH_BYTES_MIN / readPart, share / BATCHES_MAX_PER_SLOT);
    const part = isFirst ? share * FIRST_BATCH_PART : (this.#leftBytes / slots) * NEXT_BATCH_PART;
    return Math.min(most, Math.max(Math.min(share, least), part));
  }

  #giveBack(address: string, split: Split): void {
    const own = this.#queues.get(address);
    if (own === undefined) this.#longest()?.push(split);
    else own.unshift(split);
  }

  #longest(): Split[] | undefined {
    let longest: Split[] | undefined;
    for (const queue of this.#queues.values()) if (queue.length > (longest?.length ?? 0)) longest = queue;
    return longest;
  }

  #ownerQueue(split: Split, ranks: Map<string, readonly string[]>): Split[] {
    if (split.kind === 'output') return this.#queueOf(split.address);
    const { path } = split.file;
    const addresses = this.#options.workers.map(({ address }) => address);
    const ranked = ranks.get(path) ?? rankWorkers(path, addresses);
    ranks.set(path, ranked);
    return this.#queueOf(ranked[partOf(split.file, ranked.length)] ?? '');
  }

  /** Returns a worker's queue. A split without a worker goes to an extra queue that every worker may take from. */
  #queueOf(address: string): Split[] {
    const queue = this.#queues.get(address) ?? [];
    this.#queues.set(address, queue);
    return queue;
  }
}

/** Orders the workers by preference for a file, by rendezvous hashing: a worker that comes or goes changes little. */
function rankWorkers(path: string, addresses: readonly string[]): readonly string[] {
  const hash = hashText(path);
  const weights = addresses.map((address) => ({ address, weight: mix(hash ^ hashText(address)) }));
  return weights.toSorted((a, b) => b.weight - a.weight).map(({ address }) => address);
}

/** Returns which of its file's `parts` parts a split is in. A small file is one part, a big one has as many as there are workers. */
function partOf({ recordCount, sizeBytes, rows, bytes }: ScanFile, parts: number): number {
  const blocks = Math.max(1, Math.ceil(sizeBytes / AFFINITY_BYTES));
  const [at, size] = bytes === undefined ? [rows?.start ?? 0, recordCount] : [bytes.start, sizeBytes];
  const block = size === 0 ? 0 : Math.floor((blocks * at) / size);
  return Math.floor((block * parts) / blocks);
}

/** FNV-1a, a fast hash: a scan may have a million files, and each is hashed. */
function hashText(text: string): number {
  let hash = 0x811c9dc5;
  for (let i = 0; i < text.length; i += 1) hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193);
  return hash;
}

/** The last step of MurmurHash3, by which every bit depends on every other. */
function mix(hash: number): number {
  let mixed = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  mixed = Math.imul(mixed ^ (mixed >>> 13), 0xc2b2ae35);
  return (mixed ^ (mixed >>> 16)) >>> 0;
}

/** Returns the files that a batch reads, per scan. Adjacent ranges of a file become one. */
export function batchFiles(batch: readonly Split[], scans: number): ScanFile[][] {
  const files = Array.from({ length: scans }, (): ScanFile[] => []);
  const taken = batch.flatMap((split) => (split.kind === 'rows' ? [split] : []));
  const ordered = taken.toSorted((a, b) => {
    if (a.file.path !== b.file.path) return a.file.path < b.file.path ? -1 : 1;
    return startOf(a.file) - startOf(b.file);
  });
  for (const { scan, file } of ordered) {
    const list = files[scan];
    const last = list?.at(-1);
    if (last?.path === file.path && last.rows !== null && last.rows.end === file.rows?.start) {
      const rows = { start: last.rows.start, end: file.rows.end };
      const isWhole = rows.start === 0 && rows.end === file.recordCount;
      list?.splice(-1, 1, { ...last, rows: isWhole ? null : rows });
    } else if (last?.path === file.path && last.bytes !== undefined && last.bytes.end === file.bytes?.start) {
      const { bytes: before, ...whole } = last;
      const bytes = { start: before.start, end: file.bytes.end };
      const isWhole = bytes.start === 0 && bytes.end === file.sizeBytes;
      list?.splice(-1, 1, isWhole ? whole : { ...whole, bytes });
    } else {
      list?.push(file);
    }
  }
  return files;
}

const startOf = ({ rows, bytes }: ScanFile): number => rows?.start ?? bytes?.start ?? 0;
