import { SkeinError } from '#shared/error.ts';
import { isUuid } from '#shared/id.ts';
import { sessionText, type SessionKey } from '../../session/session-store.ts';

/**
 * The transactions that clients have begun by an action, by their sessions, so that they end with these. Each is known by its id, beside its
 * session: several may be open, and statements that name none run outside of them.
 */
export class FlightTransactions {
  readonly #bySession = new Map<string, Set<string>>();

  add(session: SessionKey, id: string): void {
    const text = sessionText(session);
    const ids = this.#bySession.get(text) ?? new Set();
    this.#bySession.set(text, ids.add(id));
  }

  remove(session: SessionKey, id: string): void {
    const text = sessionText(session);
    const ids = this.#bySession.get(text);
    ids?.delete(id);
    if (ids?.size === 0) this.#bySession.delete(text);
  }

  /** The ids of a session's transactions, which are forgotten. */
  take(session: SessionKey): readonly string[] {
    const text = sessionText(session);
    const ids = [...(this.#bySession.get(text) ?? [])];
    this.#bySession.delete(text);
    return ids;
  }
}

/** The key of the transaction that a command names; undefined when it names none. @throws NO_TRANSACTION */
export function transactionOf(session: SessionKey, id: Uint8Array | undefined): SessionKey | undefined {
  if (id === undefined || id.length === 0) return undefined;
  const text = Buffer.from(id).toString();
  if (isUuid(text)) return transactionKey(session, text);
  throw new SkeinError('NO_TRANSACTION', 'there is no such transaction, or it has ended');
}

/** A transaction's key. It has the principal in it, so an id is worth nothing to others. */
export const transactionKey = ({ tenant, principal }: SessionKey, id: string): SessionKey => ({
  tenant,
  principal,
  kind: 'named',
  id: `flight-transaction-${id}`,
});
