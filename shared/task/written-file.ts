import { decodeBound, encodeBound } from '#shared/iceberg/single-value.ts';
import type { IcebergType } from '#shared/iceberg/type.ts';
import type { NewDataFile } from '#shared/iceberg/write/data-file.ts';
import type { WrittenFile } from './task.ts';

/** Encodes a file for a task's report. `types`: those of its partition values. */
export function encodeWrittenFile(file: NewDataFile, types: readonly IcebergType[]): WrittenFile {
  return {
    path: file.path,
    recordCount: file.recordCount,
    sizeBytes: file.sizeBytes,
    partition: types.map((type, i) => {
      const value = file.partition[i] ?? null;
      const bytes = value === null ? undefined : encodeBound(type, value);
      return bytes === undefined ? null : base64(bytes);
    }),
    columnSizes: [...file.columnSizes],
    valueCounts: [...file.valueCounts],
    nullCounts: [...file.nullCounts],
    nanCounts: [...file.nanCounts],
    lower: Array.from(file.lower, ([id, bytes]) => [id, base64(bytes)]),
    upper: Array.from(file.upper, ([id, bytes]) => [id, base64(bytes)]),
    splitOffsets: file.splitOffsets,
  };
}

export function decodeWrittenFile(file: WrittenFile, types: readonly IcebergType[]): NewDataFile {
  return {
    ...file,
    partition: types.map((type, i) => {
      const text = file.partition[i] ?? null;
      return text === null ? null : (decodeBound(type, bytesOf(text)) ?? null);
    }),
    columnSizes: new Map(file.columnSizes),
    valueCounts: new Map(file.valueCounts),
    nullCounts: new Map(file.nullCounts),
    nanCounts: new Map(file.nanCounts),
    lower: new Map(file.lower.map(([id, text]) => [id, bytesOf(text)])),
    upper: new Map(file.upper.map(([id, text]) => [id, bytesOf(text)])),
  };
}

const base64 = (bytes: Uint8Array): string => Buffer.from(bytes).toString('base64');
const bytesOf = (text: string): Uint8Array => Uint8Array.from(Buffer.from(text, 'base64'));
