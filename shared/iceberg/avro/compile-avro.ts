import type { Json, JsonObject } from '#shared/json.ts';
import { AvroCursor, corrupt } from './avro-cursor.ts';

/**
 * A reader of one Avro type, made from the schema in the file. Values: null, boolean, number (bigint for a long that a number cannot
 * hold), string, `Uint8Array` (bytes, fixed), an array, for an unwanted-in-detail record a `Map` by field id (else by name).
 */
export type AvroReader = {
  readonly read: (cursor: AvroCursor) => unknown;
  readonly skip: (cursor: AvroCursor) => void;
  /** Fewest bytes of a value. */
  readonly bytesMin: number;
  /** Steps to read one value, arrays counted as one turn: bounds what nested records may cost. */
  readonly steps: number;
  /** Of a record: its fields' readers, in order. */
  readonly fields?: readonly AvroReader[];
};

/** Which fields of a record to read, under which name; they are found by Iceberg field id, in files without ids by name. */
export type Wanted = { readonly [name: string]: WantedField };
type WantedField = {
  readonly id: number;
  /** `span`: an array of key and value records, kept as bytes for `AvroSpan.find`. `map`: a record as a `Map`. */
  readonly as?: 'span' | 'map';
  /** For a record, or an array of records: what is wanted of it. */
  readonly fields?: Wanted;
};

const STEPS_MAX = 5_000;
const DEPTH_MAX = 32;

/** @throws INVALID_TABLE_DATA when `schema` is not an Avro record, or one that no Iceberg file has (recursive, huge). */
export function compileAvroRecord(schema: Json, wanted: Wanted): AvroReader {
  const reader = new Compiler().compile(schema, { id: -1, fields: wanted }, 0);
  if (reader.bytesMin === 0) throw corrupt('records without content');
  return reader;
}

class Compiler {
  readonly #named = new Map<string, Json>();
  readonly #open = new Set<string>();

  compile(schema: Json | undefined, want: WantedField | null, depth: number): AvroReader {
    if (depth > DEPTH_MAX) throw corrupt('a schema is nested too deeply');
    if (typeof schema === 'string') {
      const primitive = PRIMITIVES[schema];
      if (primitive !== undefined) return primitive;
      return this.#compileNamed(schema, want, depth);
    }
    if (Array.isArray(schema)) return union((schema as readonly Json[]).map((one) => this.#branch(one, want, depth)));
    if (typeof schema !== 'object' || schema === null) throw corrupt('not a schema');
    return this.#compileObject(schema as JsonObject, want, depth);
  }

  #branch(schema: Json, want: WantedField | null, depth: number): AvroReader {
    return schema === 'null' ? NULL : this.compile(schema, want, depth + 1);
  }

  #compileNamed(name: string, want: WantedField | null, depth: number): AvroReader {
    const schema = this.#named.get(name);
    if (schema === undefined || this.#open.has(name)) throw corrupt(`unknown or recursive type ${name}`);
    return this.compile(schema, want, depth + 1);
  }

  #compileObject(schema: JsonObject, want: WantedField | null, depth: number): AvroReader {
    const type = schema['type'];
    if (type === 'array') return this.#array(schema, want, depth);
    if (type === 'map') return stringMap(this.compile(schema['values'], null, depth + 1));
    if (type !== 'record' && type !== 'fixed' && type !== 'enum') return this.compile(type, want, depth + 1);
    const name = nameOf(schema);
    const space = typeof schema['namespace'] === 'string' ? `${schema['namespace']}.` : '';
    this.#named.set(name, schema).set(space + name, schema);
    if (type === 'enum') return ENUM;
    if (type === 'fixed') return fixed(schema['size']);
    this.#open.add(name).add(space + name);
    const reader = this.#record(schema, want, depth);
    this.#open.delete(name);
    this.#open.delete(space + name);
    return reader;
  }

  #array(schema: JsonObject, want: WantedField | null, depth: number): AvroReader {
    const item = this.compile(schema['items'], want?.as === 'span' ? { id: want.id } : want, depth + 1);
    if (item.bytesMin === 0) throw corrupt('an array of nothing');
    return want?.as === 'span' ? span(item) : array(item);
  }

  #record(schema: JsonObject, want: WantedField | null, depth: number): AvroReader {
    if (!Array.isArray(schema['fields'])) throw corrupt('a record has no fields');
    const fields = (schema['fields'] as readonly JsonObject[]).map((field) => {
      const id = field['field-id'];
      const name = nameOf(field);
      const found = Object.entries(want?.fields ?? {}).find(([key, { id: wantedId }]) =>
        typeof id === 'number' ? id === wantedId : name === key,
      );
      const reader = this.compile(field['type'], found?.[1] ?? null, depth + 1);
      return { key: typeof id === 'number' ? id : name, target: found?.[0], reader };
    });
    const steps = fields.reduce((sum, field) => sum + field.reader.steps, 1);
    if (steps > STEPS_MAX) throw corrupt('a record has too many fields');
    const bytesMin = fields.reduce((sum, field) => sum + field.reader.bytesMin, 0);
    const skip = (cursor: AvroCursor): void => {
      for (const field of fields) field.reader.skip(cursor);
    };
    const read = want?.fields === undefined ? readMap(fields) : readObject(fields);
    return { read, skip, steps, bytesMin, fields: fields.map((field) => field.reader) };
  }
}

