import type { Schema } from 'apache-arrow';
import { Message } from 'apache-arrow/ipc/metadata/message';
import { encodeFlightData, encodeFlightHead } from '#shared/flight/flight-data.ts';

/** Marks a message of an Arrow IPC stream. */
const CONTINUATION = 0xff_ff_ff_ff;
const PREFIX_BYTES = 8;

/** A schema as the header of a Flight message. */
const schemaHeader = (schema: Schema): Buffer => Buffer.from(Message.encode(Message.from(schema)));

/** The header of a message behind its prefix, padded so that a body is aligned, as an Arrow IPC stream has it. */
function framed(header: Buffer): Buffer {
  const length = Math.ceil(header.length / PREFIX_BYTES) * PREFIX_BYTES;
  const bytes = Buffer.alloc(PREFIX_BYTES + length);
  bytes.writeUInt32LE(CONTINUATION);
  bytes.writeUInt32LE(length, 4);
  header.copy(bytes, PREFIX_BYTES);
  return bytes;
}

/** A schema as the replies of Flight hold it: an encapsulated message of an IPC stream. */
export const schemaMessage = (schema: Schema): Buffer => framed(schemaHeader(schema));

const NO_BODY = Buffer.alloc(0);

/** The message of a stream that says its schema. */
export const schemaData = (schema: Schema): Buffer => encodeFlightData(schemaHeader(schema), NO_BODY);

/**
 * A message of a record batch. gRPC asks a serialized message for its length and copies it once, behind its own five bytes: so the body is
 * not copied before.
 */
export class BatchData {
  readonly byteLength: number;
  readonly #head: Buffer;
  readonly #body: Buffer;

  constructor(header: Buffer, body: Buffer) {
    this.#head = encodeFlightHead(header, body.length);
    this.#body = body;
    this.byteLength = this.#head.length + body.length;
  }

  get length(): number {
    return this.byteLength;
  }

  copy(target: Buffer, at: number): number {
    this.#head.copy(target, at);
    this.#body.copy(target, at + this.#head.length);
    return this.byteLength;
  }
}
