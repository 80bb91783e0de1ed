import {
  alignedHeaderBytes,
  BODY_TAG,
  decodeFlightData,
  fieldBytes,
  GRPC_PREFIX_BYTES,
  HEADER_TAG,
  headerOf,
  varintBytes,
  writeField,
  writeVarint,
} from '#shared/flight/flight-data.ts';
import { NO_BYTES, readBuffer } from '../duckdb/arrow-buffer.ts';
import { paddedBytes, type ArrowMessage } from '../duckdb/arrow-out.ts';
import { brokenMessage } from '#shared/flight/check-message.ts';
import type { Address } from '../duckdb/library.ts';
import { addressOf, allocateBlock, copyMemory, freeBlock, readBytes, writeBytes } from '../duckdb/memory.ts';

/** An Arrow message as `FlightData`. A body is copied once, from where it was built into the message. */
export function encodeArrowMessage({ header, buffers, bodyBytes }: ArrowMessage): Uint8Array<ArrayBuffer> {
  const bodyPrefix = bodyBytes === 0 ? 0 : varintBytes(BODY_TAG) + varintBytes(bodyBytes);
  const message = new Uint8Array(fieldBytes(HEADER_TAG, header.length) + bodyPrefix + bodyBytes);
  let position = writeField(message, 0, HEADER_TAG, header);
  if (bodyBytes === 0) return message;
  position = writeVarint(message, writeVarint(message, position, BODY_TAG), bodyBytes);
  for (const buffer of buffers) {
    readBuffer(buffer, message, position);
    position += paddedBytes(buffer.bytes);
  }
  return message;
}

/**
 * A message at an address; its body begins `bodyOffset` bytes later, at a multiple of 8. Its memory is either a native block, which must
 * be freed, or belongs to `owner`, which must be kept alive.
 */
export type NativeMessage = {
  readonly start: Address;
  readonly bytes: number;
  readonly bodyOffset: number;
  readonly owner?: Buffer;
};

/** The same bytes as `encodeArrowMessage` in native memory, with zeros behind the header so that the body is aligned. */
export function encodeNative({ header, buffers, bodyBytes }: ArrowMessage): NativeMessage {
  const bodyPrefix = varintBytes(BODY_TAG) + varintBytes(bodyBytes);
  const headerBytes = alignedHeaderBytes(header.length, bodyPrefix);
  const bodyOffset = fieldBytes(HEADER_TAG, headerBytes) + bodyPrefix;
  const prefix = new Uint8Array(bodyOffset);
  const headerStart = writeVarint(prefix, writeVarint(prefix, 0, HEADER_TAG), headerBytes);
  prefix.set(header, headerStart);
  writeVarint(prefix, writeVarint(prefix, headerStart + headerBytes, BODY_TAG), bodyBytes);
  const start = allocateMessage(bodyOffset + bodyBytes);
  writeBytes(start, prefix);
  let position = start + BigInt(bodyOffset);
  for (const buffer of buffers) {
    const padded = paddedBytes(buffer.bytes);
    copyMemory(position, buffer.address, buffer.bytes);
    copyMemory(position + BigInt(buffer.bytes), NO_BYTES.address, padded - buffer.bytes);
    position += BigInt(padded);
  }
  return { start, bytes: bodyOffset + bodyBytes, bodyOffset };
}

const allocateMessage = (bytes: number): Address =>
  allocateBlock(bytes + GRPC_PREFIX_BYTES) + BigInt(GRPC_PREFIX_BYTES);

/**
 * Wraps a message received from a peer. It is not copied, unless it is a small part of a bigger buffer or not aligned.
 * @throws INTERNAL_ERROR unless its header comes first and its body last.
 */
export function receivedMessage(message: Buffer): NativeMessage {
  const { body } = decodeFlightData(message);
  const bodyOffset = body.byteOffset - message.byteOffset;
  const bytes = message.length;
  headerOf(message);
  if (bodyOffset + body.length !== bytes) throw brokenMessage('its body is not last');
  const start = addressOf(message);
  const isOwn = message.buffer.byteLength <= bytes + GRPC_PREFIX_BYTES;
  if (isOwn && (start + BigInt(bodyOffset)) % 8n === 0n) return { start, bytes, bodyOffset, owner: message };
  if ((bodyOffset + GRPC_PREFIX_BYTES) % 8 !== 0) throw brokenMessage('its body is not aligned');
  const copy = allocateMessage(bytes);
  writeBytes(copy, message);
  return { start: copy, bytes, bodyOffset };
}

/** The bytes of a message. */
export const messageBytes = ({ start, bytes, owner }: NativeMessage): Uint8Array => owner ?? readBytes(start, bytes);

/** Frees a message at once, also one received from a peer: V8 would keep its bytes until the next garbage collection. */
export function freeMessage({ start, owner }: NativeMessage): void {
  if (owner === undefined) freeBlock(start - BigInt(GRPC_PREFIX_BYTES));
  else if (owner.buffer instanceof ArrayBuffer) owner.buffer.transfer(0);
}

/**
 * Lends native memory to gRPC without an extra copy: gRPC only asks a serialized buffer for its length and copies it once, behind its own
 * five bytes. `lease` must be open until then; it is closed when the reader goes away, and then the memory may be freed.
 */
export class LentMessage {
  readonly byteLength: number;
  readonly #start: Address;
  readonly #lease: { readonly isOpen: boolean };

  constructor({ start, bytes }: NativeMessage, lease: { readonly isOpen: boolean }) {
    this.byteLength = bytes;
    this.#start = start;
    this.#lease = lease;
  }

  get length(): number {
    return this.byteLength;
  }

  /** A copy. */
  bytes(): Uint8Array {
    return readBytes(this.#start, this.byteLength);
  }

  copy(target: Buffer, at: number): number {
    if (!this.#lease.isOpen) throw new Error('the reader is gone');
    if (at + this.byteLength > target.length) throw new Error('invariant: gRPC makes room for the message');
    copyMemory(addressOf(target) + BigInt(at), this.#start, this.byteLength);
    return this.byteLength;
  }
}
