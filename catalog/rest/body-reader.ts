import type { IncomingHttpHeaders, ServerResponse } from 'node:http';
import { BodyBudget, type HeldBody } from '#shared/http/body-budget.ts';
import { Turns } from '#shared/thread/turns.ts';
import type { WorkPool } from '#shared/thread/work-pool.ts';
import { BODY_BYTES_HERE, documentTask } from '../commit/document-task.ts';
import { isPacked, parseBody, parseBodyOfFew, unpackBody } from './body.ts';
import type { RestRequest } from './operation.ts';

/** Bodies that are unpacked at once: as many threads as Node has for it. */
const UNPACKED_AT_ONCE = 4;
const WAITING_MAX = 1_000;

const PARSE_BODY = documentTask(parseBodyOfFew, 'parseRequestBody');

/** Reads the bodies of authorised requests, and counts what they take while they are there: a tenant's never take all that there is. */
export class BodyReader {
  readonly #bytesMax: number;
  readonly #budget: BodyBudget;
  readonly #unpacking = new Turns(UNPACKED_AT_ONCE, WAITING_MAX);
  readonly #readers: WorkPool;

  /** @param options.bytesMax of one body, packed and unpacked; `bytesInAllMax` of all that are there at once */
  constructor(options: { readonly bytesMax: number; readonly bytesInAllMax: number; readonly readers: WorkPool }) {
    this.#bytesMax = options.bytesMax;
    this.#budget = new BodyBudget(options);
    this.#readers = options.readers;
  }

  /** Before the body comes. @throws QUEUE_FULL */
  expect(tenant: string, headers: IncomingHttpHeaders, response: ServerResponse): HeldBody {
    return this.#budget.expect(tenant, headers, response);
  }

  /** The body's bytes, unpacked. @throws INVALID_REQUEST, PAYLOAD_TOO_LARGE, QUEUE_FULL */
  async unpack(held: HeldBody, payload: Buffer, encoding: string | undefined): Promise<Buffer> {
    this.#budget.received(held, payload.length);
    if (payload.length === 0 || encoding === undefined || !isPacked(encoding)) return payload;
    const leave = await this.#unpacking.take(held.tenant, undefined);
    try {
      const bytes = await unpackBody(payload, encoding, this.#bytesMax);
      this.#budget.take(held, bytes.length);
      return bytes;
    } finally {
      leave();
    }
  }

  /**
   * An unpacked body as JSON, or as it is when it is large and `takesLarge`; a large one is parsed by a thread, and what that sends has few
   * values. @throws INVALID_REQUEST
   */
  async read({ tenant }: HeldBody, bytes: Buffer, takesLarge: boolean): Promise<Pick<RestRequest, 'body' | 'large'>> {
    if (bytes.length <= BODY_BYTES_HERE) return { body: parseBody(bytes), large: undefined };
    if (takesLarge) return { body: undefined, large: bytes };
    const call = { owner: tenant, what: 'a request body' };
    return { body: await this.#readers.run(PARSE_BODY.apart, bytes, call), large: undefined };
  }
}
