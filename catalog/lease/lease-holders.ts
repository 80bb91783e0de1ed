import type { Lease } from '#shared/task/lease.ts';

/** A coordinator that has a lease, or has had one, on a stream of its own. */
export type Holder = {
  /** Null: its stream broke, or it has given its lease back. */
  send: ((lease: Lease) => void) | null;
  /** The changes that it has seen. */
  seen: number;
  /** Until then it may rely on answers from before a change that it has not seen; a time of `performance.now`. */
  endMs: number;
  /** Called when it has seen further changes. */
  readonly waiting: Set<() => void>;
};

/** The coordinators that have a lease from this catalog process. */
export class LeaseHolders {
  readonly #holders = new Set<Holder>();
  #answerMs: number;
  #changes = 0;

  /** @param answerMs time for which an answer may be relied on */
  constructor(answerMs: number) {
    this.#answerMs = answerMs;
  }

  add(send: (lease: Lease) => void): Holder {
    const holder: Holder = { send, seen: 0, endMs: -Infinity, waiting: new Set() };
    this.#holders.add(holder);
    return holder;
  }

  /** Answers a request for time: `untilMs` is what it may have, a time of `performance.now`. */
  grant(holder: Holder, renewal: number, untilMs: number): void {
    if (holder.send === null) return;
    const validMs = Math.max(0, Math.floor(untilMs - performance.now()));
    holder.endMs = Math.max(holder.endMs, performance.now() + validMs);
    holder.send({ renewal, changes: this.#changes, validMs, answerMs: this.#answerMs });
  }

  /** The holder has seen this many changes. */
  saw(holder: Holder, changes: number): void {
    if (changes <= holder.seen) return;
    holder.seen = changes;
    for (const look of holder.waiting) look();
  }

  /** The holder relies on nothing any more. */
  release(holder: Holder): void {
    holder.send = null;
    this.#holders.delete(holder);
    this.saw(holder, Infinity);
  }

  /** The stream of a holder broke: it may rely on answers until its lease ends. */
  lose(holder: Holder): void {
    if (holder.send === null) return;
    holder.send = null;
    const leftMs = holder.endMs - performance.now();
    if (leftMs > 0) setTimeout(() => this.release(holder), leftMs).unref();
    else this.release(holder);
  }

  /** Takes all leases back. Resolves when no holder relies on any answer under a lease from here, and none will. */
  async end(): Promise<void> {
    this.#answerMs = 0;
    await this.change();
  }

  /** Counts a change and tells the holders. Resolves when none of them relies any longer on an answer from before it. */
  async change(): Promise<void> {
    this.#changes += 1;
    const changes = this.#changes;
    const holders = [...this.#holders].filter(({ endMs }) => endMs > performance.now());
    for (const { send } of holders) send?.({ renewal: 0, changes, validMs: 0, answerMs: this.#answerMs });
    await Promise.all(holders.map((holder) => seenOrEnded(holder, changes)));
  }
}

/** Resolves when the holder has seen the change, or when the lease that it has now is over: a later one begins with the change. */
function seenOrEnded(holder: Holder, changes: number): Promise<void> {
  return new Promise((resolve) => {
    const end = (): void => {
      clearTimeout(timer);
      holder.waiting.delete(look);
      resolve();
    };
    const look = (): void => {
      if (holder.seen >= changes) end();
    };
    const timer = setTimeout(end, Math.max(0, holder.endMs - performance.now()));
    holder.waiting.add(look);
    look();
  });
}
