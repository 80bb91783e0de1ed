import { setTimeout as sleep } from 'node:timers/promises';
import type { Etcd3, Lease } from 'etcd3';
import { SkeinError } from '#shared/error.ts';
import type { Election, Lead } from './election.ts';
import { etcdClient, type EtcdOptions } from './etcd-membership.ts';

/** Interval at which a candidate reads the key while another one leads: a watch reports changes sooner, but may be lost. */
const LOOK_INTERVAL_MS = 2_000;
/** Time for etcd to revoke a lease; otherwise the lease expires by itself. */
const REVOKE_TIMEOUT_MS = 1_000;
/** Pause after etcd did not answer, or after a term could not start. */
const RETRY_MS = 1_000;

/**
 * Elects a leader: the process that has put the key `<prefix>leader/<name>` under its lease.
 * ```
 * waiting ──key is free──> leading ──lease lost, or not renewed for its time to live──> waiting
 * ```
 * A leader that cannot reach etcd gives up no later than its lease ends, by its own clock.
 */
export function etcdElection(options: EtcdOptions, name: string, id: string, lead: Lead): Election {
  const client = etcdClient(options);
  const closed = new AbortController();
  const campaign = new Campaign(client, options, { key: `${options.prefix}leader/${name}`, id });
  const run = async (): Promise<void> => {
    while (!closed.signal.aborted) {
      try {
        await campaign.term(lead, closed.signal);
      } catch (error) {
        if (!closed.signal.aborted) options.log.warn({ err: error }, 'the election is tried again');
        await sleep(RETRY_MS, undefined, { signal: closed.signal }).catch(() => undefined);
      }
    }
  };
  const running = run();
  return {
    started: Promise.resolve(),
    close: async () => {
      closed.abort(new SkeinError('QUERY_CANCELLED', 'the coordinator is shutting down'));
      await running;
      client.close();
    },
  };
}

class Campaign {
  readonly #client: Etcd3;
  readonly #options: EtcdOptions;
  readonly #candidate: { readonly key: string; readonly id: string };

  constructor(client: Etcd3, options: EtcdOptions, candidate: { readonly key: string; readonly id: string }) {
    this.#client = client;
    this.#options = options;
    this.#candidate = candidate;
  }

  /** Waits for the lead, and leads until it is lost or given up. @throws when etcd does not answer, or the term fails. */
  async term(lead: Lead, closed: AbortSignal): Promise<void> {
    await this.#untilFree(closed);
    if (closed.aborted) return;
    const { key, id } = this.#candidate;
    const ttlMs = Math.max(1_000, this.#options.leaseTtlMs);
    // Read before the request, because the lease may begin at any moment after it.
    const askedMs = performance.now();
    const lease = this.#client.lease(Math.ceil(ttlMs / 1000));
    const lost = new AbortController();
    const close = (): void => lost.abort(closed.reason);
    closed.addEventListener('abort', close, { once: true });
    const watchdog = watchLease(lease, { ttlMs, askedMs, lost });
    try {
      const put = this.#client
        .put(key)
        .value(id)
        .lease(await lease.grant());
      const { succeeded } = await this.#client.if(key, 'Create', '==', 0).then(put).commit();
      if (!succeeded || lost.signal.aborted) return;
      await lead(lost.signal, () => this.#options.log.info({ key }, 'leading'));
    } finally {
      watchdog();
      closed.removeEventListener('abort', close);
      // With the lease revoked, the next one leads at once instead of after the lease's expiry.
      await Promise.race([lease.revoke().catch(() => undefined), sleep(REVOKE_TIMEOUT_MS)]);
      lease.release();
    }
  }

  async #untilFree(closed: AbortSignal): Promise<void> {
    const { key } = this.#candidate;
    while (!closed.aborted && (await this.#client.get(key).string()) !== null) {
      const watcher = await this.#client.watch().key(key).create();
      const freed = new Promise<void>((resolve) => void watcher.on('delete', () => resolve()));
      const wait = new AbortController();
      const stop = (): void => wait.abort();
      closed.addEventListener('abort', stop, { once: true });
      await Promise.race([freed, sleep(LOOK_INTERVAL_MS, undefined, { signal: wait.signal }).catch(() => undefined)]);
      closed.removeEventListener('abort', stop);
      stop();
      await watcher.cancel().catch(() => undefined);
    }
  }
}

/** Aborts `lost` when the lease is lost, or was not renewed in time. The returned function stops the watch. */
function watchLease(
  lease: Lease,
  { ttlMs, askedMs, lost }: { readonly ttlMs: number; readonly askedMs: number; readonly lost: AbortController },
): () => void {
  const giveUp = (): void =>
    lost.abort(new SkeinError('NOT_ACTIVE', 'this coordinator has lost the lead to another one'));
  let renewedMs = askedMs;
  let firedMs = askedMs;
  lease.on('keepaliveFired', () => (firedMs = performance.now()));
  lease.on('keepaliveSucceeded', () => (renewedMs = firedMs));
  lease.on('lost', giveUp);
  const timer = setInterval(() => {
    if (performance.now() - renewedMs > ttlMs) giveUp();
  }, ttlMs / 10);
  return () => clearInterval(timer);
}
