import { duckdb, word, type Address } from './library.ts';
import { readBytes } from './memory.ts';

/** Rows of a full vector. */
export const VECTOR_ROWS = 2_048;

/** Numbers of `duckdb_type` with a meaning here. */
const DECIMAL = 19;
const LIST = 24;
const STRUCT = 25;
const MAP = 26;
/** VARCHAR, BLOB, BIT. */
const TEXTS: ReadonlySet<number> = new Set([17, 18, 29]);
/** Bytes of a value: of whole numbers with a sign, dates and times among them, which are in the unit of the table's type; and of others. */
const WHOLE_BYTES = new Map<number, number>([
  ...([
    [2, 1],
    [3, 2],
    [4, 4],
    [5, 8],
  ] as const), // TINYINT to BIGINT
  ...([
    [12, 8],
    [13, 4],
    [22, 8],
    [31, 8],
  ] as const), // TIMESTAMP, DATE, TIMESTAMP_NS, TIMESTAMP WITH TIME ZONE
]);
const OTHER_BYTES = new Map<number, number>([
  ...([
    [1, 1],
    [6, 1],
    [7, 2],
    [8, 4],
    [9, 8],
    [16, 16],
    [32, 16],
  ] as const), // BOOLEAN, UTINYINT to UBIGINT, HUGEINT, UHUGEINT
  ...([
    [10, 4],
    [11, 8],
    [14, 8],
    [15, 16],
    [27, 16],
    [39, 8],
  ] as const), // FLOAT, DOUBLE, TIME, INTERVAL, UUID, TIME_NS
]);
/** The place of a text or list in its vector. A text up to `INLINE_BYTES` stands there; a longer one in a heap, which grows by doubling. */
const PLACE_BYTES = 16;
const INLINE_BYTES = 12;
const HEAP_FACTOR = 2;
const HEAP_BYTES_MIN = 4_096;
/** Memory of a vector beside its values. */
const OWN_BYTES = 256;
/** DuckDB's allocator adds a page to blocks from this size on. */
const LARGE_BYTES = 16_384;
const PAGE_BYTES = 4_096;

/** Memory of a flat vector that owns its values, in bytes, of which `rows` of `capacity` are there; infinite for a type that is not known here. */
export function vectorBytes(vector: Address, rows: number, capacity: number): number {
  const bytes = valueBytes(vector, rows, capacity);
  return OWN_BYTES + capacity / 8 + bytes;
}

function valueBytes(vector: Address, rows: number, capacity: number): number {
  const type = word(duckdb.vector_get_column_type(vector));
  try {
    const handle = type[0] ?? 0n;
    const id = physicalId(handle);
    if (TEXTS.has(id)) return blockBytes(capacity * PLACE_BYTES) + heapBytes(vector, rows);
    if (id === LIST || id === MAP) {
      const size = Number(duckdb.list_vector_get_size(vector));
      const child = vectorBytes(duckdb.list_vector_get_child(vector), size, Math.max(capacity, 2 * size));
      return blockBytes(capacity * PLACE_BYTES) + child;
    }
    if (id !== STRUCT)
      return blockBytes(capacity * (WHOLE_BYTES.get(id) ?? OTHER_BYTES.get(id) ?? Number.POSITIVE_INFINITY));
    let bytes = 0;
    for (let i = Number(duckdb.struct_type_child_count(handle)) - 1; i >= 0; i--)
      bytes += vectorBytes(duckdb.struct_vector_get_child(vector, i), rows, capacity);
    return bytes;
  } finally {
    duckdb.destroy_logical_type(type);
  }
}

const blockBytes = (bytes: number): number => (bytes < LARGE_BYTES ? bytes : bytes + PAGE_BYTES);

function heapBytes(vector: Address, rows: number): number {
  const places = Buffer.from(readBytes(duckdb.vector_get_data(vector), rows * PLACE_BYTES).buffer);
  const isValid = validity(vector, rows);
  let long = 0;
  for (let row = 0; row < rows; row++) {
    const bytes = isValid(row) ? places.readUInt32LE(row * PLACE_BYTES) : 0;
    if (bytes > INLINE_BYTES) long += bytes;
  }
  return long === 0 ? 0 : long * HEAP_FACTOR + HEAP_BYTES_MIN;
}

/** Tells of each row of a flat vector whether it has a value. */
function validity(vector: Address, rows: number): (row: number) => boolean {
  const mask = duckdb.vector_get_validity(vector);
  if (mask === null || mask === 0n) return () => true;
  const bits = readBytes(mask, (rows + 7) >> 3);
  return (row) => (((bits[row >> 3] ?? 0) >> (row & 7)) & 1) === 1;
}

/** Whether a flat vector has a NULL. */
export function hasNull(vector: Address, rows: number): boolean {
  const isValid = validity(vector, rows);
  for (let row = 0; row < rows; row++) if (!isValid(row)) return true;
  return false;
}

export type WholeNumbers = Int8Array | Int16Array | Int32Array | BigInt64Array;

/**
 * The values of a flat vector if they are whole numbers, in the unit of the table's type; what stands below a NULL has no meaning. Undefined for
 * other types.
 */
export function readWholeNumbers(vector: Address, rows: number): WholeNumbers | undefined {
  const type = word(duckdb.vector_get_column_type(vector));
  const bytes = WHOLE_BYTES.get(physicalId(type[0] ?? 0n));
  duckdb.destroy_logical_type(type);
  if (bytes === undefined) return undefined;
  const { buffer } = readBytes(duckdb.vector_get_data(vector), rows * bytes);
  if (bytes === 1) return new Int8Array(buffer);
  if (bytes === 2) return new Int16Array(buffer);
  return bytes === 4 ? new Int32Array(buffer) : new BigInt64Array(buffer);
}

/** The number of a type; of a decimal that of the integer it is kept as. */
function physicalId(type: Address): number {
  const id = duckdb.get_type_id(type);
  return id === DECIMAL ? duckdb.decimal_internal_type(type) : id;
}
