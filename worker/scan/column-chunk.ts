import type { SchemaElement } from './parquet-schema.ts';
import { corrupt, THRIFT, type ThriftCursor } from './thrift-cursor.ts';

/** Where a Bloom filter begins; `length` null = unknown. */
export type FilterPlace = { readonly at: number; readonly length: number | null };

type Chunk = {
  /** Compressed bytes. */
  size: number;
  values: number;
  /** Offset of its statistics in the metadata; 0 = none. */
  statisticsAt: number;
  codec: number;
  encodings: readonly number[];
  /** Its first byte in the file. */
  start: number;
  /** It lies in this file, and is not encrypted. */
  isPlaced: boolean;
  filter: FilterPlace | null;
};

/** `CompressionCodec` of chunks that are not packed. */
export const UNCOMPRESSED = 0;
/** Offsets below are none: a file begins with its magic number. */
const FIRST_OFFSET = 4;

/** Reads a `ColumnChunk`: where it lies, and how it is stored. */
export function readChunk(cursor: ThriftCursor): Readonly<Chunk> {
  const chunk: Chunk = {
    size: 0,
    values: 0,
    statisticsAt: 0,
    codec: UNCOMPRESSED,
    encodings: [],
    start: 0,
    isPlaced: true,
    filter: null,
  };
  const pages: number[] = [];
  let filterAt = 0;
  let filterBytes: number | null = null;
  cursor.readStruct((id, type) => {
    // The path of another file, and keys of an encrypted column.
    if (id === 1 || id === 8 || id === 9) chunk.isPlaced = false;
    if (id !== 3 || type !== THRIFT.struct) return false;
    cursor.readStruct((member, memberType) => {
      if (member === 12 && memberType === THRIFT.struct) chunk.statisticsAt = cursor.offset;
      if (member === 2 && memberType === THRIFT.list) chunk.encodings = cursor.readIntList(memberType);
      else if (member === 4 && memberType === THRIFT.int32) chunk.codec = cursor.readInt();
      else if (member === 5 && memberType === THRIFT.int64) chunk.values = cursor.readInt();
      else if (member === 7 && memberType === THRIFT.int64) chunk.size = cursor.readInt();
      else if (member >= 9 && member <= 11 && memberType === THRIFT.int64) pages.push(cursor.readInt());
      else if (member === 14 && memberType === THRIFT.int64) filterAt = cursor.readInt();
      else if (member === 15 && memberType === THRIFT.int32) filterBytes = cursor.readInt();
      else return false;
      return true;
    });
    return true;
  });
  if (chunk.size < 0) throw corrupt('a column chunk has a negative size');
  const begins = pages.filter((at) => at >= FIRST_OFFSET);
  chunk.start = begins.length === 0 ? 0 : Math.min(...begins);
  chunk.isPlaced &&= chunk.start > 0;
  chunk.filter = filterAt === 0 ? null : { at: filterAt, length: filterBytes };
  return chunk;
}

/** Values of `Encoding` and `CompressionCodec` that DuckDB 1.5 does not read; one more of the first for all types but FLOAT and DOUBLE. */
const LAST_ENCODING = 9;
const BYTE_STREAM_SPLIT = 9;
const UNREAD_CODECS: ReadonlyMap<number, string> = new Map([
  [3, 'LZO'],
  [5, 'LZ4'],
]);
const LAST_CODEC = 7;

/** Names the encoding or the codec of a column chunk that DuckDB does not read. */
export function unreadStorage(
  { encodings, codec }: Pick<Chunk, 'encodings' | 'codec'>,
  element: SchemaElement | undefined,
): string | undefined {
  const unread = UNREAD_CODECS.get(codec) ?? (codec < 0 || codec > LAST_CODEC ? String(codec) : undefined);
  if (unread !== undefined) return `the codec ${unread}`;
  const isFloat = element?.type === 'FLOAT' || element?.type === 'DOUBLE';
  if (encodings.includes(BYTE_STREAM_SPLIT) && !isFloat) return `the encoding BYTE_STREAM_SPLIT of ${element?.type}`;
  const other = encodings.find((encoding) => encoding < 0 || encoding > LAST_ENCODING);
  return other === undefined ? undefined : `the encoding ${other}`;
}
