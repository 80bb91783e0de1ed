import { SkeinError } from '#shared/error.ts';
import { quoteIdentifier } from '#shared/sql/quote.ts';
import { NO_BYTES, type ArrowBuffer } from './arrow-buffer.ts';
import { bufferCount, layoutOf, type ArrowField, type Layout } from './arrow-schema.ts';
import { check } from './arrow-out.ts';
import { ARRAY_WORDS } from './column-builder.ts';
import { errorAt } from './error-at.ts';
import type { Connection } from './instance.ts';
import { duckdb, word, type Address } from './library.ts';
import { addressOf, noRelease } from './memory.ts';
import { VECTOR_ROWS } from './vector-memory.ts';

const LENGTH = 0;
const NULL_COUNT = 1;
const SCHEMA_WORDS = 9;
const NULLABLE = 2n;

/** A record batch in the layout of the Arrow IPC format: nodes and buffers depth first, each buffer 8-byte aligned. */
export type ArrowBatch = {
  readonly rows: number;
  readonly nodes: readonly { readonly length: number; readonly nullCount: number }[];
  readonly buffers: readonly ArrowBuffer[];
};

/** Rows as record batches. */
export type ArrowRows = {
  readonly fields: readonly ArrowField[];
  /** Values of the dictionary-encoded fields, in the order of their ids. */
  readonly dictionaries: readonly ArrowBatch[];
  readonly rows: number;
  /** May be iterated any number of times. */
  readonly batches: Iterable<ArrowBatch>;
};

/** Rows that a table function of `InputFunctions` returns. All calls come from DuckDB, and throw what its statement then fails with. */
export interface TableInput {
  /** Declares the columns and the number of rows. */
  bind(info: Address): void;
  /** Begins to read the columns of these indexes. */
  open(columns: readonly number[]): OpenInput;
}

/** Rows that are being read. */
export interface OpenInput {
  /** Makes a chunk refer to the next rows of the columns asked for; it has no rows at the end. */
  read(output: Address): void;
}

/**
 * Passes record batches to DuckDB. Their memory must outlive the statements that read them, unless they are loaded into a table, which
 * copies them one by one.
 */
export class ArrowInput implements TableInput, Disposable {
  readonly rows: number;
  readonly #from: ArrowRows;
  readonly #connection: Connection;
  readonly #schema = word();
  /** Keeps alive the schema memory that native code points to. */
  readonly #kept: SchemaWriter;

