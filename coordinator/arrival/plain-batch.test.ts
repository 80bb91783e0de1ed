import {
  Binary,
  Dictionary,
  Field,
  FixedSizeList,
  List,
  makeVector,
  Null,
  Int32,
  Int8,
  makeData,
  RecordBatch,
  RecordBatchReader,
  Schema,
  Struct,
  tableToIPC,
  Table,
  TimestampNanosecond,
  Utf8,
  vectorFromArray,
  type Data,
  type DataType,
  type Vector,
} from 'apache-arrow';
import { Message } from 'apache-arrow/ipc/metadata/message';
import { describe, expect, test } from 'vitest';
import { must } from '#shared/must.ts';
import { arrivedType, plainField } from './arrived-type.ts';
import { plainBatch } from './plain-batch.ts';

/** A batch of one column, as it came. */
function batchOf(data: Data): RecordBatch {
  const schema = new Schema([new Field('x', data.type, true)]);
  return new RecordBatch(schema, makeData({ type: new Struct(schema.fields), length: data.length, children: [data] }));
}

/** The plain rows as the Arrow library reads them. */
function read(batch: RecordBatch, from: number, count: number): readonly unknown[] {
  const fields = batch.schema.fields.map((field) => plainField(field.name, arrivedType(field, 'microseconds')));
  const { header, body } = must(
    plainBatch({ batch, from, count, bytesMax: 2 ** 20, precise: 'microseconds' }),
    'few bytes',
  );
  const framed = (bytes: Uint8Array): Buffer => {
    const padding = Buffer.alloc(-bytes.length & 7);
    const prefix = Buffer.alloc(8, 0xff);
    prefix.writeInt32LE(bytes.length + padding.length, 4);
    return Buffer.concat([prefix, bytes, padding]);
  };
  const stream = Buffer.concat([framed(Message.encode(Message.from(new Schema(fields)))), framed(header), ...body]);
  const [plain] = [...RecordBatchReader.from(new Uint8Array(stream))];
  return [...must(plain, 'one batch')].map((row) => JSON.parse(JSON.stringify(row)) as unknown);
}

/** Batches of a stream of the library, as a client sends it. */
function sent(vector: Vector): RecordBatch {
  const [batch] = [...RecordBatchReader.from(tableToIPC(new Table({ x: vector }), 'stream'))];
  return must(batch, 'a batch');
}

describe('rows of a batch are those that were sent', () => {
  const texts = [null, 'a', '', 'ünï', null, 'x', 'y', 'z', 'eight', null, 'ten'];
  test.each<[string, Vector, readonly unknown[]]>([
    ['texts', vectorFromArray(texts, new Utf8()), texts],
    ['keys of a dictionary', vectorFromArray(texts, new Dictionary(new Utf8(), new Int8())), texts],
    [
      'numbers',
      vectorFromArray([1, null, 3, 4, 5, 6, 7, 8, 9, null], new Int32()),
      [1, null, 3, 4, 5, 6, 7, 8, 9, null],
    ],
  ])('%s', (_what, vector, values) => {
    const batch = sent(vector);
    expect(read(batch, 0, values.length)).toEqual(values.map((x) => ({ x })));
    expect(read(batch, 8, values.length - 8)).toEqual(values.slice(8).map((x) => ({ x })));
  });
});

describe('nanoseconds', () => {
  const at = (values: readonly bigint[], zone?: string): RecordBatch =>
    batchOf(
      makeData({
        type: new TimestampNanosecond(zone),
        length: values.length,
        nullCount: 1,
        nullBitmap: Uint8Array.of(0b101),
        data: BigInt64Array.from(values),
      }),
    );
  const rows = { from: 0, count: 3, bytesMax: 2 ** 20 };

  test('become microseconds where these hold the value; a value that is NULL does not count', () => {
    // The Arrow library shows timestamps in milliseconds.
    expect(read(at([-2_000n, 1n, 5_000_000n]), 0, 3)).toEqual([{ x: -0.002 }, { x: null }, { x: 5 }]);
  });

  test('are refused where they do not: without a zone unless they are kept', () => {
    const tooFine = expect.objectContaining({ code: 'NUMERIC_OVERFLOW' }) as Error;
    const few = [1_000n, 1n, 1_001n];
    expect(() => plainBatch({ ...rows, batch: at(few), precise: 'microseconds' })).toThrow(tooFine);
    expect(() => plainBatch({ ...rows, batch: at(few, 'UTC'), precise: 'nanoseconds' })).toThrow(tooFine);
    expect(() => plainBatch({ ...rows, batch: at(few), precise: 'nanoseconds' })).not.toThrow();
  });
});

