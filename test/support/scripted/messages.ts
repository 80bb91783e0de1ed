import {
  MessageReader,
  RecordBatchStreamWriter,
  Table,
  vectorFromArray,
  type LargeUtf8,
  type Utf8,
} from 'apache-arrow';

/** The messages of an Arrow IPC stream, each as a protobuf FlightData, as any Flight server would send them. */
export function flightMessages(type: Utf8 | LargeUtf8, columns: Record<string, readonly string[]>): Buffer[] {
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

export function lengthDelimited(field: number, bytes: Buffer): Buffer {
  const varint = (n: number): number[] => (n < 128 ? [n] : [(n & 127) | 128, ...varint(n >>> 7)]);
  return Buffer.concat([Buffer.from([...varint(field * 8 + 2), ...varint(bytes.length)]), bytes]);
}
