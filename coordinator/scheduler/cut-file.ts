import type { ScanFile } from '#shared/iceberg/scan-file.ts';

/** The parts of a stage's file between some offsets, which ascend. */
export function cutFile(file: ScanFile, offsets: readonly number[]): readonly ScanFile[] {
  if (offsets.length === 0) return [file];
  const starts = [0, ...offsets];
  return starts.map((start, i) => ({ ...file, bytes: { start, end: starts[i + 1] ?? file.sizeBytes } }));
}

/** The parts of a stage's file of `stepBytes` each, but for the last. */
export function cutEvery(file: ScanFile, stepBytes: number): readonly ScanFile[] {
  const count = Math.max(1, Math.ceil(file.sizeBytes / stepBytes));
  return cutFile(
    file,
    Array.from({ length: count - 1 }, (_, i) => (i + 1) * stepBytes),
  );
}
