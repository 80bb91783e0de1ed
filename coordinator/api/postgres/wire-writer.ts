import type { Duplex } from 'node:stream';
import { SkeinError } from '#shared/error.ts';

/** Messages to a client, which leave together. */
export class WireWriter {
  readonly #stream: Duplex;
  #waiting: Buffer[] = [];
  #takenBytes = 0;

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

  /** Takes back those that wait, but for the first ones. */
  takeBack(count: number): void {
    this.#waiting.length = count;
  }

  push(...messages: readonly Buffer[]): void {
    this.#waiting.push(...messages);
  }

  /** Sends what waits; resolves when more may come. @throws QUERY_CANCELLED when the client is gone */
  flush(): Promise<void> | undefined {
    const stream = this.#stream;
    if (this.#waiting.length === 0) return undefined;
    const bytes = Buffer.concat(this.#waiting);
    this.#waiting = [];
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
