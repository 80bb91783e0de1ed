/** One message of a Flight stream, its parts as views of the received bytes. */
export type FlightData = {
  /** Arrow `Message` flatbuffer; empty when the message carries metadata only. */
  readonly header: Buffer;
  readonly appMetadata: Buffer;
  readonly body: Buffer;
};

const EMPTY: Buffer = Buffer.alloc(0);
const HEADER_FIELD = 2;
const APP_METADATA_FIELD = 3;
const BODY_FIELD = 1000;

/**
 * Decodes `FlightData` (proto/flight.proto) without copying: bodies are megabytes, and a general protobuf decoder would copy them.
 * @throws RangeError on anything that is not such a message.
 */
export function decodeFlightData(bytes: Buffer): FlightData {
  let header = EMPTY;
  let appMetadata = EMPTY;
  let body = EMPTY;
  let at = 0;
  const varint = (): number => {
    let value = 0;
    for (let factor = 1; factor <= 2 ** 49; factor *= 128) {
      const byte = bytes[at];
      if (byte === undefined) break;
      at += 1;
      value += (byte & 0x7f) * factor;
      if (byte < 0x80) return value;
    }
    throw new RangeError('not a FlightData message: bad varint');
  };
  while (at < bytes.length) {
    const tag = varint();
    const field = Math.floor(tag / 8);
    const wireType = tag % 8;
    if (wireType === 0) {
      varint();
      continue;
    }
    const length = wireType === 2 ? varint() : wireType === 1 ? 8 : wireType === 5 ? 4 : Number.NaN;
    if (!(at + length <= bytes.length)) throw new RangeError('not a FlightData message: bad length');
    const part = bytes.subarray(at, at + length);
    at += length;
    if (field === HEADER_FIELD) header = part;
    else if (field === APP_METADATA_FIELD) appMetadata = part;
    else if (field === BODY_FIELD) body = part;
  }
  return { header, appMetadata, body };
}

/** `Ticket { bytes ticket = 1; }` */
export function encodeTicket(...parts: readonly (string | Uint8Array)[]): Buffer {
  const bytes = parts.map((part) => (typeof part === 'string' ? Buffer.from(part) : part));
  const prefix: number[] = [(1 << 3) | 2];
  let rest = bytes.reduce((sum, { length }) => sum + length, 0);
  while (rest >= 0x80) {
    prefix.push((rest & 0x7f) | 0x80);
    rest >>>= 7;
  }
  prefix.push(rest);
  return Buffer.concat([Buffer.from(prefix), ...bytes]);
}
