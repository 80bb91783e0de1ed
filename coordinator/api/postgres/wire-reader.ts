import type { Duplex } from 'node:stream';
import { protocolViolation, WireError } from './wire-error.ts';

/** Reads a connection piece by piece; what the client sends ahead waits, and no more of it than the stream holds. */
export class WireReader {
  readonly #stream: Duplex;
  #isClosed = false;
  #waitsSince = 0;
  #wake: (() => void) | undefined;
  #interruption: Error | undefined;
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

  /** Has the wait for bytes end by an error. */
  interrupt(error: Error): void {
    this.#interruption = error;
    this.#wake?.();
    this.#wake = undefined;
  }

  /** Leaves the stream to another reader. */
  release(): void {
    this.#stream.off('readable', this.#onReadable).off('end', this.#onClosed).off('close', this.#onClosed);
  }

  /** The next bytes; undefined when the client is gone. @throws what `interrupt` was given */
  async bytes(length: number): Promise<Buffer | undefined> {
    if (length === 0) return Buffer.alloc(0);
    for (;;) {
      if (this.#interruption !== undefined) throw this.#interruption;
      const read = this.#stream.read(length) as Buffer | null;
      if (read !== null) return read.length === length ? read : undefined;
      if (this.#isClosed) return undefined;
      this.#waitsSince = performance.now();
      await new Promise<void>((resolve) => (this.#wake = resolve));
    }
  }

  /** The next message; undefined when the client is gone. @throws WireError */
  async message(bytesMax: number): Promise<{ readonly type: string; readonly body: MessageBody } | undefined> {
    const head = await this.bytes(5);
    if (head === undefined) return undefined;
    const length = head.readInt32BE(1) - 4;
    if (length < 0) throw protocolViolation('the length of a message is not valid');
    if (length > bytesMax) throw new WireError('54000', `a message has at most ${bytesMax} bytes`);
    const body = await this.bytes(length);
    return body === undefined ? undefined : { type: head.toString('latin1', 0, 1), body: new MessageBody(body) };
  }
}

/** The body of a message, read from its begin. @throws WireError when it is cut short */
export class MessageBody {
  readonly #bytes: Buffer;
  #at = 0;

  constructor(bytes: Buffer) {
    this.#bytes = bytes;
  }

  get atEnd(): boolean {
    return this.#at >= this.#bytes.length;
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
    const text = this.#bytes.toString('utf8', this.#at, end);
    this.#at = end + 1;
    return text;
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
