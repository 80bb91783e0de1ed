import type { Etcd3, Lease } from 'etcd3';
import type { Candidate } from './election.ts';

/** Pause between attempts to take the key again. */
const AGAIN_MS = 1_000;
/** The part of a lease's time that its holder relies on: the rest is for clocks that run at different rates. */
export const RELIED_PART = 0.95;
/** Time for etcd to revoke a lease; otherwise the lease expires by itself. */
const REVOKE_TIMEOUT_MS = 1_000;

type Options = {
  readonly key: string;
  readonly candidate: Candidate;
  readonly ttlMs: number;
  /** Called when another candidate has the key. */
  readonly onForeign: () => void;
};

/**
 * A key of etcd that a candidate holds under a lease. When the lease is lost, the key is taken again as soon as etcd answers, unless
 * another one has it.
 */
export class HeldKey {
  readonly #client: Etcd3;
  readonly #options: Options;
  #lease: Lease | undefined;
  #again: NodeJS.Timeout | undefined;
  #released = false;
  /** Until this time, by `performance.now`, no other candidate can have the key. */
  #heldUntilMs = -Infinity;

  constructor(client: Etcd3, options: Options) {
    this.#client = client;
    this.#options = options;
  }

  get heldUntilMs(): number {
    return this.#heldUntilMs;
  }

  /** Takes the key when it is free. @throws when etcd does not answer */
  async take(): Promise<boolean> {
    const { key, candidate, ttlMs } = this.#options;
    // Read before the request, because the lease may begin at any moment after it.
    const askedMs = performance.now();
    const lease = this.#client.lease(Math.ceil(ttlMs / 1000));
    // Several renewals may be on their way, and are answered in their order.
    const fired: number[] = [];
    lease.on('keepaliveFired', () => void fired.push(performance.now()));
    lease.on('keepaliveFailed', () => void fired.splice(0));
    lease.on('keepaliveSucceeded', () => {
      const firedMs = fired.shift();
      if (this.#lease === lease && firedMs !== undefined) this.#heldUntilMs = firedMs + ttlMs * RELIED_PART;
    });
    lease.on('lost', () => this.#lost(lease));
    try {
      const put = this.#client
        .put(key)
        .value(JSON.stringify(candidate))
        .lease(await lease.grant());
      const { succeeded } = await this.#client.if(key, 'Create', '==', 0).then(put).commit();
      if (!succeeded || this.#released) {
        await this.#revoke(lease);
        return false;
      }
      this.#lease = lease;
      this.#heldUntilMs = askedMs + ttlMs * RELIED_PART;
      return true;
    } catch (error) {
      await this.#revoke(lease);
      throw error;
    }
  }

  /** Frees the key, so that another one has it at once instead of after the lease's expiry. */
  async release(): Promise<void> {
    this.#released = true;
    clearTimeout(this.#again);
    const lease = this.#lease;
    this.#lease = undefined;
    this.#heldUntilMs = -Infinity;
    if (lease !== undefined) await this.#revoke(lease);
  }

  async #revoke(lease: Lease): Promise<void> {
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<void>((resolve) => (timer = setTimeout(resolve, REVOKE_TIMEOUT_MS)));
    await Promise.race([lease.revoke().catch(() => undefined), late]);
    clearTimeout(timer);
    lease.release();
  }

  #lost(lease: Lease): void {
    if (this.#lease !== lease) return;
    this.#lease = undefined;
    lease.release();
    this.#takeAgain();
  }

  #takeAgain(): void {
    if (this.#released) return;
    clearTimeout(this.#again);
    this.#again = setTimeout(() => void this.#retake(), AGAIN_MS);
  }

  async #retake(): Promise<void> {
    try {
      if (await this.take()) return;
      const holder = parseCandidate(await this.#client.get(this.#options.key).string());
      // Its own key, under a lease that has not ended yet, is free soon.
      if (holder !== undefined && holder.id !== this.#options.candidate.id) this.#options.onForeign();
      else this.#takeAgain();
    } catch {
      this.#takeAgain();
    }
  }
}

/** Reads the value of the leader's key. Releases before this one put the id alone. */
export function parseCandidate(text: string | null): Candidate | undefined {
  if (text === null || text === '') return undefined;
  try {
    const read = JSON.parse(text) as Partial<Record<keyof Candidate, unknown>> | null;
    if (typeof read?.id === 'string') return { id: read.id, url: typeof read.url === 'string' ? read.url : '' };
  } catch {
    // Not JSON.
  }
  return { id: text, url: '' };
}
