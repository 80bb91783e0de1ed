import {
  BufferRegion,
  DictionaryBatch,
  type BodyCompression,
  FieldNode,
  Message,
  RecordBatch,
} from 'apache-arrow/ipc/metadata/message';
import type { ArrowBuffer } from './arrow-buffer.ts';
import { arrowSchema, type ArrowField } from './arrow-schema.ts';
import { ARRAY_WORDS, ColumnBuilder, type BatchParts } from './column-builder.ts';
import { errorAt } from './error-at.ts';
import { duckdb, word, type Address, type ResultWords } from './library.ts';
import { addressOf, callRelease, readBytes, readText, readWords } from './memory.ts';

/** Rows and bytes at which a batch is closed: small batches waste headers, large ones cost the reader memory. */
const BATCH_ROWS = 65_536;
export const BATCH_BYTES = 2 << 20;

/** `ArrowSchema` of the C data interface, in words. */
const SCHEMA_WORDS = 9;
const NULLABLE = 2n;

/** One message of an Arrow IPC stream: the flatbuffer of its metadata, and the buffers of its body, each to be padded to 64 bytes. */
export type ArrowMessage = {
  readonly kind: 'schema' | 'dictionary' | 'batch';
  readonly rows: number;
  readonly header: Uint8Array;
  readonly buffers: readonly ArrowBuffer[];
  readonly bodyBytes: number;
};

/** Alignment of every buffer in a body, as the Arrow format recommends. */
const BODY_ALIGNMENT = 64;
export const paddedBytes = (bytes: number): number => (bytes + BODY_ALIGNMENT - 1) & -BODY_ALIGNMENT;

/** Arrow fields of a result's columns, and the native options with which DuckDB writes them, which live until disposal. */
export class ArrowForm implements Disposable {
  readonly fields: readonly ArrowField[];
  readonly #options: BigUint64Array<ArrayBuffer>;

  /** `options` are destroyed with the form. */
  constructor(result: ResultWords, options: BigUint64Array<ArrayBuffer>) {
    this.#options = options;
    this.fields = resultFields(this.options, result);
  }

  /**
   * The form in which workers exchange rows, with every value as DuckDB has it. `withoutViews` returns options with which DuckDB writes no
   * binary views. Results with such columns need them, because DuckDB's setting for a newer Arrow format enables small decimals and views
   * together.
   */
  static exact(result: ResultWords, withoutViews: () => BigUint64Array<ArrayBuffer>): ArrowForm {
    const form = new ArrowForm(result, word(duckdb.result_get_arrow_options(result)));
    if (!form.fields.some(isView)) return form;
    form[Symbol.dispose]();
    return new ArrowForm(result, withoutViews());
  }

  get options(): Address {
    return this.#options[0] ?? 0n;
  }

  [Symbol.dispose](): void {
    duckdb.destroy_arrow_options(this.#options);
  }
}

/** Whether a field or one of its descendants has the layout of Utf8View or BinaryView. */
const isView = ({ format, children, dictionary }: ArrowField): boolean =>
  format === 'vu' || format === 'vz' || children.some(isView) || (dictionary !== null && isView(dictionary));

/** The schema message of an IPC stream. */
export function schemaMessage(fields: readonly ArrowField[]): ArrowMessage {
  const header = Message.encode(Message.from(arrowSchema(fields)));
  return { kind: 'schema', rows: 0, header, buffers: [], bodyBytes: 0 };
}

/**
 * Converts chunks to Arrow record batches. It emits messages in the order of an IPC stream: dictionaries, then batches (`schemaMessage`
 * comes first). A message's buffers stay valid until the next call.
 */
export class ArrowWriter implements Disposable {
  readonly #options: Address;
  readonly #columns: readonly ColumnBuilder[];
  readonly #batchBytes: number;
  #rows = 0;
  #dictionariesSent = false;

  /** `options` belong to an `ArrowForm`, which must outlive the writer. */
  constructor(options: Address, fields: readonly ArrowField[], batchBytes = BATCH_BYTES) {
    this.#options = options;
    this.#columns = fields.map((field) => new ColumnBuilder(field));
    this.#batchBytes = batchBytes;
  }

