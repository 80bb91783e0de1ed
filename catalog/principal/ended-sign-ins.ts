import type { Clock } from '#shared/clock.ts';
import { EXPIRY_TOLERANCE_MS } from '#shared/authorization/token-claims.ts';
import { endedSignIns, type EndedSignIn } from '../store/postgres/app-sign-in-store.ts';
import type { Notifications } from '../store/postgres/notifications.ts';
import type { Database } from '../store/postgres/tables.ts';

type Listener = (ended: readonly EndedSignIn[]) => void;

/**
 * Keeps in memory which sign-ins of people have ended before their time, until their last tokens are over. Postgres notifies every process
 * of each; while the connection is lost, and once after it is back, all are read again.
 */
export class EndedSignIns {
  readonly #db: Database;
  readonly #clock: Clock;
  readonly #untilMs = new Map<string, number>();
  readonly #listeners = new Set<Listener>();

  /** All are known once the notifications have started. */
  constructor(db: Database, notifications: Notifications, clock: Clock) {
    this.#db = db;
    this.#clock = clock;
    notifications.follow({
      channel: 'skein_ended_sign_in',
      notified: (payload) => {
        const { id, until } = JSON.parse(payload) as { readonly id: string; readonly until: number };
        this.#add([{ id, untilMs: until }]);
      },
      catchUp: async () => this.#add(await endedSignIns(this.#db)),
    });
  }

  has(id: string): boolean {
    return this.#untilMs.has(id);
  }

  /** Calls `listener` with all at once, then with every further one, until the returned function is called. */
  watch(listener: Listener): () => void {
    listener([...this.#untilMs].map(([id, untilMs]) => ({ id, untilMs })));
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  #add(ended: readonly EndedSignIn[]): void {
    const nowMs = this.#clock.nowMs() - EXPIRY_TOLERANCE_MS;
    for (const [id, untilMs] of this.#untilMs) if (untilMs < nowMs) this.#untilMs.delete(id);
    const news = ended.filter(({ id }) => !this.#untilMs.has(id));
    for (const { id, untilMs } of news) this.#untilMs.set(id, untilMs);
    if (news.length > 0) for (const listener of this.#listeners) listener(news);
  }
}