function nameOf(schema: JsonObject): string {
  if (typeof schema['name'] !== 'string') throw corrupt('a name is missing');
  return schema['name'];
}

type RecordField = { readonly key: number | string; readonly target: string | undefined; readonly reader: AvroReader };

const readMap = (fields: readonly RecordField[]) => (cursor: AvroCursor) => {
  const values = new Map<number | string, unknown>();
  for (const field of fields) values.set(field.key, field.reader.read(cursor));
  return values;
};

const readObject = (fields: readonly RecordField[]) => (cursor: AvroCursor) => {
  const values: Record<string, unknown> = {};
  for (const field of fields) {
    if (field.target === undefined) field.reader.skip(cursor);
    else values[field.target] = field.reader.read(cursor);
  }
  return values;
};

const plain = (read: (cursor: AvroCursor) => unknown, bytesMin = 1): AvroReader => ({
  read,
  skip: read,
  bytesMin,
  steps: 1,
});

const LONG: AvroReader = {
  read: (cursor) => cursor.readLong(),
  skip: (cursor) => cursor.skipLong(),
  bytesMin: 1,
  steps: 1,
};
const ENUM = LONG;
/** Stands in unions only. */
const NULL: AvroReader = plain(() => null, 0);
const skipBytes = (cursor: AvroCursor): void => cursor.skip(cursor.readLength());

const PRIMITIVES: Readonly<Record<string, AvroReader>> = {
  boolean: plain((cursor) => cursor.readByte() !== 0),
  int: LONG,
  long: LONG,
  float: plain((cursor) => cursor.readFloat(), 4),
  double: plain((cursor) => cursor.readDouble(), 8),
  bytes: { read: (cursor) => cursor.readBytes(cursor.readLength()), skip: skipBytes, bytesMin: 1, steps: 1 },
  string: { read: (cursor) => cursor.readString(cursor.readLength()), skip: skipBytes, bytesMin: 1, steps: 1 },
};

function fixed(size: Json | undefined): AvroReader {
  if (typeof size !== 'number' || !Number.isInteger(size) || size < 1) throw corrupt('a fixed type has no size');
  return { read: (cursor) => cursor.readBytes(size), skip: (cursor) => cursor.skip(size), bytesMin: size, steps: 1 };
}

function union(branches: readonly AvroReader[]): AvroReader {
  const pick = (cursor: AvroCursor): AvroReader => {
    const branch = branches[Number(cursor.readLong())];
    if (branch === undefined) throw corrupt('a union has no such branch');
    return branch;
  };
  return {
    read: (cursor) => pick(cursor).read(cursor),
    skip: (cursor) => pick(cursor).skip(cursor),
    bytesMin: 1,
    steps: 1 + branches.reduce((most, branch) => Math.max(most, branch.steps), 0),
  };
}

/** One turn per item. */
function forEachItem(cursor: AvroCursor, turn: (cursor: AvroCursor) => void): void {
  for (let count = cursor.readBlockCount(); count > 0; count = cursor.readBlockCount()) {
    for (let i = 0; i < count; i++) turn(cursor);
  }
}

const array = (item: AvroReader): AvroReader => ({
  read: (cursor) => {
    const items: unknown[] = [];
    forEachItem(cursor, (at) => items.push(item.read(at)));
    return items;
  },
  skip: (cursor) => forEachItem(cursor, item.skip),
  bytesMin: 1,
  steps: item.steps + 1,
});

/** A map with string keys: Iceberg's files have none that we read. */
function stringMap(value: AvroReader): AvroReader {
  const skip = (cursor: AvroCursor): void =>
    forEachItem(cursor, (at) => {
      skipBytes(at);
      value.skip(at);
    });
  return { read: skip, skip, bytesMin: 1, steps: value.steps + 2 };
}

/** Statistics are the bulk of a manifest: this loop is written out. */
function span(item: AvroReader): AvroReader {
  const [key, value, ...more] = item.fields ?? [];
  if (key === undefined || value === undefined || more.length > 0) throw corrupt('statistics are no pairs');
  const skip = (cursor: AvroCursor): void => {
    for (let count = cursor.readBlockCount(); count > 0; count = cursor.readBlockCount()) {
      for (let i = 0; i < count; i++) {
        key.skip(cursor);
        value.skip(cursor);
      }
    }
  };
  const read = (cursor: AvroCursor): AvroSpan => {
    const start = cursor.offset;
    skip(cursor);
    return new AvroSpan(cursor.bytes.subarray(start, cursor.offset), key, value);
  };
  return { read, skip, bytesMin: 1, steps: item.steps + 1 };
}

/** An array of (key, value) records that is decoded when it is asked: most statistics of most files never are. */
export class AvroSpan {
  readonly #bytes: Buffer;
  readonly #key: AvroReader;
  readonly #value: AvroReader;

  constructor(bytes: Buffer, key: AvroReader, value: AvroReader) {
    this.#bytes = bytes;
    this.#key = key;
    this.#value = value;
  }

  /** The value under an integer key; undefined when there is none. */
  find(wanted: number): unknown {
    const cursor = new AvroCursor(this.#bytes);
    for (let count = cursor.readBlockCount(); count > 0; count = cursor.readBlockCount()) {
      for (let i = 0; i < count; i++) {
        if (this.#key.read(cursor) === wanted) return this.#value.read(cursor);
        this.#value.skip(cursor);
      }
    }
    return undefined;
  }
}
