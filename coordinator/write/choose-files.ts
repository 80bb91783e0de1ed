import type { ScanDelete, ScanFile } from '#shared/iceberg/scan-file.ts';
import { fileKey } from '#shared/iceberg/write/rewrite-manifests.ts';
import { printJson } from '#shared/json.ts';

/** Files whose rows are written anew by one task. */
type RewritePart = readonly ScanFile[];

export type Compaction = {
  readonly parts: readonly RewritePart[];
  /** Files that it writes, at least. */
  readonly bins: number;
};

/** A file below the threshold, or with deletes, is written anew; `targetBytes`: size of a file that is written. */
type ChooseOptions = { readonly thresholdBytes: number; readonly targetBytes: number };

/** Bins of one partition that take further files. */
const OPEN_BINS_MAX = 100;
/** A bin that is so full takes no further file. */
const FULL = 0.95;
/** Most files that a task reads, and that it writes: so many tasks can work on a table of many small partitions. */
const PART_FILES_MAX = 1_000;
const PART_BINS_MAX = 100;

/**
 * Chooses the files of a table that a compaction writes anew. Files meet in bins of about the target size with others of their partition; a
 * bin of one file without deletes would gain nothing. A part has small bins of several partitions, or one bin.
 * ```
 *   a1 a2 | b1 | c1 c2 c3   ─▶   (a1 a2) (c1 c2 c3)       letters: partitions; b1 has no other to meet
 * ```
 * When the files of a compaction are chosen again, nothing is found.
 */
export function chooseFiles(files: readonly ScanFile[], { thresholdBytes, targetBytes }: ChooseOptions): Compaction {
  const partitions = Map.groupBy(files, ({ partition = {} }) => printJson(partition));
  const parts: { files: ScanFile[]; bytes: number; bins: number; partitions: Set<string> }[] = [];
  let bins = 0;
  for (const [partition, all] of partitions) {
    const small = all.filter((file) => file.sizeBytes < thresholdBytes || file.deletes.length > 0);
    for (const bin of binsOf(small, targetBytes)) {
      const [only] = bin.files;
      if (bin.files.length === 1 && only?.deletes.length === 0) continue;
      bins += 1;
      const part = parts.at(-1);
      const fits =
        part !== undefined &&
        part.bytes + bin.bytes <= targetBytes &&
        part.files.length + bin.files.length <= PART_FILES_MAX &&
        part.bins < PART_BINS_MAX &&
        // The rows of a partition that one task writes go into one file.
        !part.partitions.has(partition);
      if (!fits) {
        parts.push({ files: bin.files, bytes: bin.bytes, bins: 1, partitions: new Set([partition]) });
        continue;
      }
      part.files.push(...bin.files);
      part.bytes += bin.bytes;
      part.bins += 1;
      part.partitions.add(partition);
    }
  }
  return { parts: parts.map((part) => part.files), bins };
}

type Bin = { readonly files: ScanFile[]; bytes: number };

/** First fit: no two bins would fit into one. */
function binsOf(files: readonly ScanFile[], targetBytes: number): readonly Bin[] {
  const full: Bin[] = [];
  const open: Bin[] = [];
  for (const file of files) {
    const bin = open.find(({ bytes }) => bytes + file.sizeBytes <= targetBytes);
    if (bin === undefined) {
      open.push({ files: [file], bytes: file.sizeBytes });
      if (open.length > OPEN_BINS_MAX) full.push(...open.splice(0, 1));
      continue;
    }
    bin.files.push(file);
    bin.bytes += file.sizeBytes;
    if (bin.bytes >= targetBytes * FULL) full.push(...open.splice(open.indexOf(bin), 1));
  }
  return [...full, ...open];
}

/** Keys of the delete files that apply to some of the chosen files and to no other. @param all every file of the snapshot */
export function droppedDeletes(all: readonly ScanFile[], chosen: ReadonlySet<string>): ReadonlySet<string> {
  const keysOf = (files: readonly ScanFile[]): ReadonlySet<string> =>
    new Set(files.flatMap(({ deletes }) => deletes.map(deleteKey)));
  const kept = keysOf(all.filter(({ path }) => !chosen.has(path)));
  return keysOf(all.filter(({ path }) => chosen.has(path))).difference(kept);
}

const deleteKey = (one: ScanDelete): string =>
  one.kind === 'vector'
    ? fileKey({ path: one.path, contentOffset: one.offset })
    : fileKey({ ...one, contentOffset: undefined });
