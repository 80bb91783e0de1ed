import { SkeinError } from '#shared/error.ts';
import { isUuid } from '#shared/id.ts';
import { sessionText, type SessionKey } from '../../session/session-store.ts';

/**
 * The transactions that clients have begun by an action, by their sessions, so that they end with these. Each is known by its id, beside its
 * session: several may be open, and statements that name none run outside of them.
 */
export class FlightTransactions {
  /** The session that has begun one least recently comes first. */
  readonly #bySession = new Map<string, Set<string>>();
  readonly #perSessionMax: number;
  readonly #sessionsMax: number;

  /** Beyond these numbers the oldest are forgotten: those that nobody has ended are rolled back by their timeout. */
  constructor({ perSessionMax, sessionsMax }: { readonly perSessionMax: number; readonly sessionsMax: number }) {
    this.#perSessionMax = perSessionMax;
    this.#sessionsMax = sessionsMax;
  }

  add(session: SessionKey, id: string): void {
    const text = sessionText(session);
    const ids = this.#bySession.get(text) ?? new Set<string>();
    this.#bySession.delete(text);
    this.#bySession.set(text, ids.add(id));
    if (ids.size > this.#perSessionMax) ids.delete(firstOf(ids));
    if (this.#bySession.size > this.#sessionsMax) this.#bySession.delete(firstOf(this.#bySession.keys()));
  }

  remove(session: SessionKey, id: string): void {
    const text = sessionText(session);
    const ids = this.#bySession.get(text);
    ids?.delete(id);
    if (ids?.size === 0) this.#bySession.delete(text);
  }

  /**
   * The transaction that a prepared statement runs in: that in which it was prepared, and once that has ended, the only one of its session,
   * because drivers go on with their statements in the next one; undefined = outside of any.
   */
  current(session: SessionKey, prepared: SessionKey | undefined): SessionKey | undefined {
    if (prepared === undefined) return undefined;
    const keys = [...(this.#bySession.get(sessionText(session)) ?? [])].map((id) => transactionKey(session, id));
    return keys.find(({ id }) => id === prepared.id) ?? (keys.length === 1 ? keys[0] : undefined);
  }

  /** The ids of a session's transactions, which are forgotten. */
  take(session: SessionKey): readonly string[] {
    const text = sessionText(session);
    const ids = [...(this.#bySession.get(text) ?? [])];
    this.#bySession.delete(text);
    return ids;
  }
}

const firstOf = (texts: Iterable<string>): string => Iterator.from(texts).next().value ?? '';

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
