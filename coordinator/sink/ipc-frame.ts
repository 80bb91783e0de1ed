/** Marks a message of an Arrow IPC stream; with a length of 0 it marks the end. */
const CONTINUATION = 0xff_ff_ff_ff;
const PREFIX_BYTES = 8;

/** The header of a message of an Arrow IPC stream behind its prefix, padded so that the body is aligned. */
export function framed(header: Buffer): Buffer {
  const length = Math.ceil(header.length / PREFIX_BYTES) * PREFIX_BYTES;
  const bytes = Buffer.alloc(PREFIX_BYTES + length);
  bytes.writeUInt32LE(CONTINUATION);
  bytes.writeUInt32LE(length, 4);
  header.copy(bytes, PREFIX_BYTES);
  return bytes;
}

/** The end of an Arrow IPC stream. */
export function endOfStream(): Buffer {
  const end = Buffer.alloc(PREFIX_BYTES);
  end.writeUInt32LE(CONTINUATION);
  return end;
}
