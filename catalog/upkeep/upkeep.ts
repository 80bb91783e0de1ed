import { setTimeout as sleep } from 'node:timers/promises';
import type { CatalogContext } from '../context.ts';
import { archiveUsers } from './archive-users.ts';
import { dropAuditPartitions, makeAuditPartitions } from './audit-partitions.ts';

type Parts = Pick<CatalogContext, 'store' | 'clock' | 'config' | 'log'>;

const INTERVAL_MIN_MS = 50;
/** Times between two looks at the partitions of the audit log: whether one is missing, and whether one is to go. */
const MAKE_MS = 3_600_000;
const DROP_MS = 24 * MAKE_MS;

/** The background work on principals: users who were dropped long ago are archived, and the audit log has its partitions. */
export class Upkeep {
  readonly #parts: Parts;
  readonly #closed = new AbortController();
  #loop: Promise<void> | undefined;
  #madeAtMs = Number.NEGATIVE_INFINITY;
  #droppedAtMs = Number.NEGATIVE_INFINITY;

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  start(): void {
    this.#loop ??= this.#run();
  }

  async close(): Promise<void> {
    this.#closed.abort();
    await this.#loop;
  }

  async #run(): Promise<void> {
    const { config, log } = this.#parts;
    const { signal } = this.#closed;
    const pauseMs = Math.max(INTERVAL_MIN_MS, config['catalog.background_interval']);
    while (!signal.aborted) {
      // A reader of the log may hold it for long: users are archived all the same.
      await this.#keepPartitions().catch((error: unknown) => {
        if (!signal.aborted) log.warn({ err: error }, 'the months of the audit log cannot be kept; it is tried again');
      });
      try {
        const archived = await archiveUsers(this.#parts);
        if (archived > 0) log.info({ archived }, 'dropped users were archived');
      } catch (error) {
        if (!signal.aborted) log.warn({ err: error }, 'dropped users could not be archived; it is tried again');
      }
      await sleep(pauseMs, undefined, { signal, ref: false }).catch(() => undefined);
    }
  }

  async #keepPartitions(): Promise<void> {
    const nowMs = this.#parts.clock.monotonicMs();
    if (nowMs - this.#madeAtMs >= MAKE_MS) {
      await makeAuditPartitions(this.#parts);
      this.#madeAtMs = nowMs;
    }
    if (nowMs - this.#droppedAtMs < DROP_MS) return;
    await dropAuditPartitions(this.#parts);
    this.#droppedAtMs = nowMs;
  }
}
