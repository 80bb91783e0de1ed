import { isUtf8 } from 'node:buffer';
import type { Duplex } from 'node:stream';
import { setImmediate } from 'node:timers/promises';
import type { ConnectionMemory } from './connection-memory.ts';
import { protocolViolation, SyncLost, WireError } from './wire-error.ts';

/** Bytes that are taken from a connection at once: the stream holds as many for it. */
const PIECE_BYTES = 256 * 1024;

/** Time for which what a client has sent ahead may keep the event loop, in ms: each of many connections may. */
const TURN_MS = 5;

type Message = { readonly type: string; readonly body: MessageBody };

/** Reads a connection piece by piece; what the client sends ahead waits, and no more of it than the stream holds. */
export class WireReader {
  readonly #stream: Duplex;
  #isClosed = false;
  #waitsSince = 0;
  /** When others were last served, by `performance.now()`. */
  #wokenAt = performance.now();
  #wake: (() => void) | undefined;
  #interruption: Error | undefined;
  #signal: AbortSignal | undefined;
  /** Bytes of a message that nobody has read. */
  #left = 0;
  readonly #onReadable = (): void => {
    const wake = this.#wake;
    this.#wake = undefined;
    if (wake !== undefined) wake();
    // Nobody waits for bytes, because a statement runs. The end of the stream is noticed nevertheless.
    else if (this.#stream.readableLength === 0) this.#stream.read(0);
  };
  readonly #onClosed = (): void => {
    this.#isClosed = true;
    this.#wake?.();
    this.#wake = undefined;
  };

  constructor(stream: Duplex) {
    this.#stream = stream;
    stream.on('readable', this.#onReadable).on('end', this.#onClosed).on('close', this.#onClosed);
  }

  /** Whether bytes of the client are waited for. */
  get isWaiting(): boolean {
    return this.#wake !== undefined;
  }

  /** Time for which they are waited for, in ms. */
  get waitedMs(): number {
    return this.#wake === undefined ? 0 : performance.now() - this.#waitsSince;
  }

  /** Whether what is waited for is the rest of a message or of a COPY. */
  get isWithin(): boolean {
    return this.#left > 0 || this.#signal !== undefined;
  }

  /** Has the wait for bytes end by an error. */
  interrupt(error: Error): void {
    this.#interruption = error;
    this.#wake?.();
    this.#wake = undefined;
  }

  /** Has waits for bytes end with the signal, while the work goes on. What a message still has is skipped afterwards. */
  async until<T>(signal: AbortSignal, work: () => Promise<T>): Promise<T> {
    const wake = (): void => {
      this.#wake?.();
      this.#wake = undefined;
    };
    signal.addEventListener('abort', wake);
    this.#signal = signal;
    try {
      return await work();
    } finally {
      this.#signal = undefined;
      signal.removeEventListener('abort', wake);
    }
  }

  /** Leaves the stream to another reader. */
  release(): void {
    this.#stream.off('readable', this.#onReadable).off('end', this.#onClosed).off('close', this.#onClosed);
  }

  /** The next bytes; undefined when the client is gone. @throws what `interrupt` was given, the reason of the signal of `until` */
  async bytes(length: number): Promise<Buffer | undefined> {
    if (length === 0) return Buffer.alloc(0);
    for (;;) {
      if (this.#interruption !== undefined) throw this.#interruption;
      this.#signal?.throwIfAborted();
      const read = this.#stream.read(length) as Buffer | null;
      if (read !== null) return read.length === length ? read : undefined;
      if (this.#isClosed) return undefined;
      this.#waitsSince = performance.now();
      await new Promise<void>((resolve) => (this.#wake = resolve));
      this.#wokenAt = performance.now();
    }
  }

  /** Has the event loop serve others when what the client has sent ahead has kept it for `TURN_MS`. */
  async giveWay(): Promise<void> {
    if (performance.now() - this.#wokenAt < TURN_MS) return;
    await setImmediate();
    this.#wokenAt = performance.now();
  }

  /**
   * The next message; undefined when the client is gone. Rows of a COPY that has ended are skipped.
   * @throws WireError; SyncLost for one that is too long
   */
  async message(bytesMax: number, memory?: ConnectionMemory): Promise<Message | undefined> {
    let head = await this.#head();
    while (head?.type === 'd') head = await this.#head();
    if (head === undefined) return undefined;
    const { type, length } = head;
    if (length > bytesMax) throw new SyncLost('54000', `a message has at most ${bytesMax} bytes`);
    memory?.take(length);
    const body = await this.#rest(length);
    return body === undefined ? undefined : { type, body };
  }

  /** As `message` during a COPY: one with rows comes in pieces, however long it is. @throws WireError */
  async copied(bytesMax: number): Promise<Message | undefined> {
    const head = this.#left > 0 ? { type: 'd', length: this.#left } : await this.#head();
    if (head === undefined) return undefined;
    const { type, length } = head;
    if (type !== 'd' && length > bytesMax) throw new SyncLost('54000', `a message has at most ${bytesMax} bytes`);
    const body = await this.#rest(type === 'd' ? Math.min(length, PIECE_BYTES) : length);
    return body === undefined ? undefined : { type, body };
  }

  /** The type and the length of the next message, whose body is left. */
  async #head(): Promise<{ readonly type: string; readonly length: number } | undefined> {
    while (this.#left > 0) {
      const skipped = await this.bytes(Math.min(this.#left, PIECE_BYTES));
      if (skipped === undefined) return undefined;
      this.#left -= skipped.length;
    }
    const head = await this.bytes(5);
    if (head === undefined) return undefined;
    const length = head.readInt32BE(1) - 4;
    if (length < 0) throw new SyncLost('08P01', 'the length of a message is not valid');
    this.#left = length;
    return { type: head.toString('latin1', 0, 1), length };
  }

  /** So many bytes of what is left of a message. */
  async #rest(length: number): Promise<MessageBody | undefined> {
    const pieces: Buffer[] = [];
    for (let at = 0; at < length;) {
      const piece = await this.bytes(Math.min(length - at, PIECE_BYTES));
      if (piece === undefined) return undefined;
      pieces.push(piece);
      at += piece.length;
      this.#left -= piece.length;
    }
    const [first = Buffer.alloc(0)] = pieces;
    return new MessageBody(pieces.length > 1 ? Buffer.concat(pieces) : first);
  }
}

/** The body of a message, read from its begin. @throws WireError when it is cut short */
export class MessageBody {
  readonly #bytes: Buffer;
  #at = 0;

  constructor(bytes: Buffer) {
    this.#bytes = bytes;
  }

  get length(): number {
    return this.#bytes.length;
  }

  get atEnd(): boolean {
    return this.#at >= this.#bytes.length;
  }

  /** Nothing of it is left. @throws WireError */
  end(): void {
    if (!this.atEnd) throw protocolViolation('a message is longer than what it says');
  }

  int16(): number {
    return this.take(2).readInt16BE();
  }

  int32(): number {
    return this.take(4).readInt32BE();
  }

  /** A text that a NUL ends. */
  text(): string {
    const end = this.#bytes.indexOf(0, this.#at);
    if (end < 0) throw protocolViolation('a text in a message has no end');
    const text = this.#bytes.subarray(this.#at, end);
    this.#at = end + 1;
    if (!isUtf8(text)) throw new WireError('22021', 'invalid byte sequence for encoding "UTF8"');
    return text.toString();
  }

  take(length: number): Buffer {
    if (length < 0 || this.#at + length > this.#bytes.length) throw protocolViolation('a message is cut short');
    this.#at += length;
    return this.#bytes.subarray(this.#at - length, this.#at);
  }

  /** All that is left. */
  rest(): Buffer {
    return this.take(this.#bytes.length - this.#at);
  }

  /** A number of things, each read by `read`. */
  list<T>(read: () => T): T[] {
    const count = this.int16() & 0xff_ff;
    return Array.from({ length: count }, read);
  }
}