  constructor(connection: Connection, from: ArrowRows) {
    if (from.fields.some((field) => field.children.some(hasDictionary))) {
      // DuckDB 1.5.5 corrupts its heap when it imports a dictionary below a list.
      throw new SkeinError('NOT_SUPPORTED', 'an ENUM inside of another value cannot be sent to a worker');
    }
    this.#connection = connection;
    this.#from = from;
    this.rows = from.rows;
    const schema = new SchemaWriter();
    const nothing = { name: '', metadata: [], dictionary: null };
    const root = schema.write({ ...nothing, format: '+s', nullable: false, children: from.fields });
    check(duckdb.schema_from_arrow(connection.address, root, this.#schema));
    this.#kept = schema;
  }

  /** Loads all rows into a temporary table, and yields between pieces of the work. The caller must run it to its end. */
  *fillTable(name: string, types: readonly string[]): Generator<void> {
    const quoted = quoteIdentifier(name);
    const list = types.map((type, i) => `${quoteIdentifier(this.#from.fields[i]?.name ?? '')} ${type}`);
    this.#connection.run(`CREATE OR REPLACE TEMP TABLE ${quoted} (${list.join(', ')})`);
    const appender = word();
    if (duckdb.appender_create(this.#connection.address, null, name, appender) !== 0) {
      this.#failAppender(appender);
    }
    try {
      for (const chunk of this.chunks()) {
        const failed = duckdb.append_data_chunk(appender[0] ?? 0n, chunk) !== 0;
        duckdb.destroy_data_chunk(word(chunk));
        if (failed) this.#failAppender(appender);
        yield;
      }
      if (duckdb.appender_flush(appender[0] ?? 0n) !== 0) this.#failAppender(appender);
    } finally {
      duckdb.appender_destroy(appender);
    }
  }

  #failAppender(appender: BigUint64Array): never {
    throw errorAt(duckdb.appender_error(appender[0] ?? 0n));
  }

  /** Declares the exact number of rows. */
  bind(info: Address): void {
    const { fields, dictionaries } = this.#from;
    const empty = new NativeBatch(fields, emptyBatch(fields), dictionaries);
    const chunk = empty.chunk(this.#connection, this.#schema[0] ?? 0n, 0, 0);
    fields.forEach(({ name }, i) => {
      const type = word(duckdb.vector_get_column_type(duckdb.data_chunk_get_vector(chunk, i)));
      duckdb.bind_add_result_column(info, name, type[0] ?? 0n);
      duckdb.destroy_logical_type(type);
    });
    duckdb.destroy_data_chunk(word(chunk));
    duckdb.bind_set_cardinality(info, this.rows, true);
  }

  open(columns: readonly number[]): OpenInput {
    const chunks = this.chunks();
    return { read: (output) => refer(output, chunks.next().value, columns) };
  }

  /** Yields all rows in chunks, which the caller destroys. */
  *chunks(): Generator<Address> {
    const { fields, dictionaries, batches } = this.#from;
    for (const batch of batches) {
      const native = new NativeBatch(fields, batch, dictionaries);
      for (let start = 0; start < batch.rows; start += VECTOR_ROWS) {
        const rows = Math.min(VECTOR_ROWS, batch.rows - start);
        yield native.chunk(this.#connection, this.#schema[0] ?? 0n, start, rows);
      }
    }
  }

  [Symbol.dispose](): void {
    duckdb.destroy_arrow_converted_schema(this.#schema);
    this.#kept.clear();
  }
}

/** Makes `output` refer to these columns of a chunk, which is destroyed; without a chunk it has no rows. */
function refer(output: Address, chunk: Address | undefined, columns: readonly number[]): void {
  if (chunk === undefined) {
    duckdb.data_chunk_set_size(output, 0);
    return;
  }
  columns.forEach((column, i) => {
    const source = duckdb.data_chunk_get_vector(chunk, column);
    duckdb.vector_reference_vector(duckdb.data_chunk_get_vector(output, i), source);
  });
  duckdb.data_chunk_set_size(output, Number(duckdb.data_chunk_get_size(chunk)));
  // The referencing vectors keep the chunk's data alive.
  duckdb.destroy_data_chunk(word(chunk));
}

const hasDictionary = (field: ArrowField): boolean => field.dictionary !== null || field.children.some(hasDictionary);

/** Builds a batch without rows: a node for every field, and the buffers of its layout. */
function emptyBatch(fields: readonly ArrowField[]): ArrowBatch {
  const nodes: { length: number; nullCount: number }[] = [];
  const buffers: ArrowBuffer[] = [];
  const visit = (field: ArrowField): void => {
    nodes.push({ length: 0, nullCount: 0 });
    for (let i = bufferCount(field); i > 0; i--) buffers.push(NO_BYTES);
    field.children.forEach(visit);
  };
  fields.forEach(visit);
  return { rows: 0, nodes, buffers };
}

/** An `ArrowArray` structure in JavaScript memory. */
type NativeArray = {
  readonly words: BigUint64Array<ArrayBuffer>;
  /** The buffer pointers of the structure; rewritten for every slice. */
  readonly pointers: BigUint64Array<ArrayBuffer>;
  /** Addresses of the whole batch's buffers. */
  readonly starts: readonly Address[];
  readonly layout: Layout;
  readonly children: readonly NativeArray[];
};

/** One batch as structures of the Arrow C data interface. */
class NativeBatch {
  readonly rows: number;
  readonly #columns: readonly NativeArray[];
  readonly #root: BigUint64Array<ArrayBuffer>;
  /** Keeps alive objects that native code refers to by address only. */
  readonly #kept: unknown[] = [];

  constructor(fields: readonly ArrowField[], batch: ArrowBatch, dictionaries: readonly ArrowBatch[]) {
    this.rows = batch.rows;
    let dictionary = 0;
    const write = (field: ArrowField, from: ArrowBatch, cursor: { node: number; buffer: number }): NativeArray => {
      const { length = 0, nullCount = 0 } = from.nodes[cursor.node++] ?? {};
      const buffers = Array.from({ length: bufferCount(field) }, () => from.buffers[cursor.buffer++] ?? NO_BYTES);
      const values = field.dictionary === null ? undefined : dictionaries[dictionary++];
      const children = field.children.map((child) => write(child, from, cursor));
      const array = this.#array(layoutOf(field), { length, nullCount, buffers, children });
      if (field.dictionary !== null && values !== undefined) {
        array.words[7] = addressOf(write(field.dictionary, values, { node: 0, buffer: 0 }).words);
      }
      return array;
    };
    const cursor = { node: 0, buffer: 0 };
    this.#columns = fields.map((field) => write(field, batch, cursor));
    const root = { length: batch.rows, nullCount: 0, buffers: [NO_BYTES], children: this.#columns };
    this.#root = this.#array({ kind: 'struct' }, root).words;
  }

  /** A chunk over rows of the batch, which the caller destroys. `start` is a multiple of 8. */
  chunk(connection: Connection, schema: Address, start: number, rows: number): Address {
    for (const column of this.#columns) slice(column, start, rows);
    this.#root[LENGTH] = BigInt(rows);
    // DuckDB takes over the structure and clears its `release` member, so it is set for every chunk.
    this.#root[8] = noRelease();
    const chunk = word();
    check(duckdb.data_chunk_from_arrow(connection.address, this.#root, schema, chunk));
    return chunk[0] ?? 0n;
  }

  #array(
    layout: Layout,
    parts: {
      readonly length: number;
      readonly nullCount: number;
      readonly buffers: readonly ArrowBuffer[];
      readonly children: readonly NativeArray[];
    },
  ): NativeArray {
    // An absent validity buffer is a null pointer; any other buffer needs an address even when empty.
    const starts = parts.buffers.map(({ address, bytes }, i) => {
      if (bytes > 0) return address;
      return i === 0 ? 0n : NO_BYTES.address;
    });
    const pointers = BigUint64Array.from(starts);
    const list = BigUint64Array.from(parts.children, (child) => addressOf(child.words));
    const words = new BigUint64Array(ARRAY_WORDS);
    words[LENGTH] = BigInt(parts.length);
    words[NULL_COUNT] = BigInt(parts.nullCount);
    words[3] = BigInt(pointers.length);
    words[4] = BigInt(list.length);
    words[5] = pointers.length === 0 ? 0n : addressOf(pointers);
    words[6] = list.length === 0 ? 0n : addressOf(list);
    words[8] = noRelease();
    this.#kept.push(list, words, parts.buffers);
    return { words, pointers, starts, layout, children: parts.children };
  }
}

/**
 * Restricts the array to `rows` elements from `start` on, by moving its pointers. (The structure's `offset` serves this purpose, but DuckDB
 * 1.5.5 ignores it in structs of structs and in unions.) The elements of lists are not moved: list offsets count from their beginning.
 */
function slice(array: NativeArray, start: number, rows: number): void {
  const { words, pointers, starts, layout, children } = array;
  words[LENGTH] = BigInt(rows);
  starts.forEach((address, i) => {
    pointers[i] = address === 0n ? 0n : address + BigInt(bytesBefore(layout, i, start));
  });
  if (layout.kind === 'struct' || layout.kind === 'union') for (const child of children) slice(child, start, rows);
  if (layout.kind === 'fixedList') for (const child of children) slice(child, start * layout.size, rows * layout.size);
}

/** Byte offset of an element in the buffer. */
function bytesBefore(layout: Layout, buffer: number, element: number): number {
  if (layout.kind === 'union') return element;
  if (buffer === 0 || layout.kind === 'bits') return element / 8;
  if (layout.kind === 'fixed') return element * layout.bytes;
  return buffer === 1 && (layout.kind === 'bytes' || layout.kind === 'list') ? element * layout.offsetBytes : 0;
}

/** Writes `ArrowSchema` structures, and keeps their memory alive as long as it lives itself. */
class SchemaWriter {
  readonly #kept: unknown[] = [];

  write(field: ArrowField): BigUint64Array<ArrayBuffer> {
    const children = BigUint64Array.from(field.children, (child) => addressOf(this.write(child)));
    const words = new BigUint64Array(SCHEMA_WORDS);
    words[0] = this.#keep(Buffer.from(`${field.format}\0`));
    words[1] = this.#keep(Buffer.from(`${field.name}\0`));
    words[2] = field.metadata.length === 0 ? 0n : this.#keep(encodeMetadata(field.metadata));
    words[3] = field.nullable ? NULLABLE : 0n;
    words[4] = BigInt(children.length);
    words[5] = children.length === 0 ? 0n : this.#keep(children);
    words[6] = field.dictionary === null ? 0n : addressOf(this.write(field.dictionary));
    words[7] = noRelease();
    this.#kept.push(words);
    return words;
  }

  clear(): void {
    this.#kept.length = 0;
  }

  #keep(bytes: Uint8Array | BigUint64Array): Address {
    this.#kept.push(bytes);
    return addressOf(bytes);
  }
}

function encodeMetadata(metadata: ArrowField['metadata']): Buffer {
  const int32 = (value: number): Buffer => {
    const bytes = Buffer.alloc(4);
    bytes.writeInt32LE(value);
    return bytes;
  };
  const text = (value: string): Buffer[] => [int32(Buffer.byteLength(value)), Buffer.from(value)];
  return Buffer.concat([int32(metadata.length), ...metadata.flatMap(([key, value]) => [...text(key), ...text(value)])]);
}
