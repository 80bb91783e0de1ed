import { SkeinError } from '#shared/error.ts';

/** Size from which on an answer is counted. */
const LARGE_BYTES = 256 * 1024;

/**
 * Limits the bytes of large answers that are in flight to the clients of each tenant. Metadata can be many megabytes: a client that
 * requests it again and again and never reads must not use up the memory that all tenants share.
 */
export class AnswerBudget {
  readonly #bytesMax: number;
  readonly #used = new Map<string, number>();

  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax;
  }

  /** @throws QUEUE_FULL while the tenant's answers in flight are at the limit */
  requireRoom(tenant: string): void {
    if ((this.#used.get(tenant) ?? 0) < this.#bytesMax) return;
    throw new SkeinError('QUEUE_FULL', 'too many large answers are on their way: read them first');
  }

  /** Counts an answer until the returned function is called (once). */
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
