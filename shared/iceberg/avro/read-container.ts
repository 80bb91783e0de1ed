import { inflateRawSync, zstdDecompressSync } from 'node:zlib';
import { SkeinError } from '#shared/error.ts';
import { parseJson, type Json } from '#shared/json.ts';
import { tooComplex, type DecodeLimits } from '../decode-limits.ts';
import { AvroCursor, corrupt } from './avro-cursor.ts';
import { compileAvroRecord, type AvroReader, type Wanted } from './compile-avro.ts';
import { unsnap } from './unsnap.ts';

/** Avro object container files (avro.apache.org/docs/current/specification, "Object Container Files"), whole in memory. */

const MAGIC = Buffer.from('Obj\u0001', 'latin1');
const SYNC_BYTES = 16;
const SCHEMA_BYTES_MAX = 2 ** 20;
/** Records per batch: between two batches the caller may let other work run. */
const BATCH_ROWS = 250;
/** Steps to begin a block, compressed or not: a compressed one sets up a decompressor. */
const BLOCK_STEPS = 10;
const PACKED_BLOCK_STEPS = 2_000;
/** Bytes that are decompressed in about one step. */
const UNPACKED_BYTES_PER_STEP = 8;

/** Some records of one block. */
export type AvroBatch<Row> = {
  readonly rows: readonly Row[];
  /** Size of the decompressed block that the values refer to. Set on the first batch of the block, 0 on the others. */
  readonly bytes: number;
};

/**
 * Yields all records of a file in batches, with the `wanted` fields. The file is decoded only as far as batches are requested.
 * @throws INVALID_TABLE_DATA; TABLE_DATA_TOO_COMPLEX when it exceeds a limit
 */
export function* readAvroFile<Row>(
  file: Uint8Array,
  wanted: Wanted,
  limits: DecodeLimits,
): Generator<AvroBatch<Row>, void> {
  const { steps } = limits;
  const cursor = new AvroCursor(file, steps);
  if (!cursor.readBytes(MAGIC.length).equals(MAGIC)) throw corrupt('not an object container file');
  const { schema, codec } = readHeader(cursor);
  const sync = cursor.readBytes(SYNC_BYTES);
  const record = compileAvroRecord(parseSchemaText(schema), wanted);
  let rowsLeft = limits.rowsMax;
  let bytesLeft = limits.decodedBytesMax;
  while (cursor.offset < cursor.end) {
    steps.spend(codec === 'null' ? BLOCK_STEPS : PACKED_BLOCK_STEPS);
    const count = cursor.readLong();
    const packed = cursor.readBytes(cursor.readLength());
    const block = unpack(codec, packed, Math.max(1, Math.min(bytesLeft, limits.blockBytesMax)));
    bytesLeft -= block.length;
    if (bytesLeft < 0) throw tooComplex(`it unpacks to more than ${limits.decodedBytesMax} bytes`);
    steps.spend(block.length / UNPACKED_BYTES_PER_STEP);
    if (typeof count === 'bigint' || count < 0 || count > block.length) throw corrupt('a count is wrong');
    rowsLeft -= count;
    if (rowsLeft < 0) throw tooComplex(`it has more than ${limits.rowsMax} rows`);
    yield* readBlock<Row>(new AvroCursor(block, steps), record, count);
    if (!cursor.readBytes(SYNC_BYTES).equals(sync)) throw corrupt('a block does not end in the sync marker');
  }
}

function* readBlock<Row>(cursor: AvroCursor, record: AvroReader, count: number): Generator<AvroBatch<Row>, void> {
  for (let start = 0; start < count; start += BATCH_ROWS) {
    const size = Math.min(BATCH_ROWS, count - start);
    cursor.steps.spend(size * record.steps);
    const rows: Row[] = [];
    for (let i = 0; i < size; i++) rows.push(record.read(cursor) as Row);
    yield { rows, bytes: start === 0 ? cursor.end : 0 };
  }
}

type Header = { readonly schema: string; readonly codec: string };

/** Reads only the metadata that decoding needs, because the file also contains the table's schema, which may be long. */
function readHeader(cursor: AvroCursor): Header {
  let schema = '';
  let codec = 'null';
  for (let count = cursor.readBlockCount(); count > 0; count = cursor.readBlockCount()) {
    cursor.steps.spend(count);
    for (let i = 0; i < count; i++) {
      const key = cursor.readBytes(cursor.readLength()).toString('latin1', 0, KEY_BYTES_MAX);
      const length = cursor.readLength();
      if (key === 'avro.codec') codec = cursor.readString(length);
      else if (key !== 'avro.schema') cursor.skip(length);
      else if (length > SCHEMA_BYTES_MAX) throw tooComplex(`Avro: its schema has more than ${SCHEMA_BYTES_MAX} bytes`);
      else schema = cursor.readString(length);
    }
  }
  return { schema, codec };
}

/** Keys are read up to this length, which is longer than those that are looked for. */
const KEY_BYTES_MAX = 20;

function parseSchemaText(text: string): Json {
  try {
    return parseJson(text);
  } catch (cause) {
    throw new SkeinError('INVALID_TABLE_DATA', 'Avro: the schema is not JSON', { cause });
  }
}

/** @throws TABLE_DATA_TOO_COMPLEX when the decompressed block has more than `bytesMax` bytes */
function unpack(codec: string, block: Buffer, bytesMax: number): Buffer {
  const refuseLarge = (isTooLarge: boolean): void => {
    if (isTooLarge) throw tooComplex(`a block unpacks to more than ${bytesMax} bytes`);
  };
  try {
    if (codec === 'null') return block;
    if (codec === 'deflate') return inflateRawSync(block, { maxOutputLength: bytesMax });
    if (codec === 'zstandard') return zstdDecompressSync(block, { maxOutputLength: bytesMax });
    // A snappy block ends in 4 bytes of CRC-32, which the sync marker makes unnecessary.
    if (codec === 'snappy') return unsnap(block.subarray(0, -4), (length) => refuseLarge(length > bytesMax));
  } catch (cause) {
    if (cause instanceof SkeinError) throw cause;
    refuseLarge((cause as NodeJS.ErrnoException).code === 'ERR_BUFFER_TOO_LARGE');
    throw new SkeinError('INVALID_TABLE_DATA', 'Avro: a block does not decompress', { cause });
  }
  throw new SkeinError('NOT_SUPPORTED', `Avro codec ${JSON.stringify(codec.slice(0, 100))} is not supported`);
}