  /** Copies the rows of a chunk, which still belongs to the caller. */
  append(chunk: Address): void {
    const array = new BigUint64Array(ARRAY_WORDS);
    check(duckdb.data_chunk_to_arrow(this.#options, chunk, array));
    try {
      const children = new BigUint64Array(this.#columns.length);
      readWords(children, array[6] ?? 0n, children.length);
      this.#columns.forEach((column, i) => column.append(children[i] ?? 0n));
      this.#rows += Number(array[0]);
    } finally {
      callRelease(array[8] ?? 0n, addressOf(array));
    }
  }

  /** Whether the batch is full, so that `flush` should be called before the next `append`. */
  get full(): boolean {
    if (this.#rows >= BATCH_ROWS) return true;
    let bytes = 0;
    for (const column of this.#columns) bytes += column.sizeBytes();
    return bytes >= this.#batchBytes;
  }

  /** Sends the collected rows as one batch, preceded by the dictionaries the first time; sends nothing when there are none. */
  flush(send: (message: ArrowMessage) => void): void {
    if (this.#rows === 0) return;
    if (!this.#dictionariesSent) {
      this.#columns
        .flatMap((column) => column.dictionaries())
        .forEach((dictionary, id) => send(batchMessage([dictionary], dictionary.length, id)));
      this.#dictionariesSent = true;
    }
    send(batchMessage(this.#columns, this.#rows));
    for (const column of this.#columns) column.clear();
    this.#rows = 0;
  }

  [Symbol.dispose](): void {
    for (const column of this.#columns) column[Symbol.dispose]();
  }
}

function batchMessage(columns: readonly ColumnBuilder[], rows: number, dictionaryId?: number): ArrowMessage {
  const parts: BatchParts = { nodes: [], buffers: [] };
  for (const column of columns) column.collect(parts);
  const nodes = parts.nodes.map((node) => new FieldNode(node.length, node.nullCount));
  return dataMessage({ rows, nodes, buffers: parts.buffers, compression: null }, dictionaryId);
}

/** Builds the message of a record batch or, with an id, of a dictionary's values. */
export function dataMessage(
  parts: {
    readonly rows: number;
    readonly nodes: FieldNode[];
    readonly buffers: readonly ArrowBuffer[];
    readonly compression: BodyCompression | null;
  },
  dictionaryId?: number,
): ArrowMessage {
  const { rows, nodes, buffers, compression } = parts;
  let bodyBytes = 0;
  const regions = buffers.map(({ bytes }) => {
    const region = new BufferRegion(bodyBytes, bytes);
    bodyBytes += paddedBytes(bytes);
    return region;
  });
  const batch = new RecordBatch(rows, nodes, regions, compression);
  const header = dictionaryId === undefined ? batch : new DictionaryBatch(batch, dictionaryId);
  const kind = dictionaryId === undefined ? 'batch' : 'dictionary';
  return { kind, rows, header: Message.encode(Message.from(header, bodyBytes)), buffers, bodyBytes };
}

function resultFields(options: Address, result: ResultWords): ArrowField[] {
  const count = Number(duckdb.column_count(result));
  const types = BigUint64Array.from({ length: count }, (_, i) => duckdb.column_logical_type(result, i));
  // `texts` keeps the names alive until the call has returned.
  const texts = Array.from({ length: count }, (_, i) => Buffer.from(`${duckdb.column_name(result, i)}\0`));
  const names = BigUint64Array.from(texts, addressOf);
  const schema = new BigUint64Array(SCHEMA_WORDS);
  try {
    check(duckdb.to_arrow_schema(options, types, names, count, schema));
    return readField(addressOf(schema)).children.slice();
  } finally {
    for (const type of types) duckdb.destroy_logical_type(word(type));
    callRelease(schema[7] ?? 0n, addressOf(schema));
  }
}

function readField(address: Address): ArrowField {
  const words = new BigUint64Array(SCHEMA_WORDS);
  readWords(words, address, SCHEMA_WORDS);
  const [format = 0n, name = 0n, metadata = 0n, flags = 0n, count = 0n, list = 0n, dictionary = 0n] = words;
  const children = new BigUint64Array(Number(count));
  readWords(children, list, children.length);
  return {
    name: readText(name),
    format: readText(format),
    nullable: (flags & NULLABLE) !== 0n,
    metadata: readMetadata(metadata),
    children: Array.from(children, readField),
    dictionary: dictionary === 0n ? null : readField(dictionary),
  };
}

/** Metadata of the C data interface: a count, then keys and values, each with its length before it; all lengths int32. */
function readMetadata(address: Address): (readonly [string, string])[] {
  if (address === 0n) return [];
  let position = address;
  const length = (): number => {
    const value = new Int32Array(readBytes(position, 4).buffer)[0] ?? 0;
    position += 4n;
    return value;
  };
  const text = (): string => {
    const bytes = length();
    const value = Buffer.from(readBytes(position, bytes)).toString();
    position += BigInt(bytes);
    return value;
  };
  return Array.from({ length: length() }, () => [text(), text()] as const);
}

/** Throws the error of an Arrow call, if it has one, and destroys it. */
export function check(error: Address | null): void {
  if (error === null || error === 0n) return;
  const failure = duckdb.error_data_has_error(error) ? errorAt(duckdb.error_data_message(error)) : null;
  duckdb.destroy_error_data(word(error));
  if (failure !== null) throw failure;
}
