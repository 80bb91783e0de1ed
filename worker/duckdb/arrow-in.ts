import { SkeinError } from '#shared/error.ts';
import { duckDbError } from '#shared/duckdb-error.ts';
import { quoteIdentifier } from '#shared/sql/quote.ts';
import { layoutOf, type ArrowField, type Layout } from './arrow-schema.ts';
import { check } from './arrow-out.ts';
import { ARRAY_WORDS } from './column-builder.ts';
import type { Connection } from './instance.ts';
import { duckdb, word, type Address } from './library.ts';
import { addressOf, noRelease, registerCallback } from './memory.ts';

/** Rows of one chunk that DuckDB takes. */
const CHUNK_ROWS = 2_048;

const LENGTH = 0;
const NULL_COUNT = 1;
const SCHEMA_WORDS = 9;
const NULLABLE = 2n;

/** A record batch as the Arrow IPC format has it: nodes and buffers depth first. The buffers start at multiples of 8 bytes. */
export type ArrowBatch = {
  readonly rows: number;
  readonly nodes: readonly { readonly length: number; readonly nullCount: number }[];
  readonly buffers: readonly Uint8Array[];
};

/**
 * Record batches as an input of DuckDB. The C structures and the batches' memory live as long as this object: it must outlive every
 * statement that reads them.
 */
export class ArrowInput implements Disposable {
  readonly rows: number;
  readonly #fields: readonly ArrowField[];
  readonly #connection: Connection;
  readonly #schema = word();
  readonly #batches: readonly NativeBatch[];
  /** Whatever native code points to. */
  readonly #kept: unknown[] = [];
  readonly #callbacks: { release(): void }[] = [];

  /** `dictionaries` are the values of the dictionary-encoded fields, in the order of their ids. */
  constructor(
    connection: Connection,
    fields: readonly ArrowField[],
    batches: readonly ArrowBatch[],
    dictionaries: readonly ArrowBatch[] = [],
  ) {
    if (fields.some((field) => field.children.some(hasDictionary))) {
      // DuckDB 1.5.5 corrupts its heap when it takes in a dictionary below a list.
      throw new SkeinError('NOT_SUPPORTED', 'an ENUM inside of another value cannot be sent to a worker');
    }
    this.#connection = connection;
    this.#fields = fields;
    this.rows = batches.reduce((sum, batch) => sum + batch.rows, 0);
    const schema = new SchemaWriter();
    const root = schema.write({
      name: '',
      format: '+s',
      nullable: false,
      metadata: [],
      children: fields,
      dictionary: null,
    });
    this.#kept.push(schema);
    check(duckdb.schema_from_arrow(connection.address, root, this.#schema));
    this.#batches = batches.map((batch) => new NativeBatch(fields, batch, dictionaries));
  }

  /** Makes a temporary table of all rows. */
  createTable(name: string, columns: readonly string[]): void {
    const quoted = quoteIdentifier(name);
    const list = columns.map((type, i) => `${quoteIdentifier(this.#fields[i]?.name ?? '')} ${type}`);
    this.#connection.run(`CREATE OR REPLACE TEMP TABLE ${quoted} (${list.join(', ')})`);
    const appender = word();
    if (duckdb.appender_create(this.#connection.address, null, name, appender) !== 0) {
      this.#failAppender(appender);
    }
    try {
      for (const chunk of this.#chunks()) {
        const failed = duckdb.append_data_chunk(appender[0] ?? 0n, chunk) !== 0;
        duckdb.destroy_data_chunk(word(chunk));
        if (failed) this.#failAppender(appender);
      }
      if (duckdb.appender_flush(appender[0] ?? 0n) !== 0) this.#failAppender(appender);
    } finally {
      duckdb.appender_destroy(appender);
    }
  }

  #failAppender(appender: BigUint64Array): never {
    throw duckDbError(duckdb.appender_error(appender[0] ?? 0n) ?? '');
  }

  /**
   * Registers a table function of this name that gives the rows without copying them: its chunks refer to the batches' memory. DuckDB
   * learns the exact number of rows. It calls back in this thread, so the instance must have one thread. The name must be new in the
   * instance, which keeps it for good: after `dispose` no statement may name it.
   */
  register(name: string): void {
    const fn = word(duckdb.create_table_function());
    const handle = fn[0] ?? 0n;
    // What DuckDB keeps as a scan's state is a number of ours, not an address.
    const scans = new Map<Address, Scan>();
    let scanCount = 0n;
    duckdb.table_function_set_name(handle, name);
    duckdb.table_function_set_bind(
      handle,
      this.#callback(1, (info) => this.#bind(info)),
    );
    duckdb.table_function_set_init(
      handle,
      this.#callback(1, (info) => {
        const columns = Array.from({ length: Number(duckdb.init_get_column_count(info)) }, (_, i) =>
          Number(duckdb.init_get_column_index(info, i)),
        );
        scans.set(++scanCount, { chunks: this.#chunks(), columns });
        duckdb.init_set_init_data(info, scanCount, null);
        duckdb.init_set_max_threads(info, 1);
      }),
    );
    duckdb.table_function_set_function(
      handle,
      this.#callback(2, (info, output) => {
        try {
          const scan = duckdb.function_get_init_data(info);
          if (!nextChunk(scans.get(scan), output)) scans.delete(scan);
        } catch (error) {
          duckdb.function_set_error(info, SkeinError.of(error).message);
        }
      }),
    );
    duckdb.table_function_supports_projection_pushdown(handle, true);
    const failed = duckdb.register_table_function(this.#connection.address, handle) !== 0;
    duckdb.destroy_table_function(fn);
    if (failed) throw new SkeinError('INTERNAL_ERROR', `the input ${name} cannot be registered`);
  }

  /** An exception must not leave a callback. */
  #callback(parameters: 1 | 2, callback: (first: Address, second: Address) => void): Address {
    const registered = registerCallback(callback, parameters);
    this.#callbacks.push(registered);
    return registered.address;
  }

