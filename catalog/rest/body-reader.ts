import type { IncomingHttpHeaders, ServerResponse } from 'node:http';
import { BodyBudget, type HeldBody } from '#shared/http/body-budget.ts';
import { SharedPlaces } from '#shared/thread/shared-places.ts';
import type { WorkPool } from '#shared/thread/work-pool.ts';
import { BODY_BYTES_HERE, documentTask, METADATA_THREAD } from '../metadata/document-task.ts';
import { isPacked, parseBody, parseBodyOfFew, unpackBody } from '../metadata/body.ts';
import type { RestRequest } from './rest-operation.ts';

/** Maximum number of bodies that are decompressed at once: the threads that Node has for it. */
const UNPACKED_AT_ONCE = 4;
const WAITING_MAX = 1_000;

const PARSE_BODY = documentTask(parseBodyOfFew, 'parseRequestBody', METADATA_THREAD);

/** Reads the bodies of authorised requests, and counts the memory that they take: one tenant never takes all of it. */
export class BodyReader {
  readonly #bytesMax: number;
  readonly #budget: BodyBudget;
  readonly #unpacking = new SharedPlaces(UNPACKED_AT_ONCE, WAITING_MAX);
  readonly #readers: WorkPool;

  /** @param options.bytesMax limit of one body, both packed and unpacked; `bytesInAllMax` limits all bodies in memory together */
  constructor(options: { readonly bytesMax: number; readonly bytesInAllMax: number; readonly readers: WorkPool }) {
    this.#bytesMax = options.bytesMax;
    this.#budget = new BodyBudget(options);
    this.#readers = options.readers;
  }

  /** Reserves memory for a body before it arrives. @throws QUEUE_FULL */
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
   * Returns an unpacked body as JSON, or as bytes when it is large and `takesLarge`. A worker thread parses a large one, and sends back
   * only documents with few values. @throws INVALID_REQUEST
   */
  async read({ tenant }: HeldBody, bytes: Buffer, takesLarge: boolean): Promise<Pick<RestRequest, 'body' | 'large'>> {
    if (bytes.length <= BODY_BYTES_HERE) return { body: parseBody(bytes), large: undefined };
    if (takesLarge) return { body: undefined, large: bytes };
    const call = { owner: tenant, what: 'a request body' };
    return { body: await this.#readers.run(PARSE_BODY.apart, bytes, call), large: undefined };
  }
}
