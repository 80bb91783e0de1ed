import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from '#shared/log/logger.ts';
import type { CatalogClient } from '../catalog-client/catalog-client.ts';

/** Pause between two attempts; a stream that has lasted longer is opened again at once. */
const RETRY_MS = 500;
/** The epochs known are trusted this long after the stream broke; then every token is refused until the catalog answers. */
const STALE_MS_MAX = 60_000;

/** A coordinator that has reached no catalog for so long is not ready. */
const REACHED_MS_MAX = 5_000;

/** The session epochs of all principals, from the catalog's stream. */
export class EpochWatch {
  readonly #epochs = new Map<string, number>();
  /** Called with each principal that is suspended or dropped, once for each time. */
  readonly #stopped: (principal: string) => void;
  readonly #stop = new AbortController();
  readonly #running: Promise<void>;
  #stream: 'never' | 'open' | { readonly brokenSinceMs: number } = 'never';

  constructor(
    catalog: Pick<CatalogClient, 'watchEpochs'>,
    log: Logger,
    stopped: (principal: string) => void = () => {},
  ) {
    this.#stopped = stopped;
    this.#running = this.#run(catalog, log);
  }

  /** The principal's epoch; undefined while the epochs are not known. */
  current(principal: string): number | undefined {
    return this.isFresh() ? (this.#epochs.get(principal) ?? 0) : undefined;
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
          for (const { principal, sessionEpoch, stopped } of update) {
            // A stream that begins names all again, also who has been back since: what he runs now goes on.
            const isNews = sessionEpoch > (this.#epochs.get(principal) ?? 0);
            this.#epochs.set(principal, sessionEpoch);
            if (stopped && isNews) this.#stopped(principal);
          }
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
}
