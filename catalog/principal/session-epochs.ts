import { principalId, type PrincipalId } from '#shared/id.ts';
import type { Notifications } from '../store/postgres/notifications.ts';
import { EPOCH_OF_DROPPED, sessionEpochs } from '../store/postgres/principal-store.ts';
import type { Database } from '../store/postgres/tables.ts';

export type EpochChange = {
  readonly principal: PrincipalId;
  readonly epoch: number;
  /** It is suspended or dropped, or the identity provider that signs it in is: the statements that it runs end. */
  readonly stopped: boolean;
};
type Listener = (changes: readonly EpochChange[]) => void;

/**
 * Caches the session epochs of all principals in memory; every request compares its token's epoch with them. Postgres notifies every
 * process of each change. While the connection is lost, and once after it is back, all epochs are read again.
 */
export class SessionEpochs {
  readonly #db: Database;
  readonly #epochs = new Map<PrincipalId, Omit<EpochChange, 'principal'>>();
  readonly #listeners = new Set<Listener>();

  /** All epochs are known once the notifications have started. */
  constructor(db: Database, notifications: Notifications) {
    this.#db = db;
    notifications.follow({
      channel: 'skein_session_epoch',
      notified: (payload) => this.#notified(payload),
      catchUp: () => this.#readAll(),
    });
  }

  of(principal: PrincipalId): number {
    return this.#epochs.get(principal)?.epoch ?? 0;
  }

  /** Calls `listener` with all epochs above 0 at once, then with every change, until the returned function is called. */
  watch(listener: Listener): () => void {
    listener([...this.#epochs].map(([principal, change]) => ({ principal, ...change })));
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  async #readAll(): Promise<void> {
    this.#apply([...(await sessionEpochs(this.#db))].map(([principal, change]) => ({ principal, ...change })));
  }

  #notified(payload: string): void {
    const { principal, epoch, stopped } = JSON.parse(payload) as {
      readonly principal: string;
      readonly epoch: number;
      /** Absent for a principal that was deleted, and from a database of the release before. */
      readonly stopped?: boolean;
    };
    this.#apply([{ principal: principalId(principal), epoch, stopped: stopped ?? epoch === EPOCH_OF_DROPPED }]);
  }

  #apply(changes: readonly EpochChange[]): void {
    const news = changes.filter(({ principal, epoch }) => epoch > this.of(principal));
    for (const { principal, ...change } of news) this.#epochs.set(principal, change);
    if (news.length > 0) for (const listener of this.#listeners) listener(news);
  }
}
