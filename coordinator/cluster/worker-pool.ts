import { setTimeout as sleep } from 'node:timers/promises';
import { SkeinError } from '#shared/error.ts';
import type { Member, Membership } from '#shared/membership/member.ts';
import { nextToEnd } from './may-end.ts';
import type { WorkerInfo } from './worker-info.ts';
import { WorkerPairs } from './worker-pairs.ts';
import { WorkerLink, type LinkOptions } from './worker-link.ts';

/** A worker in one of its lives. `lost` is aborted with WORKER_LOST when that ends. */
export type LiveWorker = { readonly link: WorkerLink; readonly info: WorkerInfo; readonly lost: AbortSignal };

/** A worker that membership names, whether it lives or not; `info` is its last heartbeat, null before the first. */
export type KnownWorker = Pick<WorkerLink, 'address' | 'state' | 'sinceMs' | 'load' | 'info'>;

/** Refused workers that an error names. */
const REASONS_MAX = 3;
/** Interval at which a query that waits for a worker checks again. */
const EXPECTED_POLL_MS = 20;

/** The links to all workers of the cluster, kept as membership says. */
export class WorkerPool {
  /** Which of them do not reach each other. */
  readonly pairs: WorkerPairs;
  readonly #links = new Map<string, WorkerLink>();
  readonly #options: LinkOptions;
  readonly #listeners = new Set<() => void>();
  /** Addresses of members that may not be dialled; each is told of once. */
  readonly #refused = new Set<string>();
  #handsOver = false;

  constructor(membership: Membership, options: LinkOptions) {
    this.#options = { ...options, handsOver: () => this.#handsOver };
    this.pairs = new WorkerPairs({ live: () => this.live(), log: options.log, onChange: () => this.#changed() });
    membership.watch('worker', (members) => this.#update(members));
  }

  /** Every known worker, for health, metrics and status. */
  states(): readonly KnownWorker[] {
    return [...this.#links.values()].map(({ address, state, sinceMs, load, info }) => ({
      address,
      state,
      sinceMs,
      load,
      info,
    }));
  }

  /** The workers that are there now; those that drain still serve what they have spooled. */
  live(): readonly LiveWorker[] {
    return [...this.#links.values()].flatMap((link) => {
      const { state } = link;
      return state.kind === 'live' ? [{ link, info: state.info, lost: state.lost.signal }] : [];
    });
  }

  /** The live workers that take tasks. */
  open(): readonly LiveWorker[] {
    return this.live().filter(({ info }) => !info.draining);
  }

  /** The open workers that all reach each other: tasks that read of each other run on them. */
  together(): readonly LiveWorker[] {
    return this.pairs.together(this.open());
  }

  /** Calls `listener` after a worker came, went, or began to drain. The returned function ends this. */
  onChange(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  liveCount(): number {
    return this.open().length;
  }

  /** The error when no task can start; it names the workers that were refused, with the reason. */
  noWorkers(): SkeinError {
    const reasons = this.states().flatMap(({ state }) => (state.kind === 'refused' ? [state.reason] : []));
    const refused = reasons.length === 0 ? '' : `; refused: ${reasons.slice(0, REASONS_MAX).join('; ')}`;
    return new SkeinError('NO_WORKERS', `no worker is available${refused}`);
  }

  /** Whether a worker that ended itself is expected back. */
  get isExpecting(): boolean {
    return [...this.#links.values()].some((link) => link.isExpected);
  }

  /** Resolves when a worker takes tasks. @throws NO_WORKERS when none does and none is expected back; the reason of `signal` */
  async available(signal: AbortSignal): Promise<void> {
    while (this.open().length === 0) {
      if (!this.isExpecting) throw this.noWorkers();
      signal.throwIfAborted();
      await sleep(EXPECTED_POLL_MS);
    }
  }

  /** Tells every worker that this coordinator gives up the lead, before another one has it. */
  handOver(): void {
    this.#handsOver = true;
    for (const link of this.#links.values()) link.beatNow();
  }

  close(): void {
    this.pairs.close();
    for (const link of this.#links.values()) link.close();
    this.#links.clear();
  }

  /** Lets one worker after the other end that has asked for it, while another one serves. */
  #permitEnd(): void {
    for (;;) {
      const views = [...this.#links.values()].map((link) => ({ ...link.ending, link }));
      const next = nextToEnd(views);
      if (next === undefined) return;
      next.link.permitEnd();
    }
  }

  readonly #changed = (): void => {
    for (const listener of this.#listeners) listener();
  };

  #update(members: readonly Member[]): void {
    const addresses = new Set(members.map((member) => member.address));
    for (const address of this.#refused) if (!addresses.has(address)) this.#refused.delete(address);
    for (const [address, link] of this.#links) {
      if (addresses.has(address)) continue;
      link.close();
      this.#links.delete(address);
    }
    for (const address of addresses) {
      if (!this.#links.has(address)) this.#link(address);
    }
  }

  #link(address: string): void {
    try {
      const onBeat: LinkOptions['onBeat'] = (link, info) => {
        this.#permitEnd();
        this.#options.onBeat?.(link, info);
      };
      this.#links.set(address, new WorkerLink(address, { ...this.#options, onBeat }, this.#changed));
    } catch (error) {
      const { message } = SkeinError.of(error);
      if (!this.#refused.has(address)) this.#options.log.error({ worker: address, reason: message }, 'worker refused');
      this.#refused.add(address);
    }
  }
}
