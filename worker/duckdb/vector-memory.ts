import { duckdb, word, type Address } from './library.ts';
import { readBytes } from './memory.ts';

/** Rows of a full vector. */
export const VECTOR_ROWS = 2_048;

/** Numbers of `duckdb_type` with a meaning here. */
const VARCHAR = 17;
const BLOB = 18;
const DECIMAL = 19;
const LIST = 24;
const STRUCT = 25;
const MAP = 26;

/** Types of a fixed size. `isWhole`: signed whole numbers, dates and times among them, in the unit of the table's type. */
const FIXED: ReadonlyMap<number, { readonly name: string; readonly bytes: number; readonly isWhole?: true }> = new Map([
  [1, { name: 'BOOLEAN', bytes: 1 }],
  [2, { name: 'TINYINT', bytes: 1, isWhole: true }],
  [3, { name: 'SMALLINT', bytes: 2, isWhole: true }],
  [4, { name: 'INTEGER', bytes: 4, isWhole: true }],
  [5, { name: 'BIGINT', bytes: 8, isWhole: true }],
  [6, { name: 'UTINYINT', bytes: 1 }],
  [7, { name: 'USMALLINT', bytes: 2 }],
  [8, { name: 'UINTEGER', bytes: 4 }],
  [9, { name: 'UBIGINT', bytes: 8 }],
  [10, { name: 'FLOAT', bytes: 4 }],
  [11, { name: 'DOUBLE', bytes: 8 }],
  [12, { name: 'TIMESTAMP', bytes: 8, isWhole: true }],
  [13, { name: 'DATE', bytes: 4, isWhole: true }],
  [14, { name: 'TIME', bytes: 8 }],
  [15, { name: 'INTERVAL', bytes: 16 }],
  [16, { name: 'HUGEINT', bytes: 16 }],
  [22, { name: 'TIMESTAMP_NS', bytes: 8, isWhole: true }],
  [27, { name: 'UUID', bytes: 16 }],
  [31, { name: 'TIMESTAMP WITH TIME ZONE', bytes: 8, isWhole: true }],
  [32, { name: 'UHUGEINT', bytes: 16 }],
  [39, { name: 'TIME_NS', bytes: 8 }],
]);
/** The place of a text or list in its vector. A text up to `INLINE_BYTES` stands there; a longer one in a heap, which grows by doubling. */
const PLACE_BYTES = 16;
export const INLINE_BYTES = 12;
const HEAP_FACTOR = 2;
const HEAP_BYTES_MIN = 4_096;
/** Memory of a vector beside its values, and of its mask of NULLs, which has a bit for each row of a full vector at least. */
const OWN_BYTES = 256;
const maskBytes = (capacity: number): number => Math.ceil(Math.max(capacity, VECTOR_ROWS) / 8);
/** DuckDB's allocator adds a page to blocks from this size on. */
const LARGE_BYTES = 16_384;
const PAGE_BYTES = 4_096;

/**
 * Memory of a flat vector that owns its values, in whole bytes, of which `rows` of `capacity` are there; infinite for a type that is not known
 * here.
 */
export function vectorBytes(vector: Address, rows: number, capacity: number): number {
  const type = word(duckdb.vector_get_column_type(vector));
  try {
    return OWN_BYTES + maskBytes(capacity) + valueBytes(vector, type[0] ?? 0n, { rows, capacity });
  } finally {
    duckdb.destroy_logical_type(type);
  }
}

type Filled = { readonly rows: number; readonly capacity: number };

function valueBytes(vector: Address, type: Address, { rows, capacity }: Filled): number {
  const id = physicalId(type);
  if (id === VARCHAR || id === BLOB) return blockBytes(capacity * PLACE_BYTES) + heapBytes(vector, rows);
  if (id === LIST || id === MAP) {
    const size = Number(duckdb.list_vector_get_size(vector));
    const child = vectorBytes(duckdb.list_vector_get_child(vector), size, Math.max(capacity, 2 * size));
    return blockBytes(capacity * PLACE_BYTES) + child;
  }
  if (id !== STRUCT) return blockBytes(capacity * (FIXED.get(id)?.bytes ?? Number.POSITIVE_INFINITY));
  let bytes = 0;
  for (let i = Number(duckdb.struct_type_child_count(type)) - 1; i >= 0; i--)
    bytes += vectorBytes(duckdb.struct_vector_get_child(vector, i), rows, capacity);
  return bytes;
}

const blockBytes = (bytes: number): number => (bytes < LARGE_BYTES ? bytes : bytes + PAGE_BYTES);

function heapBytes(vector: Address, rows: number): number {
  const places = Buffer.from(readBytes(duckdb.vector_get_data(vector), rows * PLACE_BYTES).buffer);
  const valid = validBits(vector, rows);
  let long = 0;
  for (let row = 0; row < rows; row++) {
    if (valid !== undefined && !isSet(valid, row)) continue;
    const bytes = places.readUInt32LE(row * PLACE_BYTES);
    if (bytes > INLINE_BYTES) long += bytes;
  }
  return long === 0 ? 0 : long * HEAP_FACTOR + HEAP_BYTES_MIN;
}

/** The mask of a flat vector: a bit for each row, 0 for a NULL; undefined when no row is NULL. */
function validBits(vector: Address, rows: number): Uint8Array | undefined {
  const mask = duckdb.vector_get_validity(vector);
  return mask === null || mask === 0n ? undefined : readBytes(mask, (rows + 7) >> 3);
}

const isSet = (bits: Uint8Array, row: number): boolean => (((bits[row >> 3] ?? 0) >> (row & 7)) & 1) === 1;

/** Whether a flat vector has a NULL. */
export function hasNull(vector: Address, rows: number): boolean {
  const valid = validBits(vector, rows);
  if (valid === undefined) return false;
  for (let row = 0; row < rows; row++) if (!isSet(valid, row)) return true;
  return false;
}

export type WholeNumbers = Int8Array | Int16Array | Int32Array | BigInt64Array;

/**
 * The values of a flat vector if they are whole numbers, in the unit of the table's type; what stands below a NULL has no meaning. Undefined for
 * other types.
 */
export function readWholeNumbers(vector: Address, rows: number): WholeNumbers | undefined {
  const type = word(duckdb.vector_get_column_type(vector));
  const { bytes, isWhole } = FIXED.get(physicalId(type[0] ?? 0n)) ?? { bytes: 0 };
  duckdb.destroy_logical_type(type);
  if (isWhole !== true) return undefined;
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