  #bind(info: Address): void {
    try {
      const [probe] = this.#batches;
      const chunk =
        probe === undefined ? this.#emptyChunk() : probe.chunk(this.#connection, this.#schema[0] ?? 0n, 0, 0);
      this.#fields.forEach(({ name }, i) => {
        const type = word(duckdb.vector_get_column_type(duckdb.data_chunk_get_vector(chunk, i)));
        duckdb.bind_add_result_column(info, name, type[0] ?? 0n);
        duckdb.destroy_logical_type(type);
      });
      duckdb.destroy_data_chunk(word(chunk));
      duckdb.bind_set_cardinality(info, this.rows, true);
    } catch (error) {
      duckdb.bind_set_error(info, SkeinError.of(error).message);
    }
  }

  #emptyChunk(): Address {
    const empty = new NativeBatch(this.#fields, emptyBatch(this.#fields), []);
    this.#kept.push(empty);
    return empty.chunk(this.#connection, this.#schema[0] ?? 0n, 0, 0);
  }

  *#chunks(): Generator<Address> {
    for (const batch of this.#batches) {
      for (let start = 0; start < batch.rows; start += CHUNK_ROWS) {
        const rows = Math.min(CHUNK_ROWS, batch.rows - start);
        yield batch.chunk(this.#connection, this.#schema[0] ?? 0n, start, rows);
      }
    }
  }

  [Symbol.dispose](): void {
    duckdb.destroy_arrow_converted_schema(this.#schema);
    for (const callback of this.#callbacks) callback.release();
    this.#callbacks.length = 0;
  }
}

const hasDictionary = (field: ArrowField): boolean => field.dictionary !== null || field.children.some(hasDictionary);

type Scan = { readonly chunks: Iterator<Address>; readonly columns: readonly number[] };

/** Fills `output` with references to the next rows; false at the end. */
function nextChunk(scan: Scan | undefined, output: Address): boolean {
  const next = scan?.chunks.next();
  if (scan === undefined || next === undefined || next.done === true) {
    duckdb.data_chunk_set_size(output, 0);
    return false;
  }
  const chunk: Address = next.value;
  scan.columns.forEach((column, i) => {
    const source = duckdb.data_chunk_get_vector(chunk, column);
    duckdb.vector_reference_vector(duckdb.data_chunk_get_vector(output, i), source);
  });
  duckdb.data_chunk_set_size(output, Number(duckdb.data_chunk_get_size(chunk)));
  // The references keep what they refer to.
  duckdb.destroy_data_chunk(word(chunk));
  return true;
}

/** No rows: every field has a node, and the buffers that its layout asks for. */
function emptyBatch(fields: readonly ArrowField[]): ArrowBatch {
  const nodes: { length: number; nullCount: number }[] = [];
  const buffers: Uint8Array[] = [];
  const visit = (field: ArrowField): void => {
    nodes.push({ length: 0, nullCount: 0 });
    for (let i = bufferCount(field); i > 0; i--) buffers.push(new Uint8Array(8));
    field.children.forEach(visit);
  };
  fields.forEach(visit);
  return { rows: 0, nodes, buffers };
}

function bufferCount(field: ArrowField): number {
  const { kind } = layoutOf(field);
  if (kind === 'null') return 0;
  if (kind === 'struct' || kind === 'fixedList' || kind === 'union') return 1;
  return kind === 'bytes' ? 3 : 2;
}

/** An `ArrowArray` in memory of JavaScript's. */
type NativeArray = {
  readonly words: BigUint64Array<ArrayBuffer>;
  /** What `words` points to as the buffers; rewritten for every slice. */
  readonly pointers: BigUint64Array<ArrayBuffer>;
  /** Where the buffers of the whole batch begin. */
  readonly starts: readonly Address[];
  readonly layout: Layout;
  readonly children: readonly NativeArray[];
};

/** One batch as C structures. */
class NativeBatch {
  readonly rows: number;
  readonly #columns: readonly NativeArray[];
  readonly #root: BigUint64Array<ArrayBuffer>;
  /** Whatever only an address refers to. */
  readonly #kept: unknown[] = [];

  constructor(fields: readonly ArrowField[], batch: ArrowBatch, dictionaries: readonly ArrowBatch[]) {
    this.rows = batch.rows;
    let dictionary = 0;
    const write = (field: ArrowField, from: ArrowBatch, cursor: { node: number; buffer: number }): NativeArray => {
      const { length = 0, nullCount = 0 } = from.nodes[cursor.node++] ?? {};
      const buffers = Array.from(
        { length: bufferCount(field) },
        () => from.buffers[cursor.buffer++] ?? new Uint8Array(),
      );
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
    const root = { length: batch.rows, nullCount: 0, buffers: [new Uint8Array()], children: this.#columns };
    this.#root = this.#array({ kind: 'struct' }, root).words;
  }

  /** A chunk over rows of the batch, which the caller destroys. `start` is a multiple of 8. */
  chunk(connection: Connection, schema: Address, start: number, rows: number): Address {
    for (const column of this.#columns) slice(column, start, rows);
    this.#root[LENGTH] = BigInt(rows);
    // DuckDB takes the structure over and clears this.
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
      readonly buffers: readonly Uint8Array[];
      readonly children: readonly NativeArray[];
    },
  ): NativeArray {
    // An absent validity buffer is a null pointer; any other needs an address, also when it is empty.
    const starts = parts.buffers.map((bytes, i) =>
      i === 0 && bytes.length === 0 ? 0n : addressOf(bytes.length === 0 ? NOTHING : bytes),
    );
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
 * Makes the array one of `rows` elements from `start` on, by moving its pointers. (The `offset` of the structure is for this, but DuckDB
 * 1.5.5 forgets it in structs of structs and in unions.) Elements of lists stay where they are: offsets count from their beginning.
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

/** Bytes of the buffer that lie before an element. */
function bytesBefore(layout: Layout, buffer: number, element: number): number {
  if (layout.kind === 'union') return element;
  if (buffer === 0 || layout.kind === 'bits') return element / 8;
  if (layout.kind === 'fixed') return element * layout.bytes;
  return buffer === 1 && (layout.kind === 'bytes' || layout.kind === 'list') ? element * layout.offsetBytes : 0;
}

const NOTHING = new Uint8Array(64);

/** Writes `ArrowSchema` structures; what it wrote lives as long as it does. */
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
