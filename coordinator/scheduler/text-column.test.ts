import { LargeUtf8, RecordBatchStreamWriter, Table, Utf8, vectorFromArray, MessageReader } from 'apache-arrow';
import { expect, test } from 'vitest';
import { decodeFlightData, encodeTicket } from './flight-data.ts';
import { TextColumnReader } from './text-column.ts';

const texts = [',[1,"ä"]', ',[2]', ',["", "日本"]'];

/** The messages of an Arrow IPC stream, each as a protobuf FlightData, as any Flight server would send them. */
function flightMessages(type: Utf8 | LargeUtf8, columns: Record<string, readonly string[]>): Buffer[] {
  const vectors = Object.fromEntries(Object.entries(columns).map(([k, v]) => [k, vectorFromArray([...v], type)]));
  const bytes = RecordBatchStreamWriter.writeAll(new Table(vectors)).toUint8Array(true);
  const messages: Buffer[] = [];
  let at = 0;
  while (at + 8 <= bytes.length) {
    const view = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
    const length = view.readInt32LE(at + 4);
    if (length === 0) break;
    const header = view.subarray(at + 8, at + 8 + length);
    const bodyLength = bodyLengthOf(header);
    const body = view.subarray(at + 8 + length, at + 8 + length + bodyLength);
    messages.push(Buffer.concat([lengthDelimited(2, header), lengthDelimited(1000, body)]));
    at += 8 + length + bodyLength;
  }
  return messages;
}

const bodyLengthOf = (header: Buffer): number => {
  const framed = Buffer.concat([Buffer.from([255, 255, 255, 255]), Buffer.alloc(4), header]);
  framed.writeInt32LE(header.length, 4);
  const reader = new MessageReader(framed);
  return reader.readMessage()?.bodyLength ?? 0;
};

function lengthDelimited(field: number, bytes: Buffer): Buffer {
  const varint = (n: number): number[] => (n < 128 ? [n] : [(n & 127) | 128, ...varint(n >>> 7)]);
  return Buffer.concat([Buffer.from([...varint(field * 8 + 2), ...varint(bytes.length)]), bytes]);
}

test.each([new Utf8(), new LargeUtf8()])('texts of a %s column lie in one piece', (type) => {
  const reader = new TextColumnReader();
  const batches = flightMessages(type, { json: texts }).map((m) => reader.read(decodeFlightData(m)));
  expect(batches[0]).toBeUndefined();
  expect(batches[1]?.rows).toBe(3);
  expect(batches[1]?.bytes.toString()).toBe(texts.join(''));
});

test('a result of two columns, a batch without schema and cut messages are refused', () => {
  const two = flightMessages(new Utf8(), { a: texts, b: texts });
  expect(() => new TextColumnReader().read(decodeFlightData(two[0] ?? Buffer.alloc(0)))).toThrow('columns');
  const one = flightMessages(new Utf8(), { a: texts });
  const batch = one[1] ?? Buffer.alloc(0);
  expect(() => new TextColumnReader().read(decodeFlightData(batch))).toThrow('no schema');
  expect(() => decodeFlightData(batch.subarray(0, batch.length - 1))).toThrow(RangeError);
});

test('metadata travels beside data, unknown fields are skipped', () => {
  const message = Buffer.concat([Buffer.from([8 * 9, 5]), lengthDelimited(3, Buffer.from('{"rows":1}'))]);
  const decoded = decodeFlightData(message);
  expect(decoded.appMetadata.toString()).toBe('{"rows":1}');
  expect(new TextColumnReader().read(decoded)).toBeUndefined();
});

test('a ticket is a length-delimited field', () => {
  expect(encodeTicket('x'.repeat(300)).subarray(0, 3)).toEqual(Buffer.from([10, 0xac, 0x02]));
});
