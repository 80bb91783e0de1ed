import type { Json, JsonObject } from '#shared/json.ts';
import { isObject } from '../type.ts';
import { tooComplex } from '../decode-limits.ts';
import { AvroCursor, corrupt } from './avro-cursor.ts';

/**
 * A reader of one Avro type, made from the schema in the file. Values: null, boolean, number (bigint for a long that a number cannot
 * hold), string, `Uint8Array` (bytes, fixed), an array, for an unwanted-in-detail record a `Map` by field id (else by name).
 */
export type AvroReader = {
  readonly read: (cursor: AvroCursor) => unknown;
  readonly skip: (cursor: AvroCursor) => void;
  /** Minimum number of bytes of a value. */
  readonly bytesMin: number;
  /** Steps to read one value, whatever branches its unions take; an array counts as one item, and its other items where they are read. */
  readonly steps: number;
  /** Nesting depth of the readers, this one included: reading recurses. */
  readonly depth: number;
  /** The readers of a record's fields, in order. */
  readonly fields?: readonly AvroReader[];
};

/** Which fields of a record to read, under which name; they are found by Iceberg field id, in files without ids by name. */
export type Wanted = { readonly [name: string]: WantedField };
type WantedField = {
  readonly id: number;
  /** `span`: an array of key and value records, kept as bytes for `AvroSpan.find`. `map`: a record as a `Map`. */
  readonly as?: 'span' | 'map';
  /** The wanted fields of a record, or of an array's records. */
  readonly fields?: Wanted;
};

/** Maximum steps of one record. */
const STEPS_MAX = 5_000;
const DEPTH_MAX = 32;
/** Maximum number of types of one schema; each reference to a named type counts. */
const TYPES_MAX = 20_000;

/** @throws INVALID_TABLE_DATA when `schema` is not an Avro record, or a recursive one; TABLE_DATA_TOO_COMPLEX when it is a huge one. */
export function compileAvroRecord(schema: Json, wanted: Wanted): AvroReader {
  const type = typeof schema === 'object' && schema !== null ? (schema as JsonObject)['type'] : undefined;
  if (type !== 'record') throw corrupt('the schema is not a record');
  const reader = new Compiler().compile(schema, { id: -1, fields: wanted }, 0);
  if (reader.bytesMin === 0) throw corrupt('records without content');
  return reader;
}

/** A named type and its readers: one for each way in which it is wanted. */
type NamedType = { readonly schema: JsonObject; readonly readers: Map<WantedField | null, AvroReader> };

class Compiler {
  readonly #named = new Map<string, NamedType>();
  readonly #open = new Set<NamedType>();
  #types = 0;

  compile(schema: Json | undefined, want: WantedField | null, depth: number): AvroReader {
    if (depth > DEPTH_MAX) throw tooComplex('Avro: a schema is nested too deeply');
    if (++this.#types > TYPES_MAX) throw tooComplex(`Avro: a schema has more than ${TYPES_MAX} types`);
    const reader = this.#compile(schema, want, depth);
    // A chain of named types is deep although none of them is written inside of another.
    if (reader.depth > DEPTH_MAX) throw tooComplex('Avro: a schema is nested too deeply');
    if (reader.steps > STEPS_MAX) throw tooComplex(`Avro: a record takes more than ${STEPS_MAX} steps`);
    return reader;
  }

  #compile(schema: Json | undefined, want: WantedField | null, depth: number): AvroReader {
    if (typeof schema === 'string') return PRIMITIVES.get(schema) ?? this.#reference(schema, want, depth);
    if (Array.isArray(schema)) return union((schema as readonly Json[]).map((one) => this.#branch(one, want, depth)));
    if (typeof schema !== 'object' || schema === null) throw corrupt('not a schema');
    return this.#compileObject(schema as JsonObject, want, depth);
  }

  #branch(schema: Json, want: WantedField | null, depth: number): AvroReader {
    return schema === 'null' ? NULL : this.compile(schema, want, depth + 1);
  }

  #reference(name: string, want: WantedField | null, depth: number): AvroReader {
    const named = this.#named.get(name);
    if (named === undefined) throw corrupt(`unknown type ${JSON.stringify(name.slice(0, 100))}`);
    return this.#compileNamed(named, want, depth);
  }

