import type { ScanFile } from '#shared/iceberg/scan-file.ts';

/** Bytes of a file that a task reads: of a stage's file it may have a part. */
export const scannedBytes = ({ sizeBytes, bytes }: Pick<ScanFile, 'sizeBytes' | 'bytes'>): number =>
  bytes === undefined ? sizeBytes : bytes.end - bytes.start;
