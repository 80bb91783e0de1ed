import { SkeinError } from '#shared/error.ts';

type Limits = {
  readonly transfersMax: number;
  readonly perPrincipalMax: number;
  /** Time without a byte after which a transfer is cut off. */
  readonly idleMs: number;
  /** Most bytes of one body. */
  readonly bytesMax: number;
};

/** The transfers of files that run now, and their limits. */
export class Transfers {
  readonly #limits: Limits;
  readonly #byPrincipal = new Map<string, number>();
  #running = 0;

  constructor(limits: Limits) {
    this.#limits = limits;
  }

  /** Counts a transfer until it is disposed. @throws QUEUE_FULL */
  begin(principal: string): Disposable {
    const { transfersMax, perPrincipalMax } = this.#limits;
    const own = this.#byPrincipal.get(principal) ?? 0;
    if (own >= perPrincipalMax) throw tooMany(`you have ${own} transfers`);
    if (this.#running >= transfersMax) throw tooMany(`${transfersMax} transfers run`);
    this.#running += 1;
    this.#byPrincipal.set(principal, own + 1);
    return {
      [Symbol.dispose]: () => {
        this.#running -= 1;
        const left = (this.#byPrincipal.get(principal) ?? 1) - 1;
        if (left === 0) this.#byPrincipal.delete(principal);
        else this.#byPrincipal.set(principal, left);
      },
    };
  }

  /**
   * The bytes of a request's body. @param declared its Content-Length; null = unknown @param wanted how many it must have; null = any number
   * @throws PAYLOAD_TOO_LARGE; INVALID_REQUEST for another number of bytes, and when they stop
   */
  async *receive(
    body: AsyncIterable<Uint8Array> & { destroy(error?: Error): unknown },
    { declared, wanted }: { readonly declared: number | null; readonly wanted: number | null },
  ): AsyncGenerator<Uint8Array> {
    const { bytesMax, idleMs } = this.#limits;
    const longest = Math.min(bytesMax, wanted ?? bytesMax);
    if (declared !== null) checkLength(declared, { wanted, bytesMax });
    const watch = new IdleWatch(idleMs, () => body.destroy(new Error('idle')));
    let bytes = 0;
    try {
      for await (const chunk of body) {
        watch.sign();
        bytes += chunk.length;
        if (bytes > longest) checkLength(bytes, { wanted, bytesMax });
        yield chunk;
        watch.sign();
      }
    } catch (error) {
      if (error instanceof SkeinError || bytes > longest) throw error;
      const why = watch.isIdle ? `no byte came for ${idleMs} ms` : 'the connection ended before the body';
      throw new SkeinError('INVALID_REQUEST', why, { cause: error });
    } finally {
      watch[Symbol.dispose]();
    }
    if (wanted !== null) checkLength(bytes, { wanted, bytesMax });
  }

  /** Passes bytes on to a client; one that takes none for too long is cut off. */
  async *send(chunks: AsyncIterable<Buffer>, cut: () => void): AsyncGenerator<Buffer> {
    using watch = new IdleWatch(this.#limits.idleMs, cut);
    for await (const chunk of chunks) {
      watch.sign();
      yield chunk;
    }
  }
}

class IdleWatch implements Disposable {
  isIdle = false;
  readonly #timer: NodeJS.Timeout;

  constructor(idleMs: number, onIdle: () => void) {
    this.#timer = setTimeout(() => {
      this.isIdle = true;
      onIdle();
    }, idleMs);
  }

  /** Says that something has moved. */
  sign(): void {
    this.#timer.refresh();
  }

  [Symbol.dispose](): void {
    clearTimeout(this.#timer);
  }
}

function checkLength(
  bytes: number,
  { wanted, bytesMax }: { readonly wanted: number | null; readonly bytesMax: number },
): void {
  if (wanted !== null && bytes !== wanted) {
    throw new SkeinError('INVALID_REQUEST', `the body has ${bytes} bytes, and the URL is for ${wanted}`);
  }
  if (bytes > bytesMax) {
    throw new SkeinError('PAYLOAD_TOO_LARGE', `a file, or a part of one, has at most ${bytesMax} bytes`);
  }
}

const tooMany = (what: string): SkeinError =>
  new SkeinError('QUEUE_FULL', `${what} of files into or from stages: try again when one has ended`);
