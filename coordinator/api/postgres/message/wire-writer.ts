import type { Duplex } from 'node:stream';
import { SkeinError } from '#shared/error.ts';

/** Bytes from which on messages are sent, and memory that each takes beside its bytes. */
const [FULL_BYTES, MESSAGE_BYTES] = [4 * 2 ** 20, 64];

/** Messages to a client, which leave together. */
export class WireWriter {
  readonly #stream: Duplex;
  #waiting: Buffer[] = [];
  #takenBytes = 0;
  #waitingBytes = 0;

  constructor(stream: Duplex) {
    this.#stream = stream;
  }

  /** Bytes that the connection has taken. */
  get takenBytes(): number {
    return this.#takenBytes;
  }

  /** How many messages wait. */
  get waiting(): number {
    return this.#waiting.length;
  }

  /** Whether so many messages wait that they have to be sent before others come. */
  get isFull(): boolean {
    return this.#waitingBytes >= FULL_BYTES;
  }

  /** Takes back those that wait, but for the first ones. */
  takeBack(count: number): void {
    for (const { length } of this.#waiting.slice(count)) this.#waitingBytes -= length + MESSAGE_BYTES;
    this.#waiting.length = count;
  }

  push(...messages: readonly Buffer[]): void {
    this.#waiting.push(...messages);
    for (const { length } of messages) this.#waitingBytes += length + MESSAGE_BYTES;
  }

  /** Sends what waits; resolves when more may come. @throws QUERY_CANCELLED when the client is gone */
  flush(): Promise<void> | undefined {
    const stream = this.#stream;
    if (this.#waiting.length === 0) return undefined;
    const bytes = Buffer.concat(this.#waiting);
    this.#waiting = [];
    this.#waitingBytes = 0;
    const gone = (): SkeinError => new SkeinError('QUERY_CANCELLED', 'the client has disconnected');
    if (stream.destroyed || stream.writableEnded) throw gone();
    if (stream.write(bytes, () => (this.#takenBytes += bytes.length))) return undefined;
    return new Promise((resolve, reject) => {
      const drained = (): void => {
        stream.off('close', closed);
        resolve();
      };
      const closed = (): void => {
        stream.off('drain', drained);
        reject(gone());
      };
      stream.once('drain', drained).once('close', closed);
    });
  }
}
