import type { IncomingHttpHeaders, ServerResponse } from 'node:http';
import { ByteBudget } from '../byte-budget.ts';
import { SkeinError } from '../error.ts';

/** Size up to which a body is not counted. */
const SMALL_BYTES = 64 * 1024;

/** Memory reserved for one request's body, until the request is answered or its connection is closed. */
export type HeldBody = { readonly tenant: string; bytes: number; isReleased: boolean };

/** Accounts the memory of authorised requests' bodies: the bodies of one tenant take at most half of it. */
export class BodyBudget {
  readonly #bytesMax: number;
  readonly #budget: ByteBudget;

  /** @param options.bytesMax limit of one body; `bytesInAllMax` limits all bodies in memory together */
  constructor(options: { readonly bytesMax: number; readonly bytesInAllMax: number }) {
    this.#bytesMax = options.bytesMax;
    this.#budget = new ByteBudget(options.bytesInAllMax);
  }

  /** Reserves memory before the body arrives: the declared length, or else the maximum, until the response is closed. @throws QUEUE_FULL */
  expect(tenant: string, headers: IncomingHttpHeaders, response: ServerResponse): HeldBody {
    const declared =
      headers['transfer-encoding'] === undefined ? Number(headers['content-length'] ?? 0) : this.#bytesMax;
    const held: HeldBody = { tenant, bytes: 0, isReleased: response.closed };
    // The server refuses a longer body without reading it.
    if (declared <= this.#bytesMax) this.take(held, declared);
    response.once('close', () => this.#release(held));
    return held;
  }

  /** Called when the body has arrived: releases memory that it did not need. */
  received(held: HeldBody, bytes: number): void {
    const needed = bytes > SMALL_BYTES ? bytes : 0;
    if (needed >= held.bytes) return;
    this.#budget.give(held.tenant, held.bytes - needed);
    held.bytes = needed;
  }

  /** Reserves further memory for data derived from the body. @throws QUEUE_FULL */
  take(held: HeldBody, bytes: number): void {
    if (bytes <= SMALL_BYTES || held.isReleased) return;
    if (!this.#budget.take(held.tenant, bytes)) {
      throw new SkeinError('QUEUE_FULL', 'too many large request bodies are on their way');
    }
    held.bytes += bytes;
  }

  #release(held: HeldBody): void {
    this.#budget.give(held.tenant, held.bytes);
    held.bytes = 0;
    held.isReleased = true;
  }
}
