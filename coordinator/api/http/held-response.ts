import type { ServerResponse } from 'node:http';
import { SkeinError } from '#shared/error.ts';

export type ResponseLimits = {
  readonly holdbackBytes: number;
  readonly resultBytesMax: number;
};

/** The header of an answer that has fewer rows than its statement gives. */
export const CUT_HEADER = 'x-skein-cut';

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
  }

  /** Says in a header that there are more rows, unless the head has gone. */
  tellCut(isCut: boolean | undefined): void {
    if (isCut === true && !this.#committed) this.#response.setHeader(CUT_HEADER, 'true');
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