  #compileObject(schema: JsonObject, want: WantedField | null, depth: number): AvroReader {
    const type = schema['type'];
    if (type === 'array') return this.#array(schema, want, depth);
    if (type === 'map') return stringMap(this.compile(schema['values'], null, depth + 1));
    if (type !== 'record' && type !== 'fixed' && type !== 'enum') return this.compile(type, want, depth + 1);
    const name = nameOf(schema);
    const space = typeof schema['namespace'] === 'string' ? `${schema['namespace']}.` : '';
    const named: NamedType = { schema, readers: new Map() };
    this.#named.set(name, named).set(space + name, named);
    return this.#compileNamed(named, want, depth);
  }

  /** Compiles a named type once for each way in which it is wanted, however often the schema refers to it. */
  #compileNamed(named: NamedType, want: WantedField | null, depth: number): AvroReader {
    const found = named.readers.get(want);
    if (found !== undefined) return found;
    if (this.#open.has(named)) throw corrupt(`a recursive type ${nameOf(named.schema).slice(0, 100)}`);
    this.#open.add(named);
    const { schema } = named;
    const { type } = schema;
    const reader =
      type === 'enum' ? ENUM : type === 'fixed' ? fixed(schema['size']) : this.#record(schema, want, depth);
    this.#open.delete(named);
    named.readers.set(want, reader);
    return reader;
  }

  #array(schema: JsonObject, want: WantedField | null, depth: number): AvroReader {
    const item = this.compile(schema['items'], want?.as === 'span' ? WANTED_PAIR : want, depth + 1);
    if (item.bytesMin === 0) throw corrupt('an array of nothing');
    return want?.as === 'span' ? span(item) : array(item);
  }

  #record(schema: JsonObject, want: WantedField | null, depth: number): AvroReader {
    if (!Array.isArray(schema['fields'])) throw corrupt('a record has no fields');
    const wanted = Object.entries(want?.fields ?? {});
    const fields = (schema['fields'] as readonly Json[]).map((field) => {
      if (!isObject(field)) throw corrupt('a field is not an object');
      const id = field['field-id'];
      const name = nameOf(field);
      const found = wanted.find(([key, { id: wantedId }]) => (typeof id === 'number' ? id === wantedId : name === key));
      const reader = this.compile(field['type'], found?.[1] ?? null, depth + 1);
      return { key: typeof id === 'number' ? id : name, target: found?.[0], reader };
    });
    const readers = fields.map((field) => field.reader);
    const skip = (cursor: AvroCursor): void => {
      for (const reader of readers) reader.skip(cursor);
    };
    const read = want?.fields === undefined ? readMap(fields) : readObject(fields);
    return { read, skip, fields: readers, bytesMin: sum(readers, 'bytesMin'), ...around(readers) };
  }
}

/** The pairs of a span are decoded on look-up; none of their fields is wanted by name. */
const WANTED_PAIR: WantedField = { id: -1 };

const sum = (readers: readonly AvroReader[], what: 'steps' | 'bytesMin'): number =>
  readers.reduce((total, reader) => total + reader[what], 0);

/** Returns the steps and depth of a reader that reads all or some of these parts. */
const around = (parts: readonly AvroReader[]): Pick<AvroReader, 'steps' | 'depth'> => ({
  steps: 1 + sum(parts, 'steps'),
  depth: 1 + parts.reduce((deepest, part) => Math.max(deepest, part.depth), 0),
});

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

const LEAF = { steps: 1, depth: 1 } as const;

const plain = (read: (cursor: AvroCursor) => unknown, bytesMin = 1): AvroReader => ({
  read,
  skip: read,
  bytesMin,
  ...LEAF,
});

