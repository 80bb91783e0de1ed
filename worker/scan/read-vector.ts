import type { ScanDelete } from '#shared/iceberg/scan-file.ts';
import { SkeinError } from '#shared/error.ts';
import { tooComplex } from '#shared/iceberg/decode-limits.ts';
import { decodeDeletionVector } from '#shared/iceberg/deletion-vector.ts';
import { NotAFile, type Storage } from '#shared/storage/storage.ts';
import type { DeletedPositions } from './deleted-positions.ts';
import { baseName } from './plan-file.ts';

type Vector = Extract<ScanDelete, { kind: 'vector' }>;

/** Largest packed vector of one data file: the bits of two billion rows. */
const BLOB_BYTES_MAX = 256 * 2 ** 20;
const CONTAINER_SIZE = 65_536;
const POSITION_BYTES = 8;

/**
 * Reads the positions, in order, that a deletion vector of a Puffin file deletes (Iceberg Puffin spec, blob type `deletion-vector-v1`:
 * length, magic, a 64-bit Roaring bitmap, CRC-32). The file's own footer is not read: the manifest gives the blob's offset.
 * @throws INVALID_TABLE_DATA when anything of it is wrong, TABLE_DATA_TOO_COMPLEX, OUT_OF_MEMORY, STORAGE_ERROR when it cannot be read.
 */
export async function readDeletionVector(
  storage: Storage,
  vector: Vector,
  positions: DeletedPositions,
): Promise<BigInt64Array> {
  const { lengthBytes, cardinality } = vector;
  const isPossible = lengthBytes >= 0 && cardinality >= 0 && cardinality <= lengthBytes * CONTAINER_SIZE;
  if (!isPossible) throw corrupt(vector);
  if (lengthBytes > BLOB_BYTES_MAX) {
    throw tooComplex(`the deletion vector in ${baseName(vector.path)} is longer than ${BLOB_BYTES_MAX} bytes`);
  }
  positions.reserve(lengthBytes + cardinality * POSITION_BYTES);
  const blob = await readBlob(storage, vector);
  const found = blob.length === lengthBytes ? await decodeDeletionVector(blob, cardinality) : undefined;
  if (found === undefined) throw corrupt(vector);
  positions.release(lengthBytes);
  return found;
}

const corrupt = ({ path }: Vector): SkeinError =>
  new SkeinError('INVALID_TABLE_DATA', `the deletion vector in ${baseName(path)} is corrupt`);

async function readBlob(storage: Storage, { path, offset, lengthBytes }: Vector): Promise<Buffer> {
  try {
    return await storage.readRange(path, offset, lengthBytes);
  } catch (error) {
    if (error instanceof NotAFile) throw new SkeinError('INVALID_TABLE_DATA', `${baseName(path)} is not a file`);
    throw new SkeinError('STORAGE_ERROR', `cannot read the delete file ${baseName(path)}`, { cause: error });
  }
}
