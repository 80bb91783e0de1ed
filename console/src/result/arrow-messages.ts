/** A message of an Arrow IPC stream: the schema, or a record batch. */
export type ArrowMessage = { readonly bytes: Uint8Array; readonly isSchema: boolean };

/** Marks a message; with a length of 0 it marks the end. */
const CONTINUATION = 0xff_ff_ff_ff;
const PREFIX_BYTES = 8;
/** `MessageHeader.Schema` of Arrow's `Message.fbs`. */
const SCHEMA_HEADER = 1;
/** Places of fields in the vtable of `Message`: behind its two lengths come version, header's type, header, length of the body. */
const HEADER_TYPE_SLOT = 6;
const BODY_LENGTH_SLOT = 10;

/**
 * Cuts an Arrow IPC stream into its messages as its bytes come, because the decoder takes whole messages only.
 * ```
 * ffffffff, length of the header, header, body; ...; ffffffff, 0
 * ```
 */
export class ArrowMessages {
  #parts: Uint8Array[] = [];
  #length = 0;
  /** The mark of the end has come: a stream without it was cut. */
  isWhole = false;

  /** The messages that are complete with these bytes. */
  add(bytes: Uint8Array): readonly ArrowMessage[] {
    this.#parts.push(bytes);
    this.#length += bytes.length;
    const found: ArrowMessage[] = [];
    for (;;) {
      const length = this.#next();
      if (length === undefined) return found;
      const message = this.#take(length);
      if (length === PREFIX_BYTES) this.isWhole = true;
      else found.push({ bytes: message, isSchema: headerOf(message).type === SCHEMA_HEADER });
    }
  }

  /** Length of the next message, when all of it is there. */
  #next(): number | undefined {
    if (this.#length < PREFIX_BYTES) return undefined;
    const prefix = this.#view(PREFIX_BYTES);
    if (prefix.getUint32(0, true) !== CONTINUATION) throw new Error('the answer is no Arrow stream');
    const headerLength = prefix.getUint32(4, true);
    if (headerLength === 0) return PREFIX_BYTES;
    if (this.#length < PREFIX_BYTES + headerLength) return undefined;
    const head = this.#view(PREFIX_BYTES + headerLength);
    const { bodyLength } = headerOf(new Uint8Array(head.buffer, head.byteOffset, head.byteLength));
    const length = PREFIX_BYTES + headerLength + bodyLength;
    return this.#length < length ? undefined : length;
  }

  /** The first bytes in one piece. */
  #view(length: number): DataView {
    const [first] = this.#parts;
    if (first === undefined || first.length < length) this.#parts = [joined(this.#parts, this.#length)];
    const whole = this.#parts[0] ?? new Uint8Array();
    return new DataView(whole.buffer, whole.byteOffset, length);
  }

  /** A copy of the message that begins on eight bytes, as its columns of 64 bits need. */
  #take(length: number): Uint8Array {
    const message = new Uint8Array(length);
    let at = 0;
    while (at < length) {
      const [first = new Uint8Array()] = this.#parts;
      const taken = Math.min(first.length, length - at);
      message.set(first.subarray(0, taken), at);
      at += taken;
      if (taken === first.length) this.#parts.shift();
      else this.#parts[0] = first.subarray(taken);
    }
    this.#length -= length;
    return message;
  }
}

function joined(parts: readonly Uint8Array[], length: number): Uint8Array {
  const whole = new Uint8Array(length);
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.length;
  }
  return whole;
}

/** Reads the two fields of a message's header (a flat buffer) that matter here. */
function headerOf(message: Uint8Array): { readonly type: number; readonly bodyLength: number } {
  const view = new DataView(message.buffer, message.byteOffset + PREFIX_BYTES, message.byteLength - PREFIX_BYTES);
  const table = view.getUint32(0, true);
  const vtable = table - view.getInt32(table, true);
  const slots = view.getUint16(vtable, true);
  const placeOf = (slot: number): number => (slot < slots ? view.getUint16(vtable + slot, true) : 0);
  const [type, length] = [placeOf(HEADER_TYPE_SLOT), placeOf(BODY_LENGTH_SLOT)];
  return {
    type: type === 0 ? 0 : view.getUint8(table + type),
    bodyLength: length === 0 ? 0 : Number(view.getBigInt64(table + length, true)),
  };
}
