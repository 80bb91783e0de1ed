import { promisify } from 'node:util';
import { constants, zstdCompress, zstdDecompress } from 'node:zlib';
import { newUuidV7 } from '#shared/uuid-v7.ts';
import type { PrintedRecord } from './record-line.ts';

/** Profiles that are stored in one row: lines of a record's id, a space, and its profile, compressed by zstd. */
export type ProfileBatch = { readonly id: string; readonly bytes: Buffer };

/** Profiles of small queries are alike: the fastest level makes them a tenth as long. */
const OPTIONS = { params: { [constants.ZSTD_c_compressionLevel]: 1 } };

const compress = promisify(zstdCompress);
const decompress = promisify(zstdDecompress);

/** Null when none of the records has a profile. */
export async function packProfiles(records: readonly PrintedRecord[]): Promise<ProfileBatch | null> {
  const lines = records.flatMap(({ recordId, profile }) => (profile === null ? [] : [`${recordId} ${profile}\n`]));
  if (lines.length === 0) return null;
  return { id: newUuidV7(Date.now()), bytes: await compress(Buffer.from(lines.join('')), OPTIONS) };
}

/** The profile of one record in a batch; null when it has none there. */
export async function profileIn(batch: Buffer, recordId: string): Promise<string | null> {
  const lines = (await decompress(batch)).toString().split('\n');
  return lines.find((line) => line.startsWith(`${recordId} `))?.slice(recordId.length + 1) ?? null;
}
