import { constants, zstdCompressSync, zstdDecompressSync } from 'node:zlib';
import { newUuidV7 } from '#shared/uuid-v7.ts';
import type { PrintedRecord } from './record-line.ts';

/** Profiles that are stored in one row: lines of a record's id, a space, and its profile, compressed by zstd. */
type ProfileBatch = { readonly id: string; readonly bytes: Buffer };

/**
 * Profiles of small queries are alike: the fastest level makes those of a batch a tenth to a fortieth as long. It takes a microsecond for each,
 * 4 ms for the longest batch, in this thread: to use another one costs more than a usual batch.
 */
const OPTIONS = { params: { [constants.ZSTD_c_compressionLevel]: 1 } };

/** Null when none of the records has a profile. */
export function packProfiles(records: readonly PrintedRecord[]): ProfileBatch | null {
  const lines = records.flatMap(({ recordId, profile }) => (profile === null ? [] : [`${recordId} ${profile}\n`]));
  if (lines.length === 0) return null;
  return { id: newUuidV7(Date.now()), bytes: zstdCompressSync(Buffer.from(lines.join('')), OPTIONS) };
}

/** The profile of one record in a batch; null when it has none there. */
export function profileIn(batch: Buffer, recordId: string): string | null {
  const lines = zstdDecompressSync(batch).toString().split('\n');
  return lines.find((line) => line.startsWith(`${recordId} `))?.slice(recordId.length + 1) ?? null;
}
