import { randomBytes } from 'node:crypto';
import { deflateRawSync } from 'node:zlib';
import avro from 'avsc';
import { LRUCache } from 'lru-cache';
import { printJson, type Json } from '#shared/json.ts';
import { isObject } from '../type.ts';

/**
 * Writes an Avro object container file, deflated, block by block. `schema` goes into its header as it stands, because Avro libraries drop
 * attributes that they do not know, and Iceberg's `field-id` is one. Integers of type `long` may be numbers or bigints.
 */
export class AvroFile {
  readonly #type: avro.Type;
  readonly #sync = randomBytes(SYNC_BYTES);
  readonly #parts: Buffer[] = [];
  #partBytes = 0;
  #rows: Buffer[] = [];
  #rowBytes = 0;

  constructor(schema: Json, metadata: Readonly<Record<string, string>>) {
    const text = printJson(schema);
    this.#type = typeOf(schema, text);
    const header = { ...metadata, 'avro.schema': text, 'avro.codec': 'deflate' };
    this.#push(MAGIC, METADATA.toBuffer(toBytes(header)), this.#sync);
  }

  /** Bytes so far; the rows of the last block are not compressed yet. */
  get sizeBytes(): number {
    return this.#partBytes + this.#rowBytes;
  }

  add(row: unknown): void {
    const bytes = this.#type.toBuffer(row);
    this.#rows.push(bytes);
    this.#rowBytes += bytes.length;
    if (this.#rowBytes >= BLOCK_BYTES) this.#endBlock();
  }

  end(): Uint8Array {
    this.#endBlock();
    return Buffer.concat(this.#parts);
  }

  #endBlock(): void {
    if (this.#rows.length === 0) return;
    const bytes = deflateRawSync(Buffer.concat(this.#rows));
    this.#push(LONG.toBuffer(BigInt(this.#rows.length)), LONG.toBuffer(BigInt(bytes.length)), bytes, this.#sync);
    this.#rows = [];
    this.#rowBytes = 0;
  }

  #push(...parts: readonly Buffer[]): void {
    for (const part of parts) {
      this.#parts.push(part);
      this.#partBytes += part.length;
    }
  }
}

/** Types by the texts of their schemas: to make one takes a millisecond, and every commit writes a manifest and a list. */
const TYPES = new LRUCache<string, avro.Type>({ max: 100 });

function typeOf(schema: Json, text: string): avro.Type {
  const known = TYPES.get(text);
  if (known !== undefined) return known;
  const options = { registry: { long: LONG }, wrapUnions: false };
  const type = avro.Type.forSchema(withPlainLongs(schema) as unknown as avro.Schema, options);
  TYPES.set(text, type);
  return type;
}

/** Removes attributes from types `long`: the library uses its registered `long` only for types that are written as a bare name. */
function withPlainLongs(schema: Json): Json {
  if (Array.isArray(schema)) return (schema as readonly Json[]).map(withPlainLongs);
  if (!isObject(schema)) return schema;
  if (schema['type'] === 'long' && schema['name'] === undefined) return 'long';
  return Object.fromEntries(Object.entries(schema).map(([key, value]) => [key, withPlainLongs(value)]));
}

/** Returns a Buffer over the same bytes, because the encoder requires a Buffer. */
export const toBuffer = (bytes: Uint8Array): Buffer => Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);

/** Encodes a whole file. */
export function writeAvroFile(
  schema: Json,
  metadata: Readonly<Record<string, string>>,
  rows: readonly unknown[],
): Uint8Array {
  const file = new AvroFile(schema, metadata);
  for (const row of rows) file.add(row);
  return file.end();
}

const MAGIC = Buffer.from('Obj\u0001', 'latin1');
const SYNC_BYTES = 16;
/** Size at which a block is compressed, about 5 ms of work. */
const BLOCK_BYTES = 256 * 1024;

const LONG = avro.types.LongType.__with({
  fromBuffer: (bytes: Buffer) => bytes.readBigInt64LE(),
  toBuffer: (value: number | bigint) => {
    const bytes = Buffer.allocUnsafe(8);
    bytes.writeBigInt64LE(BigInt(value));
    return bytes;
  },
  fromJSON: BigInt,
  toJSON: String,
  isValid: (value: unknown) => typeof value === 'bigint' || Number.isSafeInteger(value),
  compare: (left: bigint, right: bigint) => (left < right ? -1 : left > right ? 1 : 0),
});

const METADATA = avro.Type.forSchema({ type: 'map', values: 'bytes' });

const toBytes = (texts: Readonly<Record<string, string>>): Record<string, Buffer> =>
  Object.fromEntries(Object.entries(texts).map(([key, text]) => [key, Buffer.from(text)]));
