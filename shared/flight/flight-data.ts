import { SkeinError } from '#shared/error.ts';

/**
 * Encodes and decodes `FlightData` of flight.proto by hand: a body has megabytes, and a protobuf library would copy it. Fields: 2
 * `data_header`, 3 `app_metadata`, 1000 `data_body`.
 */
export const HEADER_TAG = 2 * 8 + 2;
const METADATA_TAG = 3 * 8 + 2;
export const BODY_TAG = 1000 * 8 + 2;

/** A message of a stream; its parts are views of its bytes. */
export type FlightData<Bytes extends Uint8Array = Uint8Array> = {
  /** Arrow `Message` flatbuffer; empty when the message carries metadata only. */
  readonly header: Bytes;
  /** Application metadata beside the rows. */
  readonly metadata: Bytes;
  readonly body: Bytes;
};

/** Maximum number of fields of a message: three known ones, and others that are skipped. */
const FIELDS_MAX = 16;
/** Maximum bytes of a 64-bit varint. */
const VARINT_BYTES_MAX = 10;

const notFlightData = (): SkeinError =>
  new SkeinError('INTERNAL_ERROR', 'a message between workers is broken: not a FlightData message');

/** Decodes a message to views of it; unknown fields are skipped. @throws INTERNAL_ERROR when it is cut short, or has a field twice */
export function decodeFlightData<Bytes extends Uint8Array>(message: Bytes): FlightData<Bytes> {
  const parts = new Map<number, Bytes>();
  let position = 0;
  for (let fields = 0; position < message.length; fields++) {
    const field = readField(message, position);
    if (fields >= FIELDS_MAX || parts.has(field.tag)) throw notFlightData();
    parts.set(field.tag, field.value);
    position = field.end;
  }
  const nothing = message.subarray(0, 0) as Bytes;
  return {
    header: parts.get(HEADER_TAG) ?? nothing,
    metadata: parts.get(METADATA_TAG) ?? nothing,
    body: parts.get(BODY_TAG) ?? nothing,
  };
}

/** Returns the header of a message, which must be its first field; the rest may be missing. @throws INTERNAL_ERROR */
export function headerOf(message: Uint8Array): Uint8Array {
  const { tag, value } = readField(message, 0);
  if (tag !== HEADER_TAG) throw notFlightData();
  return value;
}

const DESCRIPTOR_TAG = 1 * 8 + 2;
const COMMAND_TAG = 2 * 8 + 2;

/** The command of a message's descriptor, as the first message of a DoPut has it; undefined without one. @throws INTERNAL_ERROR */
export function commandOf<Bytes extends Uint8Array>(message: Bytes): Bytes | undefined {
  const descriptor = fieldOf(message, DESCRIPTOR_TAG);
  return descriptor === undefined ? undefined : fieldOf(descriptor, COMMAND_TAG);
}

/** The first field of a tag. */
function fieldOf<Bytes extends Uint8Array>(message: Bytes, tag: number): Bytes | undefined {
  let position = 0;
  for (let fields = 0; position < message.length && fields < FIELDS_MAX; fields++) {
    const field = readField(message, position);
    if (field.tag === tag) return field.value;
    position = field.end;
  }
  return undefined;
}

/** Encodes the last message of a stream: application metadata without data. */
export function encodeAppMetadata(metadata: Uint8Array): Uint8Array<ArrayBuffer> {
  const message = new Uint8Array(fieldBytes(METADATA_TAG, metadata.length));
  writeField(message, 0, METADATA_TAG, metadata);
  return message;
}

/** gRPC prefixes each message with 5 bytes, and a received message is a view behind them: alignment has to count them. */
export const GRPC_PREFIX_BYTES = 5;
const BODY_ALIGNMENT = 64;

/** Header length, zero-padded so that the body begins at a multiple of 64, counting gRPC's prefix. */
export function alignedHeaderBytes(headerBytes: number, bodyPrefix: number): number {
  for (let bytes = headerBytes; ; bytes++) {
    if ((GRPC_PREFIX_BYTES + fieldBytes(HEADER_TAG, bytes) + bodyPrefix) % BODY_ALIGNMENT === 0) return bytes;
  }
}

/** Encodes a message; a body is aligned by zeros behind the header. */
export function encodeFlightData(header: Uint8Array, body: Uint8Array): Buffer {
  if (body.length > 0) return Buffer.concat([encodeFlightHead(header, body.length), body]);
  const message = Buffer.alloc(fieldBytes(HEADER_TAG, header.length));
  writeField(message, 0, HEADER_TAG, header);
  return message;
}

/** A message up to its body, which follows. */
export function encodeFlightHead(header: Uint8Array, bodyLength: number): Buffer {
  const bodyPrefix = varintBytes(BODY_TAG) + varintBytes(bodyLength);
  const padded = Buffer.alloc(alignedHeaderBytes(header.length, bodyPrefix));
  padded.set(header);
  const head = Buffer.alloc(fieldBytes(HEADER_TAG, padded.length) + bodyPrefix);
  writeVarint(head, writeVarint(head, writeField(head, 0, HEADER_TAG, padded), BODY_TAG), bodyLength);
  return head;
}

function readField<Bytes extends Uint8Array>(
  message: Bytes,
  at: number,
): { readonly tag: number; readonly value: Bytes; readonly end: number } {
  const tag = readVarint(message, at);
  const size = lengthOf(message, tag.value & 7, tag.end);
  const end = size.end + size.value;
  if (end > message.length) throw notFlightData();
  return { tag: tag.value, value: message.subarray(size.end, end) as Bytes, end };
}

/** Returns the start and length of a field's value by its wire type. Our fields are length-delimited; others are skipped. */
function lengthOf(message: Uint8Array, wireType: number, at: number): { readonly value: number; readonly end: number } {
  switch (wireType) {
    case 0:
      return { value: readVarint(message, at).end - at, end: at };
    case 1:
      return { value: 8, end: at };
    case 2:
      return readVarint(message, at);
    case 5:
      return { value: 4, end: at };
    default:
      throw notFlightData();
  }
}

/** Returns the length of a field including its tag and length prefix. */
export const fieldBytes = (tag: number, length: number): number => varintBytes(tag) + varintBytes(length) + length;

/** Writes a field at a position; returns the position behind it. */
export function writeField(target: Uint8Array, at: number, tag: number, value: Uint8Array): number {
  const position = writeVarint(target, writeVarint(target, at, tag), value.length);
  target.set(value, position);
  return position + value.length;
}

export function varintBytes(value: number): number {
  let bytes = 1;
  for (let rest = value; rest >= 128; rest = Math.floor(rest / 128)) bytes++;
  return bytes;
}

/** Writes a varint at a position; returns the position behind it. */
export function writeVarint(target: Uint8Array, at: number, value: number): number {
  let position = at;
  let rest = value;
  for (; rest >= 128; rest = Math.floor(rest / 128)) target[position++] = (rest % 128) | 128;
  target[position++] = rest;
  return position;
}

function readVarint(source: Uint8Array, at: number): { value: number; end: number } {
  let value = 0;
  let scale = 1;
  for (let position = at; position < Math.min(source.length, at + VARINT_BYTES_MAX); position++) {
    const byte = source[position] ?? 0;
    value += (byte & 127) * scale;
    if (byte < 128) return { value, end: position + 1 };
    scale *= 128;
  }
  throw notFlightData();
}
