import type { Etcd3 } from 'etcd3';
import { SkeinError } from '#shared/error.ts';
import type { Candidate, Election, Fitness, Lead, LeadProof } from './election.ts';
import { etcdClient, type EtcdOptions } from './etcd-membership.ts';
import { HeldKey, parseCandidate, RELIED_PART } from './held-key.ts';

/** Interval at which a candidate reads the key while another one leads: a watch reports changes sooner, but may be lost. */
const LOOK_INTERVAL_MS = 2_000;
/** Pause after etcd did not answer, or after a term could not start. */
const RETRY_MS = 1_000;
/** Pause of a candidate that is not fit, in which another one takes the lead. */
const UNFIT_MS = 200;
/** Pause between two looks for the one that leads after this one. */
const HANDED_OVER_LOOK_MS = 200;
/** Time for the proof to be released before the key is: its place may be silent. */
const PROOF_RELEASE_MS = 1_000;
/** A lease is renewed so many times in its time to live, and the leader looks so many times whether it is still of use. */
const RENEWALS = 4;
const CHECKS = 10;

export type ElectionOptions = {
  readonly etcd: EtcdOptions;
  readonly name: string;
  readonly candidate: Candidate;
  /** The second lease; without one, that of etcd decides alone. */
  readonly proof: LeadProof;
  readonly fitness: Fitness;
  /** Opens etcd's client; absent = as it is. */
  readonly open?: (options: EtcdOptions) => Etcd3;
};

/**
 * Elects a leader: the process that has put the key `<prefix>leader/<name>` under its lease, and has taken the proof.
 * ```
 * waiting ──key is free, proof taken──> leading ──neither the lease nor the proof renewed for its time──> waiting
 *                                          └──hand over──> the term goes on to its end, the lead is free
 * ```
 * A leader that reaches neither gives up no later than both end, by its own clock.
 */
export function etcdElection(options: ElectionOptions, lead: Lead): Election {
  const { log } = options.etcd;
  const client = (options.open ?? etcdClient)(options.etcd);
  const closed = new AbortController();
  const campaign = new Campaign(client, options);
  const run = async (): Promise<void> => {
    while (!closed.signal.aborted && !campaign.hasHandedOver) {
      try {
        await campaign.term(lead, closed.signal);
      } catch (error) {
        if (!closed.signal.aborted) log.warn({ err: error }, 'the election is tried again');
        if (!closed.signal.aborted) await campaign.learn();
        await pause(RETRY_MS, closed.signal);
      }
    }
  };
  const running = run();
  // One that has handed over tells its clients who leads now.
  const lookOn = async (): Promise<void> => {
    await campaign.handedOver;
    while (!closed.signal.aborted) {
      await campaign.look(closed.signal).catch(() => campaign.learn());
      await pause(HANDED_OVER_LOOK_MS, closed.signal);
    }
  };
  const looking = lookOn();
  return {
    started: Promise.resolve(),
    leader: () => campaign.leader,
    handOver: () => campaign.handOver(),
    close: async () => {
      closed.abort(new SkeinError('NOT_ACTIVE', 'the coordinator is shutting down'));
      await running;
      campaign.endLooking();
      await looking;
      client.close();
    },
  };
}

class Campaign {
  readonly #client: Etcd3;
  readonly #options: ElectionOptions;
  readonly #key: string;
  readonly #handedOver = Promise.withResolvers<void>();
  #leader: Candidate | undefined;
  #release: (() => Promise<void>) | undefined;
  hasHandedOver = false;

  constructor(client: Etcd3, options: ElectionOptions) {
    this.#client = client;
    this.#options = options;
    this.#key = `${options.etcd.prefix}leader/${options.name}`;
  }

  get leader(): Candidate | undefined {
    return this.#leader;
  }

  get handedOver(): Promise<void> {
    return this.#handedOver.promise;
  }

  async handOver(): Promise<void> {
    this.hasHandedOver = true;
    await this.#release?.();
    this.#handedOver.resolve();
  }

  endLooking(): void {
    this.#handedOver.resolve();
  }

