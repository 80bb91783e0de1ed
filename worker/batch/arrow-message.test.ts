import { expect, test } from 'vitest';
import { loadService } from '#shared/grpc/load-proto.ts';
import { arrowBuffer } from '../duckdb/arrow-buffer.ts';
import { decodeFlightData, encodeAppMetadata, headerOf } from '#shared/flight/flight-data.ts';
import { encodeArrowMessage, encodeNative, freeMessage, messageBytes, receivedMessage } from './arrow-message.ts';

const { definition } = loadService('flight.proto', 'arrow.flight.protocol.FlightService');
const decode = definition.DoGet.responseDeserialize;
const bytes = (length: number, value = 7): Uint8Array => new Uint8Array(length).fill(value);

test.each([0, 1, 63, 64, 65, 127, 128, 20_000, 3_000_000])(
  'a body of %i bytes is what a protobuf library reads',
  (length) => {
    const bodyBytes = Math.ceil(length / 64) * 64;
    const message = {
      kind: 'batch',
      rows: 1,
      header: bytes(300, 1),
      buffers: [arrowBuffer(bytes(length))],
      bodyBytes,
    } as const;
    const encoded = encodeArrowMessage(message);
    const read = decode(Buffer.from(encoded));
    const body = Buffer.alloc(bodyBytes);
    body.fill(7, 0, length);
    expect(read.data_header.equals(bytes(300, 1))).toBe(true);
    expect(read.data_body.equals(body)).toBe(true);
    const own = decodeFlightData(encoded);
    expect(Buffer.from(own.body).equals(body)).toBe(true);
    const native = encodeNative(message);
    const copied = messageBytes(native);
    freeMessage(native);
    const aligned = decodeFlightData(copied);
    // Aligned behind the five bytes that gRPC puts before it.
    expect((native.bodyOffset + 5) % 64).toBe(0);
    expect(Buffer.from(headerOf(copied).subarray(0, 300)).equals(bytes(300, 1))).toBe(true);
    expect(Buffer.from(aligned.body).equals(body)).toBe(true);
    expect(Buffer.from(copied.subarray(native.bodyOffset)).equals(body)).toBe(true);
  },
);

test("a peer's message is kept where it came, and its memory is free when it is done with", () => {
  const native = encodeNative({ kind: 'batch', rows: 1, header: bytes(300, 1), buffers: [], bodyBytes: 0 });
  const copy = Buffer.from(messageBytes(native));
  freeMessage(native);
  // gRPC delivers a message alone in its buffer, five bytes after the start.
  const alone = Buffer.from(new ArrayBuffer(copy.length + 5), 5);
  copy.copy(alone);
  const kept = receivedMessage(alone);
  expect(Buffer.from(messageBytes(kept)).equals(copy)).toBe(true);
  freeMessage(kept);
  expect(alone.buffer.byteLength).toBe(0);
  // A small part of a buffer that others use is copied out of it.
  const shared = Buffer.concat([Buffer.alloc(5), copy, Buffer.alloc(100)]);
  const taken = receivedMessage(shared.subarray(5, 5 + copy.length));
  expect(taken.owner).toBeUndefined();
  freeMessage(taken);
  expect(shared.subarray(5, 5 + copy.length).equals(copy)).toBe(true);
});

test('application metadata', () => {
  const encoded = encodeAppMetadata(Buffer.from('{"a":1}'));
  expect(Buffer.from(decodeFlightData(encoded).metadata).toString()).toBe('{"a":1}');
});

test.each([[Uint8Array.of(0x12, 200)], [Uint8Array.of(0x0b, 1)], [bytes(20, 0xff)]])('%o is refused', (broken) => {
  expect(() => decodeFlightData(broken)).toThrow('not a FlightData message');
});
