import { deflateRawSync, zstdCompressSync } from 'node:zlib';
import avro from 'avsc';
import type { Json } from '#shared/json.ts';

/** Makes Avro files that no library would write. */

const SYNC = Buffer.alloc(16, 7);
const MAGIC = Buffer.from('Obj\u0001', 'latin1');
const HEADER = avro.Type.forSchema({ type: 'map', values: 'bytes' });
const LONG = avro.Type.forSchema('long');

export const avroLong = (value: number): Buffer => LONG.toBuffer(value);

export type RawBlock = { readonly count: number; readonly bytes: Uint8Array };

/** A container file of any schema text and blocks; the caller packs the blocks. */
export function avroContainer(schema: string, blocks: readonly RawBlock[], codec = 'null'): Uint8Array {
  const header = HEADER.toBuffer({ 'avro.schema': Buffer.from(schema), 'avro.codec': Buffer.from(codec) });
  const parts = blocks.flatMap(({ count, bytes }) => [
    avroLong(count),
    avroLong(bytes.length),
    Buffer.from(bytes),
    SYNC,
  ]);
  return Buffer.concat([MAGIC, header, SYNC, ...parts]);
}

/** Bytes that unpack to `size` zeros. */
export function bomb(codec: 'deflate' | 'zstandard', size: number): Buffer {
  const zeros = Buffer.alloc(size);
  return codec === 'deflate' ? deflateRawSync(zeros, { level: 9 }) : zstdCompressSync(zeros);
}

/** A record of one field, which Iceberg knows as a manifest's status. */
export const recordOf = (type: Json): string =>
  JSON.stringify({ type: 'record', name: 'r', fields: [{ name: 'status', 'field-id': 0, type }] });

/**
 * A schema that multiplies: every level is a union of the level below, written out once and referred to by name `names` more times. A
 * reader that compiles a named type at every reference compiles the lowest level (names + 1) ^ levels times; one that counts only a union's
 * most expensive branch does not notice.
 */
export function exponentialSchema(levels: number, names: number): string {
  const nameOf = (level: number): string => String.fromCharCode(97 + level);
  let inner: Json = { type: 'record', name: nameOf(0), fields: [{ name: 'x', type: 'int' }] };
  for (let level = 1; level <= levels; level++) {
    const below = Array.from({ length: names }, () => nameOf(level - 1));
    inner = { type: 'record', name: nameOf(level), fields: [{ name: 'x', type: [inner, ...below] }] };
  }
  return recordOf(inner);
}
