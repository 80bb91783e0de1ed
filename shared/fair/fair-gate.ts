import { SkeinError } from '#shared/error.ts';
import type { Asker } from './asker.ts';
import { Holdings, inTurn, oneTooMany } from './holdings.ts';

type Waiter = Asker & { readonly start: () => void; readonly refuse: () => void };

/**
 * Lets a number of pieces of work run at a time. A place that becomes free goes to the tenant that has fewest, within it to the principal
 * that has fewest; a full queue refuses the one who fills it.
 */
export class FairGate {
  readonly #places: Holdings;
  readonly #waiting = new Set<Waiter>();
  readonly #waitingMax: number;
  /** Names the full resource, for the error. */
  readonly #what: string;
  readonly #waitMsMax: number | undefined;

  /** @param options.waitMsMax who has waited for so long is refused; absent: nobody is */
  constructor(options: {
    readonly atOnce: number;
    readonly waitingMax: number;
    readonly what: string;
    readonly waitMsMax?: number;
  }) {
    this.#places = new Holdings(options.atOnce);
    this.#waitingMax = options.waitingMax;
    this.#what = options.what;
    this.#waitMsMax = options.waitMsMax;
  }

  /** @throws QUEUE_FULL, what `work` throws */
  async run<T>(asker: Asker, work: () => Promise<T>): Promise<T> {
    const leave = await this.enter(asker);
    try {
      return await work();
    } finally {
      leave();
    }
  }

  /** Waits for a place. @returns what gives it back, to be called once @throws QUEUE_FULL */
  async enter(asker: Asker): Promise<() => void> {
    await this.#wait(asker);
    return () => {
      this.#places.giveBack(asker, 1);
      this.#startWaiting();
    };
  }

  async #wait(asker: Asker): Promise<void> {
    if (this.#places.freeFor(asker) >= 1) {
      this.#places.take(asker, 1);
      return;
    }
    if (this.#waiting.size >= this.#waitingMax) {
      const leaving = oneTooMany(this.#waiting, asker);
      if (leaving === undefined) throw this.#full();
      leaving.refuse();
    }
    await new Promise<void>((resolve, reject) => {
      const waiter: Waiter = {
        ...asker,
        start: () => {
          clearTimeout(timer);
          this.#waiting.delete(waiter);
          this.#places.take(asker, 1);
          resolve();
        },
        refuse: () => {
          clearTimeout(timer);
          this.#waiting.delete(waiter);
          reject(this.#full());
        },
      };
      const timer = this.#waitMsMax === undefined ? undefined : setTimeout(waiter.refuse, this.#waitMsMax);
      this.#waiting.add(waiter);
    });
  }

  #startWaiting(): void {
    for (;;) {
      const next = inTurn(this.#waiting, this.#places).find((waiter) => this.#places.freeFor(waiter) >= 1);
      if (next === undefined) return;
      next.start();
    }
  }

  #full(): SkeinError {
    return new SkeinError('QUEUE_FULL', `too many wait for ${this.#what}`);
  }
}
