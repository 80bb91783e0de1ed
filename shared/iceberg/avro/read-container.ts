import { setImmediate } from 'node:timers/promises';
import { inflateRawSync, zstdDecompressSync } from 'node:zlib';
import { snappyUncompress } from 'hyparquet';
import { SkeinError } from '#shared/error.ts';
import { parseJson, type Json } from '#shared/json.ts';
import { AvroCursor, corrupt } from './avro-cursor.ts';
import { compileAvroRecord, type Wanted } from './compile-avro.ts';

/** Avro object container files (avro.apache.org/docs/current/specification, "Object Container Files"), whole in memory. */

const MAGIC = Buffer.from('Obj\u0001', 'latin1');
const SYNC_BYTES = 16;
/** Limit of a file's blocks together once they are decompressed. */
const DECODED_BYTES_MAX = 512 * 2 ** 20;
/** Records decoded between two turns of the event loop. */
const RECORDS_PER_TURN = 250;

export type AvroFile<Row> = {
  readonly metadata: ReadonlyMap<string, string>;
  readonly rows: readonly Row[];
  /** Bytes of all blocks, decompressed: values may refer to them. */
  readonly decodedBytes: number;
};

/** Reads all records, as far as `wanted`. @throws INVALID_TABLE_DATA */
export async function readAvroFile<Row>(file: Uint8Array, wanted: Wanted): Promise<AvroFile<Row>> {
  const cursor = new AvroCursor(file);
  if (!cursor.readBytes(MAGIC.length).equals(MAGIC)) throw corrupt('not an object container file');
  const metadata = readMetadata(cursor);
  const sync = cursor.readBytes(SYNC_BYTES);
  const record = compileAvroRecord(parseSchemaText(metadata.get('avro.schema') ?? ''), wanted);
  const rows: Row[] = [];
  let decodedBytes = 0;
  while (cursor.offset < cursor.end) {
    const count = cursor.readLong();
    const block = decompress(metadata.get('avro.codec') ?? 'null', cursor.readBytes(cursor.readLength()), decodedBytes);
    decodedBytes += block.length;
    if (typeof count === 'bigint' || count < 0 || count > block.length) throw corrupt('a count is wrong');
    const inner = new AvroCursor(block);
    for (let i = 0; i < count; i++) {
      rows.push(record.read(inner) as Row);
      if (rows.length % RECORDS_PER_TURN === 0) await setImmediate();
    }
    if (!cursor.readBytes(SYNC_BYTES).equals(sync)) throw corrupt('a block does not end in the sync marker');
  }
  return { metadata, rows, decodedBytes };
}

function readMetadata(cursor: AvroCursor): ReadonlyMap<string, string> {
  const metadata = new Map<string, string>();
  for (let count = cursor.readBlockCount(); count > 0; count = cursor.readBlockCount()) {
    for (let i = 0; i < count; i++) {
      const key = cursor.readString(cursor.readLength());
      metadata.set(key, cursor.readString(cursor.readLength()));
    }
  }
  return metadata;
}

function parseSchemaText(text: string): Json {
  try {
    return parseJson(text);
  } catch (cause) {
    throw new SkeinError('INVALID_TABLE_DATA', 'Avro: the schema is not JSON', { cause });
  }
}

function decompress(codec: string, block: Buffer, decodedBytes: number): Buffer {
  const maxOutputLength = DECODED_BYTES_MAX - decodedBytes;
  try {
    if (codec === 'null') return block;
    if (codec === 'deflate') return inflateRawSync(block, { maxOutputLength });
    if (codec === 'zstandard') return zstdDecompressSync(block, { maxOutputLength });
    if (codec === 'snappy') return unsnap(block, maxOutputLength);
  } catch (cause) {
    throw new SkeinError('INVALID_TABLE_DATA', 'Avro: a block does not decompress', { cause });
  }
  throw new SkeinError('NOT_SUPPORTED', `Avro codec ${JSON.stringify(codec)} is not supported`);
}

/** A snappy block ends in 4 bytes of CRC-32, which the sync marker makes needless. */
function unsnap(block: Buffer, lengthMax: number): Buffer {
  let length = 0;
  for (let i = 0, factor = 1; i < 5; i++, factor *= 128) {
    const byte = block[i] ?? 0;
    length += (byte & 0x7f) * factor;
    if (byte < 0x80) break;
  }
  // A snappy element of 3 bytes makes 64 at most.
  if (length > lengthMax || length > block.length * 22) throw corrupt('a block is too large');
  const output = Buffer.alloc(length);
  snappyUncompress(block.subarray(0, -4), output);
  return output;
}