  /** Waits for the lead, and leads until it is lost or given up. @throws when etcd does not answer, or the term fails. */
  async term(lead: Lead, closed: AbortSignal): Promise<void> {
    await this.look(closed);
    if (closed.aborted || this.hasHandedOver) return;
    const { etcd, candidate, proof, fitness } = this.#options;
    if (!fitness.isFit()) {
      await pause(UNFIT_MS, closed);
      return;
    }
    const ttlMs = Math.max(1_000, etcd.leaseTtlMs);
    const takenMs = performance.now();
    if (!(await proof.take(false))) {
      // Another one leads, which etcd does not know: it cannot reach it.
      await this.learn();
      await pause(RETRY_MS, closed);
      return;
    }
    const lost = new AbortController();
    const close = (): void => lost.abort(closed.reason);
    closed.addEventListener('abort', close, { once: true });
    const giveUp = (message = 'this coordinator has lost the lead to another one'): void =>
      lost.abort(new SkeinError('NOT_ACTIVE', message));
    const held = new HeldKey(this.#client, { key: this.#key, candidate, ttlMs, onForeign: () => giveUp() });
    const watch = new LeadWatch({ held, proof, fitness, ttlMs, takenMs, giveUp });
    const release = async (): Promise<void> => {
      this.#release = undefined;
      watch.stop();
      // The key last: its end wakes the next one, which finds the proof free, or else asks again only after RETRY_MS.
      const released = new AbortController();
      await Promise.race([proof.release(), pause(PROOF_RELEASE_MS, released.signal)]);
      released.abort();
      await held.release();
    };
    this.#release = release;
    try {
      if (!(await held.take()) || lost.signal.aborted || this.hasHandedOver) return;
      this.#leader = undefined;
      await lead(lost.signal, () => etcd.log.info({ key: this.#key }, 'leading'));
    } finally {
      closed.removeEventListener('abort', close);
      if (this.#release === release) await release();
    }
  }

  /** Asks the proof who leads, when etcd does not say. */
  async learn(): Promise<void> {
    const { candidate, proof } = this.#options;
    const found = await proof.holder().catch(() => this.#leader);
    this.#leader = found?.id === candidate.id ? undefined : found;
  }

  /** Reads who leads, until nobody does. */
  async look(closed: AbortSignal): Promise<void> {
    while (!closed.aborted && (await this.#readLeader())) await this.#keyChange(closed);
  }

  /** @returns whether somebody leads */
  async #readLeader(): Promise<boolean> {
    const found = parseCandidate(await this.#client.get(this.#key).string());
    this.#leader = found?.id === this.#options.candidate.id ? undefined : found;
    return found !== undefined;
  }

  /** Resolves when the key was deleted, or it is time to read it again. */
  async #keyChange(closed: AbortSignal): Promise<void> {
    const watcher = await this.#client.watch().key(this.#key).create();
    const over = new AbortController();
    const end = (): void => over.abort();
    watcher.on('delete', end);
    closed.addEventListener('abort', end, { once: true });
    try {
      // It may have ended before the watch began.
      if (await this.#readLeader()) await pause(LOOK_INTERVAL_MS, over.signal);
    } finally {
      closed.removeEventListener('abort', end);
      await watcher.cancel().catch(() => undefined);
    }
  }
}

type Watched = {
  readonly held: HeldKey;
  readonly proof: LeadProof;
  readonly ttlMs: number;
  /** When the proof was asked for. */
  readonly takenMs: number;
  readonly fitness: Fitness;
  readonly giveUp: (message?: string) => void;
};

/** Renews the proof, and gives the lead up when neither it nor etcd's lease was renewed in time, or another one has taken it. */
class LeadWatch {
  readonly #watched: Watched;
  readonly #timers: readonly NodeJS.Timeout[];
  /** Fires when the lead has not been proven for its time. */
  #ending: NodeJS.Timeout | undefined;
  #provenUntilMs: number;
  #renewing = false;

  constructor(watched: Watched) {
    this.#watched = watched;
    const { ttlMs, takenMs } = watched;
    this.#provenUntilMs = takenMs + ttlMs * RELIED_PART;
    this.#timers = [
      setInterval(() => void this.#renew(), ttlMs / RENEWALS),
      setInterval(() => this.#check(), ttlMs / CHECKS),
    ];
    this.#ending = setTimeout(() => this.#endInTime(), ttlMs * RELIED_PART);
  }

  stop(): void {
    for (const timer of this.#timers) clearInterval(timer);
    clearTimeout(this.#ending);
  }

  #check(): void {
    const { fitness, giveUp } = this.#watched;
    if (fitness.yields()) giveUp('this coordinator reaches no catalog, and leaves the lead to another one');
  }

  #endInTime(): void {
    const { held, giveUp } = this.#watched;
    const leftMs = Math.max(this.#provenUntilMs, held.heldUntilMs) - performance.now();
    if (leftMs <= 0) giveUp();
    else this.#ending = setTimeout(() => this.#endInTime(), leftMs);
  }

  async #renew(): Promise<void> {
    if (this.#renewing) return;
    this.#renewing = true;
    const askedMs = performance.now();
    try {
      if (await this.#watched.proof.renew()) this.#provenUntilMs = askedMs + this.#watched.ttlMs * RELIED_PART;
      else this.#watched.giveUp();
    } catch {
      // Its place does not answer: the lease of etcd has to prove the lead.
    } finally {
      this.#renewing = false;
    }
  }
}

const pause = (ms: number, signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    const end = (): void => {
      clearTimeout(timer);
      signal.removeEventListener('abort', end);
      resolve();
    };
    const timer = setTimeout(end, ms);
    signal.addEventListener('abort', end);
    if (signal.aborted) end();
  });
