import { CompressionType, RecordBatchReader, compressionRegistry } from 'apache-arrow';
import { BodyCompression, BufferRegion, FieldNode, Message, RecordBatch } from 'apache-arrow/ipc/metadata/message';
import lz4 from 'lz4-napi';
import { expect, test, vi } from 'vitest';
import { arrowBuffer } from '../duckdb/arrow-buffer.ts';
import { dataMessage, paddedBytes } from '../duckdb/arrow-out.ts';
import { Instance } from '../duckdb/instance.ts';
import { eachMessage } from '#test/support/duckdb-ipc.ts';
import { compressMessage, plainMessage, UNPACKED_BATCH_BYTES_MAX } from './compress-message.ts';
import { decodeFlightData } from '#shared/flight/flight-data.ts';
import { encodeArrowMessage, freeMessage, messageBytes } from './arrow-message.ts';

/** Messages of a query, as they go over the wire. */
function messagesOf(sql: string): Uint8Array[] {
  using instance = Instance.open({ threads: '1' });
  using connection = instance.connect();
  const messages: Uint8Array[] = [];
  eachMessage(connection, sql, (message) => messages.push(encodeArrowMessage(message)));
  return messages;
}

const SQL = `SELECT i, 'a text that comes again and again ' || i % 7 AS s, CASE WHEN i % 3 > 0 THEN hash(i) END AS h, [i, i + 1] AS l
  FROM range(100000) t(i)`;
const isBatch = (message: Uint8Array): boolean => Message.decode(decodeFlightData(message).header).isRecordBatch();

test('a batch is shorter compressed, and plain again what it was', async () => {
  for (const message of messagesOf(SQL)) {
    const compressed = await compressMessage(message);
    if (!isBatch(message)) {
      expect(compressed).toBe(message);
      continue;
    }
    expect(compressed.length).toBeLessThan(message.length * 0.7);
    const plain = await plainMessage(Buffer.from(compressed));
    const copy = Buffer.from(messageBytes(plain));
    freeMessage(plain);
    expect(copy.subarray(plain.bodyOffset).equals(Buffer.from(decodeFlightData(message).body))).toBe(true);
  }
});

test('the Arrow library reads compressed batches', async () => {
  compressionRegistry.set(CompressionType.LZ4_FRAME, {
    encode: (data) => lz4.compressFrameSync(Buffer.from(data)),
    decode: (data) => lz4.decompressFrameSync(Buffer.from(data)),
  });
  const compressed = await Promise.all(messagesOf(SQL).map(compressMessage));
  const stream = compressed.flatMap((message) => {
    const { header, body } = decodeFlightData(message);
    const prefix = Buffer.alloc(8);
    const padded = Buffer.alloc((header.length + 7) & ~7);
    padded.set(header);
    prefix.writeInt32LE(-1, 0);
    prefix.writeInt32LE(padded.length, 4);
    return [prefix, padded, body];
  });
  const rows = [...RecordBatchReader.from(Buffer.concat(stream))].flatMap((batch) => batch.toArray());
  expect(rows).toHaveLength(100_000);
  expect(rows[99_999]?.toJSON()).toMatchObject({ i: 99_999n, s: 'a text that comes again and again 4', h: null });
});

test('a broken message is refused', async () => {
  const [, batch] = messagesOf('SELECT i FROM range(5000) t(i)');
  const compressed = Buffer.from(await compressMessage(batch ?? new Uint8Array()));
  const { body } = decodeFlightData(compressed);
  const at = body.byteOffset - compressed.byteOffset;
  const wrongLength = Buffer.from(compressed);
  wrongLength.writeBigInt64LE(39_999n, at);
  await expect(plainMessage(wrongLength)).rejects.toThrow('another length');
  const huge = Buffer.from(compressed);
  huge.writeBigInt64LE(2n ** 40n, at);
  await expect(plainMessage(huge)).rejects.toThrow('another length');
  const damaged = Buffer.from(compressed);
  damaged.fill(0xff, at + 8, at + 40);
  await expect(plainMessage(damaged)).rejects.toThrow('another length');
});

const word = (value: bigint): Buffer => {
  const bytes = Buffer.alloc(8);
  bytes.writeBigInt64LE(value);
  return bytes;
};

/** A batch whose buffers all refer to the same bytes, which claim to unpack to `says` bytes. */
function batchOf(frame: Uint8Array, says: number, buffers: number): Buffer {
  const body = arrowBuffer(Buffer.concat([word(BigInt(says)), frame]));
  const regions = Array.from({ length: buffers }, () => new BufferRegion(0, body.bytes));
  const compression = new BodyCompression(CompressionType.LZ4_FRAME);
  const bodyBytes = paddedBytes(body.bytes);
  const header = Message.encode(
    Message.from(new RecordBatch(1, [new FieldNode(1, 0)], regions, compression), bodyBytes),
  );
  return Buffer.from(encodeArrowMessage({ kind: 'batch', rows: 1, header, buffers: [body], bodyBytes }));
}

test('nothing is unpacked of a batch that claims too much, or of a buffer that claims less than it has', async () => {
  const frame = await lz4.compressFrame(Buffer.alloc(32 * 2 ** 20));
  const unpack = vi.spyOn(lz4, 'decompressFrame');
  await expect(plainMessage(batchOf(frame, 32 * 2 ** 20, 3))).rejects.toThrow('unpacks to more than');
  await expect(plainMessage(batchOf(frame, 1_000, 1))).rejects.toThrow('another length');
  await expect(plainMessage(batchOf(Buffer.concat([frame, frame]), 32 * 2 ** 20, 1))).rejects.toThrow('another length');
  expect(unpack).not.toHaveBeenCalled();
  unpack.mockRestore();
});

test('a batch that would unpack to too much goes plain', async () => {
  const body = arrowBuffer(Buffer.alloc(UNPACKED_BATCH_BYTES_MAX + 64));
  const message = encodeArrowMessage(
    dataMessage({ rows: 1, nodes: [new FieldNode(1, 0)], buffers: [body], compression: null }),
  );
  expect(await compressMessage(message)).toBe(message);
});
