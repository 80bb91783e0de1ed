import { randomBytes } from 'node:crypto';
import { deflateRawSync } from 'node:zlib';
import avro from 'avsc';
import { printJson, type Json } from '#shared/json.ts';

/**
 * A whole Avro object container file, deflated. `schema` goes into its header as it stands, because Avro libraries drop attributes
 * that they do not know, and Iceberg's `field-id` is one. Integers of type `long` may be numbers or bigints.
 */
export function writeAvroFile(
  schema: Json,
  metadata: Readonly<Record<string, string>>,
  rows: readonly unknown[],
): Uint8Array {
  const type = avro.Type.forSchema(schema as unknown as avro.Schema, { registry: { long: LONG }, wrapUnions: false });
  const header = { ...metadata, 'avro.schema': printJson(schema), 'avro.codec': 'deflate' };
  const sync = randomBytes(SYNC_BYTES);
  const parts: Buffer[] = [MAGIC, METADATA.toBuffer(toBytes(header)), sync];
  for (let start = 0; start < rows.length; start += ROWS_PER_BLOCK) {
    const block = rows.slice(start, start + ROWS_PER_BLOCK);
    const bytes = deflateRawSync(Buffer.concat(block.map((row) => type.toBuffer(row))));
    parts.push(LONG.toBuffer(BigInt(block.length)), LONG.toBuffer(BigInt(bytes.length)), bytes, sync);
  }
  return Buffer.concat(parts);
}

const MAGIC = Buffer.from('Obj\u0001', 'latin1');
const SYNC_BYTES = 16;
const ROWS_PER_BLOCK = 1_000;

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
