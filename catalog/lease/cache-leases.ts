import { retried } from '#shared/retry.ts';
import { randomUUID } from 'node:crypto';
import { CACHE_LEASE_MS_MAX } from '#shared/config/check-config.ts';
import type { Logger } from '#shared/log/logger.ts';
import type { Lease, LeaseRequest } from '#shared/task/lease.ts';
import { LeaseHolders, type Holder } from './lease-holders.ts';

/** The part of the store that all catalog processes share. */
export interface LeaseStore {
  /** Says that the coordinators of this process may hold leases until `leaseMs` from now. */
  register(process: string, leaseMs: number): Promise<void>;
  remove(process: string): Promise<void>;
  /** The other processes whose coordinators may hold leases now. */
  others(process: string): Promise<readonly OtherProcess[]>;
  /** Tells every other process. */
  notify(message: LeaseMessage): Promise<void>;
  /** Whether this process hears what others tell. */
  readonly hears: boolean;
}

type OtherProcess = { readonly process: string; readonly leaseMs: number };

/** `changed`: something has changed; `seen`: what `to` has asked for under that number is done. */
export type LeaseMessage =
  | { readonly kind: 'changed'; readonly from: string; readonly number: number }
  | { readonly kind: 'seen'; readonly from: string; readonly number: number; readonly to: string };

const RETRY_MS = 100;
/** Time that the end of a process waits for coordinators. */
const CLOSE_WAIT_MS = 200;

/**
 * Leases on what coordinators were told (C. Gray and D. Cheriton, "Leases: an efficient fault-tolerant mechanism for distributed file cache
 * consistency", 1989). A coordinator may rely on an answer for `leaseMs` from when it asked, while it holds a lease from one of the catalog
 * processes, and until it hears of a change; every change, of whatever, is one of all answers. A process that has changed something waits
 * before it says so, until the coordinators with a lease from it have seen that, and until every other process that is registered has said
 * the same of its own; but for `leaseMs` at most: then the answers from before are too old.
 *
 *   process  |-- registered in Postgres ---- renewed ---->       a lease ends before the registration under which it was given,
 *   coordinator   |-- lease ---- renewed ---->                   and an answer counts only if the lease was held without a break
 *   answer           |--- relied on ---|                         from when it was asked for
 */
export class CacheLeases {
  readonly #process = randomUUID();
  readonly #holders: LeaseHolders;
  readonly #store: LeaseStore;
  readonly #leaseMs: number;
  readonly #log: Logger;
  /** End of the registration, a time of `performance.now`. */
  #endMs = -Infinity;
  #registering: Promise<void> | undefined;
  #isClosed = false;
  /** The other processes that have to answer a number. */
  readonly #asked = new Map<number, { readonly waiting: Set<string>; readonly resolve: () => void }>();
  #numbers = 0;

  /** @param leaseMs 0 = no coordinator gets one */
  constructor(store: LeaseStore, leaseMs: number, log: Logger) {
    this.#store = store;
    this.#leaseMs = leaseMs;
    this.#log = log;
    this.#holders = new LeaseHolders(this.#leaseMs);
  }

  /** A coordinator begins to ask for leases. */
  open(send: (lease: Lease) => void): Holder {
    return this.#holders.add(send);
  }

  /** A coordinator asks for time, and says what it has seen. Without a registration it gets no time. */
  async renew(holder: Holder, { renewal, changes }: LeaseRequest): Promise<void> {
    this.#holders.saw(holder, changes);
    if (renewal === 0) return;
    try {
      await this.#register();
    } catch (error) {
      this.#log.debug({ err: error }, 'a lease was not given');
    }
    this.#holders.grant(holder, renewal, this.#endMs);
  }

  /** A coordinator relies on nothing any more. */
  release(holder: Holder): void {
    this.#holders.release(holder);
  }

  /** The stream of a coordinator broke. */
  lose(holder: Holder): void {
    this.#holders.lose(holder);
  }

  /** Resolves when no coordinator relies on an answer from before any change that is committed by now. */
  async settle(): Promise<void> {
    const beganMs = performance.now();
    await Promise.all([this.#holders.change(), this.#settleOthers(beganMs)]);
  }

  /** Takes what another process tells. */
  heard(message: LeaseMessage): void {
    const { from, number } = message;
    if (from === this.#process) return;
    if (message.kind === 'seen') {
      const asked = message.to === this.#process ? this.#asked.get(number) : undefined;
      asked?.waiting.delete(from);
      if (asked?.waiting.size === 0) asked.resolve();
      return;
    }
    const answer = async (): Promise<void> => {
      await this.#holders.change();
      await this.#store.notify({ kind: 'seen', from: this.#process, number, to: from });
    };
    answer().catch((error: unknown) => this.#log.debug({ err: error }, 'another catalog waits for a lease to end'));
  }

  /**
   * Gives no more leases, and takes those back that were given. Others need not wait for this process then; if a coordinator does not answer,
   * they wait for as long as they would if it had died.
   */
  async close(): Promise<void> {
    this.#isClosed = true;
    const { promise: late, resolve } = Promise.withResolvers<'late'>();
    const timer = setTimeout(() => resolve('late'), CLOSE_WAIT_MS);
    const ended = await Promise.race([this.#holders.end(), late]);
    clearTimeout(timer);
    if (ended === 'late') return;
    await this.#registering?.catch(() => undefined);
    await this.#store.remove(this.#process).catch(() => undefined);
  }

  /** Makes sure that most of a registration is ahead. */
  async #register(): Promise<void> {
    if (this.#leaseMs === 0 || this.#isClosed || !this.#store.hears) return;
    if (this.#endMs - performance.now() > (this.#leaseMs * 3) / 4) return;
    this.#registering ??= this.#registerNow().finally(() => (this.#registering = undefined));
    await this.#registering;
  }

  async #registerNow(): Promise<void> {
    const beganMs = performance.now();
    await this.#store.register(this.#process, this.#leaseMs);
    // Between two registrations others did not wait for this process.
    if (performance.now() >= this.#endMs) void this.#holders.change();
    this.#endMs = beganMs + this.#leaseMs;
  }

  /** Resolves when the other processes have said that their coordinators know, or at the time at which those must ask again. */
  async #settleOthers(beganMs: number): Promise<void> {
    const others = await this.#others(beganMs + CACHE_LEASE_MS_MAX);
    if (others.length === 0) return;
    const number = ++this.#numbers;
    const leaseMs = Math.max(...others.map((other) => other.leaseMs));
    const { promise, resolve } = Promise.withResolvers<void>();
    const timer = setTimeout(resolve, Math.max(0, beganMs + leaseMs - performance.now()));
    this.#asked.set(number, { waiting: new Set(others.map(({ process }) => process)), resolve });
    this.#store
      .notify({ kind: 'changed', from: this.#process, number })
      .catch((error: unknown) => this.#log.debug({ err: error }, 'the other catalogs were not told of a change'));
    await promise;
    clearTimeout(timer);
    this.#asked.delete(number);
  }

  /** The other processes that are registered; none when that could not be found out before `endMs`. */
  async #others(endMs: number): Promise<readonly OtherProcess[]> {
    const again = (error: unknown): boolean => {
      this.#log.debug({ err: error }, 'the other catalogs are not known');
      return performance.now() < endMs;
    };
    return await retried(() => this.#store.others(this.#process), { again, pauseMs: RETRY_MS }).catch(() => []);
  }
}
