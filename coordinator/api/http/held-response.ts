import type { ServerResponse } from 'node:http';
import { SkeinError } from '#shared/error.ts';
import { SpoolFile } from '../../sink/spool-file.ts';

export type ResponseLimits = {
  readonly holdbackBytes: number;
  readonly resultBytesMax: number;
  /** Folder for what waits and is longer than the holdback. */
  readonly spoolFolder: string;
};

/** Bytes that are written at once, so that it shows when a slow client takes some of them. */
const PART_BYTES = 256 * 1024;

type Options = ResponseLimits & {
  readonly headers: Readonly<Record<string, string>>;
  readonly contentType: string;
};

/**
 * The body of a result. Its head is held back up to a limit, so that nearly every error keeps its HTTP status; what is larger is streamed,
 * and a later error breaks the connection.
 */
export class HeldResponse {
  readonly #response: ServerResponse;
  readonly #options: Options;
  #held: Buffer[] = [];
  #heldBytes = 0;
  #totalBytes = 0;
  #committed = false;
  #takenBytes = 0;
  #isHeld = false;
  /** Rows that wait behind `#held`. */
  #spool: SpoolFile | null = null;

  constructor(response: ServerResponse, options: Options) {
    this.#response = response;
    this.#options = options;
  }

  /** Whether a part has been sent to the client. */
  get committed(): boolean {
    return this.#committed;
  }

  /** Bytes that the client's connection has taken. */
  get takenBytes(): number {
    return this.#takenBytes;
  }

  /** Begins the body, perhaps again. */
  start(head: Buffer): void {
    this.#held = [head];
    this.#heldBytes = head.length;
    this.#totalBytes = head.length;
    this.#spool?.clear();
  }

  /** Holds everything back until `release`: what is longer than the holdback, on disk. */
  hold(): void {
    this.#isHeld = true;
  }

  /** Sends what was held back as far as it is longer than the holdback. @throws QUERY_CANCELLED when the client is gone */
  async release(): Promise<void> {
    this.#isHeld = false;
    const spool = this.#spool;
    if (spool === null || spool.lengthBytes === 0) return;
    await this.#commit();
    for await (const piece of spool.read()) await this.#write([piece]);
    spool.clear();
  }

  /** Sends or holds back a part; resolves when more may come. @throws RESULT_TOO_LARGE, QUERY_CANCELLED when the client is gone */
  push(pieces: readonly Buffer[]): Promise<void> | undefined {
    const { resultBytesMax, holdbackBytes } = this.#options;
    const bytes = pieces.reduce((sum, { length }) => sum + length, 0);
    this.#totalBytes += bytes;
    if (this.#totalBytes > resultBytesMax) {
      throw new SkeinError('RESULT_TOO_LARGE', `the result is larger than ${resultBytesMax} bytes`);
    }
    if (this.#committed) return this.#write(pieces);
    if (this.#isHeld && (this.#heldBytes + bytes > holdbackBytes || (this.#spool?.lengthBytes ?? 0) > 0)) {
      return this.#spooled().append(pieces);
    }
    this.#held.push(...pieces);
    this.#heldBytes += bytes;
    return this.#heldBytes <= holdbackBytes ? undefined : this.#commit();
  }

  end(tail: Buffer): void {
    if (this.#committed) {
      this.#response.end(tail);
      return;
    }
    this.#committed = true;
    const body = Buffer.concat([...this.#held, tail]);
    this.#held = [];
    this.#response.writeHead(200, { ...this.#head(), 'content-length': body.length });
    this.#response.end(body);
  }

  /** Sends the head and what is held in memory. */
  #commit(): Promise<void> | undefined {
    this.#committed = true;
    this.#response.writeHead(200, this.#head());
    const head = Buffer.concat(this.#held);
    this.#held = [];
    return this.#write([head]);
  }

  #spooled(): SpoolFile {
    if (this.#spool !== null) return this.#spool;
    const spool = new SpoolFile(this.#options.spoolFolder);
    this.#spool = spool;
    this.#response.once('close', () => spool.close());
    return spool;
  }

  #head(): Readonly<Record<string, string>> {
    const { headers, contentType } = this.#options;
    return { ...headers, 'content-type': contentType };
  }

  #write(pieces: readonly Buffer[]): Promise<void> | undefined {
    const response = this.#response;
    if (response.destroyed) throw new SkeinError('QUERY_CANCELLED', 'the client has disconnected');
    let takesMore = true;
    for (const piece of pieces) {
      for (let at = 0; at < piece.length; at += PART_BYTES) {
        const part = piece.subarray(at, at + PART_BYTES);
        takesMore = response.write(part, () => (this.#takenBytes += part.length));
      }
    }
    if (takesMore) return undefined;
    return new Promise((resolve, reject) => {
      const done = (): void => {
        response.off('drain', done).off('close', gone);
        resolve();
      };
      const gone = (): void => {
        response.off('drain', done).off('close', gone);
        reject(new SkeinError('QUERY_CANCELLED', 'the client has disconnected'));
      };
      response.on('drain', done).on('close', gone);
    });
  }
}
