import { BodyCompression, Message } from 'apache-arrow/ipc/metadata/message';
import { CompressionType } from 'apache-arrow/fb/compression-type';
import lz4 from 'lz4-napi';
import { arrowBuffer } from '../duckdb/arrow-buffer.ts';
import { dataMessage } from '../duckdb/arrow-out.ts';
import {
  decodeFlightData,
  encodeArrowMessage,
  encodeNative,
  receivedMessage,
  type NativeMessage,
} from './flight-data.ts';

/**
 * Batches whose buffers are LZ4 frames, as the Arrow format has it (Message.fbs, BodyCompression): before each buffer stands its plain
 * length, or -1 when it is plain because it would not get shorter. The work is done in threads of libuv.
 */
const LENGTH_BYTES = 8;
const PLAIN = -1n;
/** No buffer of a batch is longer: offsets are 32 bits wide. */
const BUFFER_BYTES_MAX = 2 ** 31;

/** The same batch compressed; what is no batch stays as it is. */
export async function compressMessage(message: Uint8Array): Promise<Uint8Array> {
  const { header, body } = decodeFlightData(message);
  const metadata = Message.decode(header);
  if (!metadata.isRecordBatch()) return message;
  const { length: rows, nodes, buffers: regions } = metadata.header();
  const buffers = await Promise.all(
    regions.map(({ offset, length }) => compressBuffer(body.subarray(offset, offset + length))),
  );
  const compression = new BodyCompression(CompressionType.LZ4_FRAME);
  return encodeArrowMessage(dataMessage({ rows, nodes, buffers: buffers.map(arrowBuffer), compression }));
}

/** A message of a peer, plain. @throws Error when it is broken */
export async function plainMessage(message: Buffer): Promise<NativeMessage> {
  const { header, body } = decodeFlightData(message);
  const metadata = Message.decode(header);
  if (!metadata.isRecordBatch()) return receivedMessage(message);
  const { length: rows, nodes, buffers: regions, compression } = metadata.header();
  if (compression === null) return receivedMessage(message);
  if (compression.type !== CompressionType.LZ4_FRAME)
    throw new Error('a batch is compressed in a way that is not known');
  const buffers = await Promise.all(
    regions.map(({ offset, length }) => plainBuffer(body.subarray(offset, offset + length))),
  );
  return encodeNative(dataMessage({ rows, nodes, buffers: buffers.map(arrowBuffer), compression: null }));
}

async function compressBuffer(plain: Uint8Array): Promise<Uint8Array> {
  if (plain.length === 0) return plain;
  const compressed = await lz4.compressFrame(plain);
  const shorter = compressed.length < plain.length;
  const content = shorter ? compressed : plain;
  const buffer = new Uint8Array(LENGTH_BYTES + content.length);
  new DataView(buffer.buffer).setBigInt64(0, shorter ? BigInt(plain.length) : PLAIN, true);
  buffer.set(content, LENGTH_BYTES);
  return buffer;
}

async function plainBuffer(buffer: Uint8Array): Promise<Uint8Array> {
  if (buffer.length === 0) return buffer;
  if (buffer.length < LENGTH_BYTES) throw new Error('a buffer is cut short');
  const length = new DataView(buffer.buffer, buffer.byteOffset).getBigInt64(0, true);
  const content = buffer.subarray(LENGTH_BYTES);
  if (length === PLAIN) return content;
  if (length < 0n || length > BUFFER_BYTES_MAX) throw new Error('a buffer has no possible length');
  const plain = await lz4.decompressFrame(content);
  if (plain.length !== Number(length)) throw new Error('a buffer has another length than it says');
  return plain;
}
