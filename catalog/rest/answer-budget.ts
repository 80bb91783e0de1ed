import { SkeinError } from '#shared/error.ts';

/** Smaller answers are not counted. */
const LARGE_BYTES = 256 * 1024;

/**
 * Bytes of the large answers that are on their way to the clients of each tenant. Metadata can be of many megabytes; who asks for it over
 * and over and reads nothing must not use up the memory that all tenants share.
 */
export class AnswerBudget {
  readonly #bytesMax: number;
  readonly #used = new Map<string, number>();

  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax;
  }

  /** @throws QUEUE_FULL while the tenant has as much on its way as it may. */
  requireRoom(tenant: string): void {
    if ((this.#used.get(tenant) ?? 0) < this.#bytesMax) return;
    throw new SkeinError('QUEUE_FULL', 'too many large answers are on their way: read them first');
  }

  /** Counts an answer until the returned function is called, once. */
  take(tenant: string, bytes: number): () => void {
    if (bytes < LARGE_BYTES) return () => undefined;
    this.#add(tenant, bytes);
    return () => this.#add(tenant, -bytes);
  }

  #add(tenant: string, bytes: number): void {
    const used = (this.#used.get(tenant) ?? 0) + bytes;
    if (used === 0) this.#used.delete(tenant);
    else this.#used.set(tenant, used);
  }
}
