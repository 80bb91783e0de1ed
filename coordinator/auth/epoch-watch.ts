import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from '#shared/log/logger.ts';
import type { CatalogClient, EpochUpdate } from '../catalog-client/catalog-client.ts';

/** Pause between two attempts; a stream that has lasted longer is opened again at once. */
const RETRY_MS = 500;
/** The epochs known are trusted this long after the stream broke; then every token is refused until the catalog answers. */
const STALE_MS_MAX = 60_000;

/** Clocks of machines differ by no more than this: a sign-in that has ended is remembered for so much longer than its tokens. */
const CLOCKS_DIFFER_MS = 300_000;

/** A coordinator that has reached no catalog for so long is not ready. */
const REACHED_MS_MAX = 5_000;

/** Told once of each end of rights, at which statements end that run with them. */
type Ends = {
  /** A principal was suspended or dropped, or the identity provider that signs it in. */
  readonly principal: (principal: string) => void;
  readonly signIn: (signIn: string) => void;
};

/** The session epochs of all principals, and the sign-ins that have ended before their tokens, from the catalog's stream. */
export class EpochWatch {
  readonly #epochs = new Map<string, number>();
  /** The moment at which the last token of each sign-in that has ended is over. */
  readonly #ended = new Map<string, number>();
  readonly #ends: Ends;
  readonly #stop = new AbortController();
  readonly #running: Promise<void>;
  #stream: 'never' | 'open' | { readonly brokenSinceMs: number } = 'never';

  constructor(
    catalog: Pick<CatalogClient, 'watchEpochs'>,
    log: Logger,
    ends: Ends = { principal: () => undefined, signIn: () => undefined },
  ) {
    this.#ends = ends;
    this.#running = this.#run(catalog, log);
  }

  /** The principal's epoch; undefined while the epochs are not known. */
  current(principal: string): number | undefined {
    return this.isFresh() ? (this.#epochs.get(principal) ?? 0) : undefined;
  }

  hasEnded(signIn: string): boolean {
    return this.#ended.has(signIn);
  }

  isFresh(): boolean {
    if (typeof this.#stream === 'string') return this.#stream === 'open';
    return performance.now() - this.#stream.brokenSinceMs < STALE_MS_MAX;
  }

  /** Whether a catalog answers, or did a moment ago. */
  isReached(): boolean {
    if (typeof this.#stream === 'string') return this.#stream === 'open';
    return performance.now() - this.#stream.brokenSinceMs < REACHED_MS_MAX;
  }

  async close(): Promise<void> {
    this.#stop.abort();
    await this.#running;
  }

  async #run(catalog: Pick<CatalogClient, 'watchEpochs'>, log: Logger): Promise<void> {
    while (!this.#stop.signal.aborted) {
      const startedMs = performance.now();
      try {
        for await (const update of catalog.watchEpochs(this.#stop.signal)) {
          this.#take(update);
          this.#stream = 'open';
        }
      } catch (error) {
        if (!this.#stop.signal.aborted) log.debug({ err: error }, 'the stream of session epochs broke');
      }
      if (this.#stream === 'open') this.#stream = { brokenSinceMs: performance.now() };
      const waitMs = startedMs + RETRY_MS - performance.now();
      if (waitMs > 0) await sleep(waitMs, undefined, { signal: this.#stop.signal }).catch(() => undefined);
    }
  }

  #take({ epochs, endedSignIns }: EpochUpdate): void {
    for (const { principal, sessionEpoch, stopped } of epochs) {
      // A stream that begins names all again, also who has been back since: what he runs now goes on.
      const isNews = sessionEpoch > (this.#epochs.get(principal) ?? 0);
      this.#epochs.set(principal, sessionEpoch);
      if (stopped && isNews) this.#ends.principal(principal);
    }
    if (endedSignIns.length === 0) return;
    const nowMs = Date.now() - CLOCKS_DIFFER_MS;
    for (const [signIn, untilMs] of this.#ended) if (untilMs < nowMs) this.#ended.delete(signIn);
    for (const { id, untilMs } of endedSignIns) {
      const isNews = !this.#ended.has(id);
      this.#ended.set(id, untilMs);
      if (isNews) this.#ends.signIn(id);
    }
  }
}