const LONG: AvroReader = {
  read: (cursor) => cursor.readLong(),
  skip: (cursor) => cursor.skipLong(),
  bytesMin: 1,
  ...LEAF,
};
const ENUM = LONG;
/** The null type occurs in unions only. */
const NULL: AvroReader = plain(() => null, 0);
const skipBytes = (cursor: AvroCursor): void => cursor.skip(cursor.readLength());

const PRIMITIVES: ReadonlyMap<string, AvroReader> = new Map([
  ['boolean', plain((cursor) => cursor.readByte() !== 0)],
  ['int', LONG],
  ['long', LONG],
  ['float', plain((cursor) => cursor.readFloat(), 4)],
  ['double', plain((cursor) => cursor.readDouble(), 8)],
  ['bytes', { read: (cursor) => cursor.readBytes(cursor.readLength()), skip: skipBytes, bytesMin: 1, ...LEAF }],
  ['string', { read: (cursor) => cursor.readString(cursor.readLength()), skip: skipBytes, bytesMin: 1, ...LEAF }],
]);

function fixed(size: Json | undefined): AvroReader {
  if (typeof size !== 'number' || !Number.isInteger(size) || size < 1) throw corrupt('a fixed type has no size');
  return { read: (cursor) => cursor.readBytes(size), skip: (cursor) => cursor.skip(size), bytesMin: size, ...LEAF };
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
    ...around(branches),
  };
}

/** Calls `turn` for each item; each item costs `steps`. */
function forEachItem(cursor: AvroCursor, steps: number, turn: (cursor: AvroCursor) => void): void {
  for (let count = cursor.readBlockCount(); count > 0; count = cursor.readBlockCount()) {
    cursor.steps.spend(count * steps);
    for (let i = 0; i < count; i++) turn(cursor);
  }
}

const array = (item: AvroReader): AvroReader => ({
  read: (cursor) => {
    const items: unknown[] = [];
    forEachItem(cursor, item.steps, (at) => items.push(item.read(at)));
    return items;
  },
  skip: (cursor) => forEachItem(cursor, item.steps, item.skip),
  bytesMin: 1,
  ...around([item]),
});

/** Reads a map with string keys; no Iceberg field that we read has one. */
function stringMap(value: AvroReader): AvroReader {
  const skip = (cursor: AvroCursor): void =>
    forEachItem(cursor, 1 + value.steps, (at) => {
      skipBytes(at);
      value.skip(at);
    });
  return { read: skip, skip, bytesMin: 1, ...around([value]) };
}

/** Keeps an array as a span. Statistics are the bulk of a manifest, so the loop is written out for speed. */
function span(item: AvroReader): AvroReader {
  const [key, value, ...more] = item.fields ?? [];
  if (key === undefined || value === undefined || more.length > 0) throw corrupt('statistics are no pairs');
  const skip = (cursor: AvroCursor): void => {
    for (let count = cursor.readBlockCount(); count > 0; count = cursor.readBlockCount()) {
      cursor.steps.spend(count * item.steps);
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
  return { read, skip, bytesMin: 1, ...around([item]) };
}

/** An array of (key, value) records that is decoded on look-up: most statistics of most files are never read. */
export class AvroSpan {
  readonly #bytes: Buffer;
  readonly #key: AvroReader;
  readonly #value: AvroReader;

  constructor(bytes: Buffer, key: AvroReader, value: AvroReader) {
    this.#bytes = bytes;
    this.#key = key;
    this.#value = value;
  }

  /** Maximum steps of a key look-up; a pair nearly always has four bytes or more. */
  get steps(): number {
    return this.#bytes.length / 4;
  }

  /** Yields all pairs. */
  *pairs(): Generator<readonly [unknown, unknown]> {
    const cursor = new AvroCursor(this.#bytes);
    for (let count = cursor.readBlockCount(); count > 0; count = cursor.readBlockCount()) {
      for (let i = 0; i < count; i++) yield [this.#key.read(cursor), this.#value.read(cursor)];
    }
  }

  /** Returns the value of an integer key; undefined when there is none. */
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
