import { SkeinError } from '#shared/error.ts';

type Waiting = { readonly start: () => void };

/**
 * A number of places that several owners share: one owner never has more than half of them, and waiting owners take turns. So the requests
 * of one tenant do not block those of the others.
 */
export class SharedPlaces {
  readonly #places: number;
  readonly #placesOfOwner: number;
  readonly #waitingMax: number;
  readonly #running = new Map<string, number>();
  readonly #waiting = new Map<string, Waiting[]>();
  /** A growing number for each owner that runs or waits: when it last got a place. */
  readonly #served = new Map<string, number>();
  #starts = 0;
  #taken = 0;
  #waits = 0;

  constructor(places: number, waitingMax: number) {
    this.#places = places;
    this.#placesOfOwner = Math.max(1, Math.floor(places / 2));
    this.#waitingMax = waitingMax;
  }

  /**
   * Waits for a place; the caller gives it back by calling the returned function, once.
   * @throws QUEUE_FULL when too many wait; the reason of `signal`
   */
  async take(owner: string, signal: AbortSignal | undefined): Promise<() => void> {
    signal?.throwIfAborted();
    if (!this.#isOpenTo(owner)) await this.#wait(owner, signal);
    else this.#start(owner);
    return () => this.#leave(owner);
  }

  #isOpenTo(owner: string): boolean {
    return this.#taken < this.#places && (this.#running.get(owner) ?? 0) < this.#placesOfOwner;
  }

  #wait(owner: string, signal: AbortSignal | undefined): Promise<void> {
    if (this.#waits >= this.#waitingMax) {
      throw new SkeinError('QUEUE_FULL', 'too many wait to be read');
    }
    return new Promise((resolve, reject) => {
      const waiting: Waiting = {
        start: () => {
          signal?.removeEventListener('abort', leave);
          resolve();
        },
      };
      const leave = (): void => {
        this.#forget(owner, waiting);
        reject(signal?.reason as Error);
      };
      signal?.addEventListener('abort', leave, { once: true });
      this.#waiting.set(owner, [...(this.#waiting.get(owner) ?? []), waiting]);
      this.#waits += 1;
    });
  }

  #start(owner: string): void {
    this.#taken += 1;
    this.#served.set(owner, ++this.#starts);
    this.#running.set(owner, (this.#running.get(owner) ?? 0) + 1);
  }

  #leave(owner: string): void {
    this.#taken -= 1;
    const running = (this.#running.get(owner) ?? 1) - 1;
    if (running === 0) this.#running.delete(owner);
    else this.#running.set(owner, running);
    for (const next of this.#byLastServed()) {
      const [first] = this.#waiting.get(next) ?? [];
      if (first === undefined || !this.#isOpenTo(next)) continue;
      this.#forget(next, first);
      this.#start(next);
      first.start();
    }
    this.#forgetServed(owner);
  }

  /** Returns the waiting owners, those first that have had no place for longest. */
  #byLastServed(): readonly string[] {
    return [...this.#waiting.keys()].sort((a, b) => (this.#served.get(a) ?? 0) - (this.#served.get(b) ?? 0));
  }

  #forget(owner: string, waiting: Waiting): void {
    const rest = (this.#waiting.get(owner) ?? []).filter((one) => one !== waiting);
    if (rest.length === 0) this.#waiting.delete(owner);
    else this.#waiting.set(owner, rest);
    this.#waits -= 1;
    this.#forgetServed(owner);
  }

  #forgetServed(owner: string): void {
    if (!this.#running.has(owner) && !this.#waiting.has(owner)) this.#served.delete(owner);
  }
}
