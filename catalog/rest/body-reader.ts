import type { IncomingHttpHeaders } from 'node:http';
import { ByteBudget } from '#shared/byte-budget.ts';
import { SkeinError } from '#shared/error.ts';
import { Turns } from '#shared/thread/turns.ts';
import type { WorkPool } from '#shared/thread/work-pool.ts';
import { BODY_BYTES_HERE, documentTask } from '../commit/document-task.ts';
import { isPacked, parseBody, parseBodyOfFew, unpackBody } from './body.ts';
import type { RestRequest } from './operation.ts';

/** Smaller bodies are not counted. */
const SMALL_BYTES = 64 * 1024;
/** Bodies that are unpacked at once: as many threads as Node has for it. */
const UNPACKED_AT_ONCE = 4;
const WAITING_MAX = 1_000;

const PARSE_BODY = documentTask(parseBodyOfFew, 'parseRequestBody');

/** The memory of one request's body, until the request is answered. */
type Held = { readonly tenant: string; bytes: number };

/** Reads the bodies of authorised requests, and counts what they take while they are there: a tenant's never take all that there is. */
export class BodyReader {
  readonly #bytesMax: number;
  readonly #budget: ByteBudget;
  readonly #unpacking = new Turns(UNPACKED_AT_ONCE, WAITING_MAX);
  readonly #readers: WorkPool;

  /** @param options.bytesMax of one body, packed and unpacked; `bytesInAllMax` of all that are there at once */
  constructor(options: { readonly bytesMax: number; readonly bytesInAllMax: number; readonly readers: WorkPool }) {
    this.#bytesMax = options.bytesMax;
    this.#budget = new ByteBudget(options.bytesInAllMax);
    this.#readers = options.readers;
  }

  /** Before the body comes: takes what it says that it needs. @throws QUEUE_FULL */
  expect(tenant: string, headers: IncomingHttpHeaders): Held {
    const declared =
      headers['transfer-encoding'] === undefined ? Number(headers['content-length'] ?? 0) : this.#bytesMax;
    const held = { tenant, bytes: 0 };
    // What is longer is refused without being read.
    if (declared > SMALL_BYTES && declared <= this.#bytesMax) this.#take(held, declared);
    return held;
  }

  /** Once the request is answered, or its connection is gone. */
  release(held: Held): void {
    this.#budget.give(held.tenant, held.bytes);
    held.bytes = 0;
  }

  /** The body's bytes, unpacked. @throws INVALID_REQUEST, PAYLOAD_TOO_LARGE, QUEUE_FULL */
  async unpack(held: Held, payload: Buffer, encoding: string | undefined): Promise<Buffer> {
    if (payload.length === 0 || encoding === undefined || !isPacked(encoding)) return payload;
    const leave = await this.#unpacking.take(held.tenant, undefined);
    try {
      const bytes = await unpackBody(payload, encoding, this.#bytesMax);
      if (bytes.length > SMALL_BYTES) this.#take(held, bytes.length);
      return bytes;
    } finally {
      leave();
    }
  }

  /**
   * An unpacked body as JSON, or as it is when it is large and `takesLarge`; a large one is parsed by a thread, and what that sends has few
   * values. @throws INVALID_REQUEST
   */
  async read({ tenant }: Held, bytes: Buffer, takesLarge: boolean): Promise<Pick<RestRequest, 'body' | 'large'>> {
    if (bytes.length <= BODY_BYTES_HERE) return { body: parseBody(bytes), large: undefined };
    if (takesLarge) return { body: undefined, large: bytes };
    const call = { owner: tenant, what: 'a request body' };
    return { body: await this.#readers.run(PARSE_BODY.apart, bytes, call), large: undefined };
  }

  #take(held: Held, bytes: number): void {
    if (!this.#budget.take(held.tenant, bytes)) {
      throw new SkeinError('QUEUE_FULL', 'too many large request bodies are on their way');
    }
    held.bytes += bytes;
  }
}
