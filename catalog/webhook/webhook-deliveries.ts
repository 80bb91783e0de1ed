import { createHmac } from 'node:crypto';
import { promises as dns } from 'node:dns';
import { setTimeout as sleep } from 'node:timers/promises';
import { SkeinError } from '#shared/error.ts';
import type { CatalogContext } from '../context.ts';
import {
  claimDeliveries,
  endAttempt,
  forgetDeliveries,
  putOffDelivery,
  receiversWithDue,
  webhookSecretOwner,
  type ClaimedDelivery,
  type Receiver,
} from '../store/postgres/webhook-store.ts';
import { allowedAddresses } from '../outbound/allowed-addresses.ts';
import { openAuthorities, type Authorities } from '../outbound/open-authorities.ts';
import { callReceiver, type CallOptions } from './call-receiver.ts';
import { deliveryEnd } from './delivery-end.ts';

/** Longest time of one call, from the look-up of the name to the end of the answer. */
const CALL_TIMEOUT_MS = 10_000;
/** A delivery whose catalog process has not said in so long how it ended is sent again by any other. */
const CLAIM_MS = CALL_TIMEOUT_MS + 20_000;
/** Calls of one receiver at once, by one catalog process. */
const CALLS_AT_ONCE = 4;
/** Calls that wait for the same servers of DNS, each so long, so many times. */
const DNS = { timeout: 3_000, tries: 2 };
const INTERVAL_MIN_MS = 20;
/** Time between two looks for deliveries that are kept no longer. */
const FORGET_MS = 3_600_000;

type Parts = Pick<CatalogContext, 'store' | 'clock' | 'config' | 'log' | 'sealing' | 'metrics'>;

/**
 * The worker that brings events to webhooks, in every catalog process. A look finds the receivers for which something is due, and each of
 * them is served by itself, until nothing is due: one that is slow delays none but itself.
 */
export class WebhookDeliveries {
  readonly #parts: Parts;
  readonly #trust: Authorities;
  readonly #closed = new AbortController();
  readonly #options: Omit<CallOptions, 'trust'>;
  /** By the id of the receiver. */
  readonly #served = new Map<string, Promise<void>>();
  #loop: Promise<void> | undefined;
  #forgottenAtMs = Number.NEGATIVE_INFINITY;

  /** @throws INVALID_CONFIGURATION */
  constructor(parts: Parts, resolver: CallOptions['resolver'] = new dns.Resolver(DNS)) {
    this.#parts = parts;
    this.#options = {
      isAllowed: allowedAddresses(parts.config['webhook.allowed_networks']),
      resolver,
      timeoutMs: CALL_TIMEOUT_MS,
      signal: this.#closed.signal,
    };
    this.#trust = openAuthorities(parts.config, parts.log);
  }

  start(): void {
    this.#loop ??= this.#run();
  }

  /** Calls that run are cut off: what they were to deliver is sent again. */
  async close(): Promise<void> {
    this.#closed.abort();
    await this.#loop;
    await Promise.allSettled(this.#served.values());
    this.#trust[Symbol.dispose]();
  }

  async #run(): Promise<void> {
    const { config, log } = this.#parts;
    const { signal } = this.#closed;
    const pauseMs = Math.max(INTERVAL_MIN_MS, config['webhook.interval']);
    while (!signal.aborted) {
      try {
        await this.#look();
        await this.#forget();
      } catch (error) {
        if (!signal.aborted) log.warn({ err: error }, 'deliveries to webhooks cannot be looked for; it is tried again');
      }
      await sleep(pauseMs, undefined, { signal, ref: false }).catch(() => undefined);
    }
  }

  async #look(): Promise<void> {
    const { store, clock, log } = this.#parts;
    for (const receiver of await receiversWithDue(store.db, new Date(clock.nowMs()))) {
      if (this.#served.has(receiver.id)) continue;
      const served = this.#serve(receiver)
        .catch((error: unknown) => {
          if (this.#closed.signal.aborted) return;
          log.warn({ err: error, webhook: receiver.id }, 'a webhook is not served; it is tried again');
        })
        .finally(() => this.#served.delete(receiver.id));
      this.#served.set(receiver.id, served);
    }
  }

  /** Sends all that is due for a receiver. */
  async #serve(receiver: Receiver): Promise<void> {
    const { store, clock } = this.#parts;
    while (!this.#closed.signal.aborted) {
      const now = new Date(clock.nowMs());
      const until = new Date(now.getTime() + CLAIM_MS);
      const claimed = await claimDeliveries(store.db, receiver.id, { now, until, count: CALLS_AT_ONCE });
      if (claimed.length === 0) return;
      await Promise.all(claimed.map((delivery) => this.#deliver(receiver, delivery)));
    }
  }

  async #deliver({ id, url, sealedSecret }: Receiver, delivery: ClaimedDelivery): Promise<void> {
    const { store, clock, config, log, sealing, metrics } = this.#parts;
    let secret: string;
    try {
      secret = sealing.open(sealedSecret, webhookSecretOwner(id));
    } catch (error) {
      const { message } = SkeinError.of(error);
      log.error({ webhook: id, reason: message }, 'the secret of a webhook cannot be read; its deliveries wait');
      const dueAt = new Date(clock.nowMs() + CLAIM_MS);
      return putOffDelivery(store.db, delivery, 'the secret of the webhook cannot be read', dueAt);
    }
    const body = Buffer.from(delivery.body);
    const attempt = delivery.attempts + 1;
    const headers = {
      'Content-Type': 'application/json',
      'X-Service-Event-Type': delivery.eventType,
      'X-Service-Event-Id': delivery.eventId,
      'X-Service-Signature': createHmac('sha256', secret).update(body).digest('hex'),
      'X-Service-Delivery-Attempt': String(attempt),
    };
    const called = await callReceiver({ url, headers, body }, { ...this.#options, trust: this.#trust.current() });
    const end = deliveryEnd(called, attempt, new Date(clock.nowMs()), config);
    await endAttempt(store.db, delivery, end);
    metrics.webhookCalls.inc({ outcome: end.status });
  }

  async #forget(): Promise<void> {
    const { store, clock, config } = this.#parts;
    const nowMs = clock.monotonicMs();
    if (nowMs - this.#forgottenAtMs < FORGET_MS) return;
    await forgetDeliveries(store.db, new Date(clock.nowMs() - config['webhook.keep']));
    this.#forgottenAtMs = nowMs;
  }
}
