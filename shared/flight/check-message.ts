import { SkeinError } from '#shared/error.ts';

/** Limit of nesting of fields: far more than a statement's result may have. */
const DEPTH_MAX = 512;

const INT32 = 4;
const WORD = 8;
/** `FieldNode` and `Buffer` of Message.fbs: two int64 each. */
const STRUCT = 16;

/** Numbers of the union `MessageHeader`. */
const SCHEMA = 1;
const DICTIONARY_BATCH = 2;
const RECORD_BATCH = 3;
/** Numbers of the union `Type` whose tables refer to something. */
const TYPE_TIMESTAMP = 10;
const TYPE_UNION = 14;

/** The error for a peer's message that violates the format. */
export const brokenMessage = (what: string): SkeinError =>
  new SkeinError('INTERNAL_ERROR', `a message between workers is broken: ${what}`);

/**
 * Validates the metadata of an Arrow message (Message.fbs) before the Arrow library reads it, because the library trusts every count and
 * offset. No byte may belong to two parts (except for table layouts, which flatbuffers share), so the decoded form is never larger than
 * `header`, and no part contains itself.
 * @throws INTERNAL_ERROR
 */
export function checkMessage(header: Uint8Array): void {
  const message = new Flatbuffer(header).root();
  const kind = message.byte(1);
  const content = message.table(2);
  if (content === undefined) throw brokenMessage('it has no content');
  if (kind === SCHEMA) checkSchema(content);
  else if (kind === RECORD_BATCH) checkBatch(content);
  else if (kind === DICTIONARY_BATCH) {
    const batch = content.table(1);
    if (batch === undefined) throw brokenMessage('a dictionary has no values');
    checkBatch(batch);
  } else throw brokenMessage('its kind is unknown');
  checkMetadata(message, 4);
}

/**
 * The first column of a schema of whose types the Arrow library knows one not; undefined when it knows all, or the message has no schema.
 * @throws INTERNAL_ERROR as `checkMessage`
 */
export function unknownColumn(header: Uint8Array): string | undefined {
  const message = new Flatbuffer(header).root();
  const content = message.table(2);
  if (message.byte(1) !== SCHEMA || content === undefined) return undefined;
  const isKnown = (field: Table): boolean =>
    !UNKNOWN_TYPES.has(field.byte(2)) && [...field.tables(5)].every((child) => isKnown(child));
  for (const field of content.tables(1)) if (!isKnown(field)) return field.string(0);
  return undefined;
}

/** RunEndEncoded, ListView and LargeListView. */
const UNKNOWN_TYPES: ReadonlySet<number> = new Set([22, 25, 26]);

function checkSchema(schema: Table): void {
  for (const field of schema.tables(1)) checkField(field, 0);
  checkMetadata(schema, 2);
  schema.vector(3, WORD);
}

function checkField(field: Table, depth: number): void {
  if (depth > DEPTH_MAX) throw brokenMessage(`a field has more than ${DEPTH_MAX} levels`);
  field.vector(0, 1);
  const kind = field.byte(2);
  const type = field.table(3);
  if (type === undefined) throw brokenMessage('a field has no type');
  if (kind === TYPE_TIMESTAMP) type.vector(1, 1);
  if (kind === TYPE_UNION) type.vector(1, INT32);
  field.table(4)?.table(1);
  for (const child of field.tables(5)) checkField(child, depth + 1);
  checkMetadata(field, 6);
}

function checkBatch(batch: Table): void {
  batch.vector(1, STRUCT);
  batch.vector(2, STRUCT);
  batch.table(3);
  batch.vector(4, WORD);
}

function checkMetadata(table: Table, index: number): void {
  for (const pair of table.tables(index)) {
    pair.text(0);
    pair.text(1);
  }
}

/** The bytes of a message, with a count of those that no part has claimed yet. */
class Flatbuffer {
  readonly #bytes: DataView;
  #left: number;

  constructor(bytes: Uint8Array) {
    this.#bytes = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
    this.#left = bytes.length;
  }

  root(): Table {
    return new Table(this, this.target(0));
  }

  /** Claims the bytes of a part. */
  take(at: number, bytes: number): void {
    this.#left -= bytes;
    if (this.#left < 0 || at < 0 || at + bytes > this.#bytes.byteLength) throw brokenMessage('a part is out of place');
  }

  /** Resolves the offset stored at `at`. Offsets are signed, as in the library. */
  target(at: number): number {
    return at + this.int32(at);
  }

  byte(at: number): number {
    return this.#inside(at, 1).getUint8(at);
  }

  uint16(at: number): number {
    return this.#inside(at, 2).getUint16(at, true);
  }

  int32(at: number): number {
    return this.#inside(at, INT32).getInt32(at, true);
  }

  text(at: number, bytes: number): string {
    const { buffer, byteOffset } = this.#inside(at, bytes);
    return Buffer.from(buffer, byteOffset + at, bytes).toString();
  }

  #inside(at: number, bytes: number): DataView {
    if (at < 0 || at + bytes > this.#bytes.byteLength) throw brokenMessage('an offset leads out of it');
    return this.#bytes;
  }
}

/** A table of a flatbuffer; the parts that it refers to are claimed on access. */
class Table {
  readonly #buffer: Flatbuffer;
  readonly #at: number;
  readonly #layout: number;
  readonly #layoutBytes: number;
  readonly #bytes: number;

  constructor(buffer: Flatbuffer, at: number) {
    this.#buffer = buffer;
    this.#at = at;
    this.#layout = at - buffer.int32(at);
    this.#layoutBytes = (buffer.uint16(this.#layout) << 16) >> 16;
    this.#bytes = buffer.uint16(this.#layout + 2);
    buffer.take(at, this.#bytes);
  }

  byte(index: number): number {
    const at = this.#field(index);
    return at === undefined ? 0 : this.#buffer.byte(at);
  }

  table(index: number): Table | undefined {
    const at = this.#field(index);
    return at === undefined ? undefined : new Table(this.#buffer, this.#buffer.target(at));
  }

  /** Claims a vector of numbers, structs or (for a string) characters. @returns position and number of its elements */
  vector(index: number, elementBytes: number): { readonly at: number; readonly count: number } {
    const field = this.#field(index);
    if (field === undefined) return { at: 0, count: 0 };
    const start = this.#buffer.target(field);
    const count = this.#buffer.int32(start);
    if (count < 0) throw brokenMessage('a list has a length below zero');
    this.#buffer.take(start, INT32 + count * elementBytes);
    return { at: start + INT32, count };
  }

  string(index: number): string {
    const { at, count } = this.vector(index, 1);
    return this.#buffer.text(at, count);
  }

  /** Claims a required string. */
  text(index: number): void {
    if (this.#field(index) === undefined) throw brokenMessage('a pair has no key or no value');
    this.vector(index, 1);
  }

  *tables(index: number): Generator<Table> {
    const { at, count } = this.vector(index, INT32);
    for (let i = 0; i < count; i++) yield new Table(this.#buffer, this.#buffer.target(at + i * INT32));
  }

  /** Position of a field's value in the table; undefined when the field is absent. */
  #field(index: number): number | undefined {
    const entry = 4 + 2 * index;
    // Decides as the library does, also for a layout length that is odd, or that the library reads as negative.
    if (entry >= this.#layoutBytes) return undefined;
    const offset = this.#buffer.uint16(this.#layout + entry);
    if (offset === 0) return undefined;
    if (offset >= this.#bytes) throw brokenMessage('a field is out of place');
    return this.#at + offset;
  }
}
