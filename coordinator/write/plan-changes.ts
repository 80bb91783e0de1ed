import type { ScanDelete, ScanFile } from '#shared/iceberg/scan-file.ts';
import type { PositionSet } from '#shared/iceberg/position-set.ts';

/** How the rows of a file go. */
export type FileChange =
  /** All of them go: so does the file. */
  | { readonly kind: 'remove'; readonly file: ScanFile }
  /** The rows that stay are written anew. */
  | { readonly kind: 'rewrite'; readonly file: ScanFile; readonly positions: PositionSet }
  /** Their positions are written. */
  | { readonly kind: 'mark'; readonly file: ScanFile; readonly positions: PositionSet };

/** The value of `write.delete.mode` and its like; null = whichever is faster. */
export type ChangeMode = 'copy-on-write' | 'merge-on-read' | null;

/** Largest share of a file's rows that are marked as deleted: to write a file anew takes longer than to leave out so few in every scan. */
const MARKED_SHARE_MAX = 0.05;
/** Smallest file whose rows are marked: a smaller one is written anew in the time of a few requests. */
const MARKED_FILE_BYTES = 4 * 2 ** 20;
/** Longest vector that is merged with another here, and most positions of one; beyond it the file is written anew. */
const MERGED_BYTES_MAX = 8 * 2 ** 20;
const MERGED_POSITIONS_MAX = 4_000_000;
/** Most positions of a position delete file, of 8 bytes each, and most such files of a data file; beyond them it is written anew. */
const LISTED_POSITIONS_MAX = 4_000_000;
const DELETE_FILES_MAX = 20;

/**
 * Decides for each file with matched rows how they go:
 * ```
 * all rows                     ─▶ the file goes
 * merge-on-read, or few rows   ─▶ their positions are written
 * otherwise                    ─▶ the rows that stay are written anew
 * ```
 */
export function planChanges(
  files: readonly ScanFile[],
  matched: ReadonlyMap<string, PositionSet>,
  { mode, formatVersion }: { readonly mode: ChangeMode; readonly formatVersion: number },
): readonly FileChange[] {
  return files.flatMap((file): readonly FileChange[] => {
    const positions = matched.get(file.path);
    if (positions === undefined) return [];
    if (positions.size === liveRows(file)) return [{ kind: 'remove', file }];
    const isFew = positions.size <= file.recordCount * MARKED_SHARE_MAX && file.sizeBytes >= MARKED_FILE_BYTES;
    const isMarked = mode === null ? isFew : mode === 'merge-on-read';
    return [{ kind: isMarked && canMark(file, positions, formatVersion) ? 'mark' : 'rewrite', file, positions }];
  });
}

/** Rows of a file that are not deleted; null when its delete files must be read to know it. */
export function liveRows({ recordCount, deletes }: ScanFile): number | null {
  let gone = 0;
  for (const one of deletes) {
    if (one.kind !== 'vector') return null;
    gone += one.cardinality;
  }
  return recordCount - gone;
}

export const vectorOf = ({ deletes }: ScanFile): Extract<ScanDelete, { kind: 'vector' }> | undefined =>
  deletes.find((one) => one.kind === 'vector');

/** In format 3 a file has one vector and no other deletes by position beside it (specification, "Position Deletes"). */
function canMark(file: ScanFile, positions: PositionSet, formatVersion: number): boolean {
  if (formatVersion < 3) return positions.size <= LISTED_POSITIONS_MAX && file.deletes.length < DELETE_FILES_MAX;
  const vector = vectorOf(file);
  const isLarge =
    vector !== undefined && (vector.lengthBytes > MERGED_BYTES_MAX || vector.cardinality > MERGED_POSITIONS_MAX);
  return !isLarge && !file.deletes.some(({ kind }) => kind === 'position');
}
