import { BodyCompression } from 'apache-arrow/ipc/metadata/message';
import { CompressionType } from 'apache-arrow/fb/compression-type';
import lz4 from 'lz4-napi';
import { arrowBuffer } from '../duckdb/arrow-buffer.ts';
import { dataMessage } from '../duckdb/arrow-out.ts';
import { brokenMessage } from '#shared/flight/check-message.ts';
import { readMessage } from '../duckdb/ipc-message.ts';
import { decodeFlightData } from '#shared/flight/flight-data.ts';
import { encodeArrowMessage, encodeNative, receivedMessage, type NativeMessage } from './arrow-message.ts';
import { unpackedBytesMax } from './lz4-frame.ts';

/**
 * Batches whose buffers are LZ4 frames, as the Arrow format defines it (Message.fbs, BodyCompression): each buffer is prefixed with its
 * uncompressed length, or -1 when it is stored plain because compression would not shorten it. Threads of libuv do the work.
 */
const LENGTH_BYTES = 8;
const PLAIN = -1n;
/**
 * Larger batches are sent uncompressed, which bounds a receiver's memory: it unpacks one batch at a time from each peer. Writers end a
 * batch at 2 MiB, unless a single chunk of rows is longer.
 */
export const UNPACKED_BATCH_BYTES_MAX = 64 * 2 ** 20;
/** Largest LZ4 block. A frame's bound counts its last block as full, so it may exceed the true size by up to this. */
const BLOCK_BYTES_MAX = 4 * 2 ** 20;

/** Compresses a batch; any other message, and a batch that is too large, is returned unchanged. */
export async function compressMessage(message: Uint8Array): Promise<Uint8Array> {
  const { header, body } = decodeFlightData(message);
  const metadata = readMessage(header);
  if (!metadata.isRecordBatch() || body.length > UNPACKED_BATCH_BYTES_MAX) return message;
  const { length: rows, nodes, buffers: regions } = metadata.header();
  const buffers = await Promise.all(
    regions.map(({ offset, length }) => compressBuffer(body.subarray(offset, offset + length))),
  );
  const compression = new BodyCompression(CompressionType.LZ4_FRAME);
  return encodeArrowMessage(dataMessage({ rows, nodes, buffers: buffers.map(arrowBuffer), compression }));
}

/** Decompresses a peer's message. @throws INTERNAL_ERROR when it is broken, or claims to unpack to more than a batch may */
export async function plainMessage(message: Buffer): Promise<NativeMessage> {
  const { header, body } = decodeFlightData(message);
  const metadata = readMessage(header);
  if (!metadata.isRecordBatch()) return receivedMessage(message);
  const { length: rows, nodes, buffers: regions, compression } = metadata.header();
  if (compression === null) return receivedMessage(message);
  if (compression.type !== CompressionType.LZ4_FRAME)
    throw brokenMessage('a batch is compressed in a way that is not known');
  const packed = regions.map((region) => packedBuffer(body, region));
  const unpackedBytes = packed.reduce((sum, { bytes }) => sum + bytes, 0);
  if (unpackedBytes > UNPACKED_BATCH_BYTES_MAX)
    throw brokenMessage(`a batch unpacks to more than ${UNPACKED_BATCH_BYTES_MAX} bytes`);
  const buffers = await Promise.all(packed.map(plainBuffer));
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

/** A received buffer, and its uncompressed size in bytes. */
type PackedBuffer = { readonly content: Uint8Array; readonly bytes: number; readonly isPlain: boolean };

/** Checks a buffer's claimed size before anything is unpacked. */
function packedBuffer(
  body: Uint8Array,
  { offset, length }: { readonly offset: number; readonly length: number },
): PackedBuffer {
  if (offset < 0 || length < 0 || offset + length > body.length) throw brokenMessage('a batch is cut short');
  const buffer = body.subarray(offset, offset + length);
  if (buffer.length === 0) return { content: buffer, bytes: 0, isPlain: true };
  if (buffer.length < LENGTH_BYTES) throw brokenMessage('a buffer is cut short');
  const claimed = new DataView(buffer.buffer, buffer.byteOffset).getBigInt64(0, true);
  const content = buffer.subarray(LENGTH_BYTES);
  if (claimed === PLAIN) return { content, bytes: content.length, isPlain: true };
  const bytes = Number(claimed);
  const most = unpackedBytesMax(content);
  if (most === undefined || bytes < 0 || bytes > most || bytes + BLOCK_BYTES_MAX < most)
    throw brokenMessage('a buffer has another length than it says');
  return { content, bytes, isPlain: false };
}

async function plainBuffer({ content, bytes, isPlain }: PackedBuffer): Promise<Uint8Array> {
  if (isPlain) return content;
  let plain: Uint8Array;
  try {
    plain = await lz4.decompressFrame(content);
  } catch (error) {
    throw brokenMessage(`a buffer cannot be unpacked: ${String(error)}`);
  }
  if (plain.length !== bytes) throw brokenMessage('a buffer has another length than it says');
  return plain;
}