describe('what a reader would take for granted is refused', () => {
  const utf8 = (offsets: readonly number[], bytes: Uint8Array, type: DataType = new Utf8()): Data =>
    makeData({ type: type as Utf8, length: offsets.length - 1, valueOffsets: Int32Array.from(offsets), data: bytes });
  const ab = Buffer.from('ab');
  test.each<[string, Data]>([
    ['an offset beyond the bytes', utf8([0, 3], ab)],
    ['an offset below zero', utf8([-1, 1], ab)],
    ['offsets that decrease', utf8([2, 1, 2], ab)],
    ['bytes that are no UTF-8', utf8([0, 2], Buffer.from([0xff, 0xfe]))],
    ['a text that ends within a character', utf8([0, 1, 2], Buffer.from('ü'))],
    ['too few numbers', makeData({ type: new Int32(), length: 3, data: Int32Array.of(1, 2) })],
    [
      'a key that the dictionary has not',
      makeData({
        type: new Dictionary(new Utf8(), new Int8()),
        length: 1,
        data: Int8Array.of(5),
        dictionary: vectorFromArray(['a'], new Utf8()),
      }),
    ],
    [
      'too few bits of NULL',
      makeData({ type: new Int8(), length: 20, nullCount: 1, nullBitmap: new Uint8Array(1), data: new Int8Array(20) }),
    ],
  ])('%s', (_what, data) => {
    expect(() =>
      plainBatch({ batch: batchOf(data), from: 0, count: data.length, bytesMax: 2 ** 20, precise: 'microseconds' }),
    ).toThrow(expect.objectContaining({ code: 'INVALID_REQUEST' }) as Error);
  });

  test('bytes need be no UTF-8', () => {
    const data = utf8([0, 2], Buffer.from([0xff, 0xfe]), new Binary());
    expect(() =>
      plainBatch({ batch: batchOf(data), from: 0, count: 1, bytesMax: 2 ** 20, precise: 'microseconds' }),
    ).not.toThrow();
  });
});

describe('few bytes that stand for many are not written out', () => {
  const text = vectorFromArray(['x'.repeat(1_000)], new Utf8());
  const count = 100_000;
  const offsets = Int32Array.from({ length: count + 1 }, (_, i) => i);
  const items = (type: DataType): Field => new Field('item', type, true);
  test.each<[string, Data]>([
    [
      'a text of a dictionary',
      makeData({
        type: new Dictionary(new Utf8(), new Int8()),
        length: count,
        data: new Int8Array(count),
        dictionary: text,
      }),
    ],
    [
      'lists without elements in memory',
      makeData({
        type: new FixedSizeList(2 ** 30, items(new Null())),
        length: 2,
        child: makeData({ type: new Null(), length: 2 ** 31 }),
      }),
    ],
    [
      'keys of a dictionary of lists',
      makeData({
        type: new Dictionary(new List(items(new Null())), new Int8()),
        length: count,
        data: new Int8Array(count),
        dictionary: makeVector(
          makeData({
            type: new List(items(new Null())),
            length: 1,
            valueOffsets: Int32Array.of(0, 2 ** 31 - 1),
            child: makeData({ type: new Null(), length: 2 ** 31 }),
          }),
        ),
      }),
    ],
    [
      'lists of nothing',
      makeData({
        type: new List(items(new Null())),
        length: count,
        valueOffsets: offsets.map((i) => i * 20_000),
        child: makeData({ type: new Null(), length: 2 ** 31 }),
      }),
    ],
  ])('%s', (_what, data) => {
    expect(
      plainBatch({ batch: batchOf(data), from: 0, count: data.length, bytesMax: 2 ** 20, precise: 'microseconds' }),
    ).toBeUndefined();
  });
});
