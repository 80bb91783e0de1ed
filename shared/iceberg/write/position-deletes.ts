import type { PositionSet } from '../position-set.ts';
import { CompactWriter } from './compact-writer.ts';

const PARQUET_MAGIC = Buffer.from('PAR1');
/** Reserved field ids of the columns (Iceberg specification, "Position Delete Files"). */
const FILE_PATH_ID = 2_147_483_546;
const POS_ID = 2_147_483_545;
/** Numbers of the Parquet format: types, encodings, page types. */
const INT64 = 2;
const BYTE_ARRAY = 6;
const PLAIN = 0;
const RLE = 3;
const RLE_DICTIONARY = 8;
const DATA_PAGE = 0;
const DICTIONARY_PAGE = 2;
const REQUIRED = 0;
const UTF8 = 0;

/**
 * Encodes a position delete file for one data file: a Parquet file of one row group with the columns `file_path`, whose only value is the
 * path, and `pos`, in order.
 * ```
 * PAR1 | dictionary: the path | n times entry 0 | n positions of 8 bytes | footer, its length, PAR1
 * ```
 */
export function encodePositionDeletes(dataFile: string, positions: PositionSet): Buffer {
  const rows = positions.size;
  const path = Buffer.from(dataFile);
  const dictionary = page(DICTIONARY_PAGE, { values: 1, encoding: PLAIN }, lengthBefore(path));
  const indexes = page(DATA_PAGE, { values: rows, encoding: RLE_DICTIONARY }, repeatedIndex(rows));
  const list = Buffer.alloc(rows * 8);
  let at = 0;
  let [first, last] = [0, 0];
  for (const position of positions) {
    if (at === 0) first = position;
    last = position;
    at = list.writeBigInt64LE(BigInt(position), at);
  }
  const pos = page(DATA_PAGE, { values: rows, encoding: PLAIN }, list);
  const start = PARQUET_MAGIC.length;
  const columns = [
    {
      name: 'file_path',
      type: BYTE_ARRAY,
      encodings: [PLAIN, RLE, RLE_DICTIONARY],
      rows,
      bytes: dictionary.length + indexes.length,
      dictionaryAt: start,
      dataAt: start + dictionary.length,
      lower: path,
      upper: path,
    },
    {
      name: 'pos',
      type: INT64,
      encodings: [PLAIN, RLE],
      rows,
      bytes: pos.length,
      dictionaryAt: null,
      dataAt: start + dictionary.length + indexes.length,
      lower: int64(first),
      upper: int64(last),
    },
  ];
  const footer = footerOf(columns, rows);
  const length = Buffer.alloc(4);
  length.writeUInt32LE(footer.length);
  return Buffer.concat([PARQUET_MAGIC, dictionary, indexes, pos, footer, length, PARQUET_MAGIC]);
}

type ColumnChunk = {
  readonly name: string;
  readonly type: number;
  readonly encodings: readonly number[];
  readonly rows: number;
  /** Size with the headers of its pages. */
  readonly bytes: number;
  readonly dictionaryAt: number | null;
  readonly dataAt: number;
  readonly lower: Buffer;
  readonly upper: Buffer;
};

function footerOf(columns: readonly ColumnChunk[], rows: number): Buffer {
  const size = columns.reduce((sum, { bytes }) => sum + bytes, 0);
  return new CompactWriter()
    .struct((file) =>
      file
        .int32(1, 1)
        .structs(2, [
          (root) => root.text(4, 'table').int32(5, 2),
          (path) =>
            path
              .int32(1, BYTE_ARRAY)
              .int32(3, REQUIRED)
              .text(4, 'file_path')
              .int32(6, UTF8)
              .int32(9, FILE_PATH_ID)
              .inner(10, (logical) => logical.inner(1, (string) => string)),
          (pos) => pos.int32(1, INT64).int32(3, REQUIRED).text(4, 'pos').int32(9, POS_ID),
        ])
        .int64(3, rows)
        .structs(4, [
          (group) =>
            group
              .structs(
                1,
                columns.map((column) => (chunk) => printChunk(chunk, column)),
              )
              .int64(2, size)
              .int64(3, rows),
        ])
        .text(6, 'skein'),
    )
    .end();
}

function printChunk(chunk: CompactWriter, column: ColumnChunk): CompactWriter {
  return chunk.int64(2, column.dataAt).inner(3, (meta) => {
    meta
      .int32(1, column.type)
      .int32s(2, column.encodings)
      .texts(3, [column.name])
      .int32(4, 0)
      .int64(5, column.rows)
      .int64(6, column.bytes)
      .int64(7, column.bytes)
      .int64(9, column.dataAt);
    if (column.dictionaryAt !== null) meta.int64(11, column.dictionaryAt);
    return meta.inner(12, (statistics) => statistics.int64(3, 0).bytes(5, column.upper).bytes(6, column.lower));
  });
}

/** A page, which is not compressed, behind its header. */
function page(
  type: typeof DATA_PAGE | typeof DICTIONARY_PAGE,
  { values, encoding }: { readonly values: number; readonly encoding: number },
  content: Buffer,
): Buffer {
  const header = new CompactWriter()
    .struct((fields) => {
      fields.int32(1, type).int32(2, content.length).int32(3, content.length);
      return type === DATA_PAGE
        ? fields.inner(5, (data) => data.int32(1, values).int32(2, encoding).int32(3, RLE).int32(4, RLE))
        : fields.inner(7, (data) => data.int32(1, values).int32(2, encoding));
    })
    .end();
  return Buffer.concat([header, content]);
}

/** Entry 0 of the dictionary for every row: indexes of one bit, as one run. */
function repeatedIndex(rows: number): Buffer {
  const bytes = [1];
  let rest = rows * 2;
  for (; rest >= 128; rest = Math.floor(rest / 128)) bytes.push((rest % 128) | 128);
  return Buffer.from([...bytes, rest, 0]);
}

function lengthBefore(content: Buffer): Buffer {
  const length = Buffer.alloc(4);
  length.writeUInt32LE(content.length);
  return Buffer.concat([length, content]);
}

function int64(value: number): Buffer {
  const bytes = Buffer.alloc(8);
  bytes.writeBigInt64LE(BigInt(value));
  return bytes;
}
