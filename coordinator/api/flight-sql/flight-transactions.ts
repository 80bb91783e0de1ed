import { randomUUID } from 'node:crypto';
import { SkeinError } from '#shared/error.ts';
import { isUuid } from '#shared/id.ts';
import { sessionText, type SessionKey } from '../../session/session-store.ts';
import type { FlightDoor } from './flight-door.ts';
import { runToEnd } from './run-statement.ts';
import type { Visit } from './visit.ts';

/**
 * The transactions that clients have begun by an action. Each is known by its id, beside its session: several may be open, and statements that
 * name none run outside of them. An id is worth something to its principal only, because the key has the principal in it.
 */
export class FlightTransactions {
  /** Ids of the open transactions by their sessions, so that they end with these. */
  readonly #bySession = new Map<string, Set<string>>();

  /** Begins a transaction; answers its id. @throws QUEUE_FULL */
  async begin(door: FlightDoor, visit: Visit): Promise<string> {
    const id = randomUUID();
    await runToEnd(door, visit, { sql: 'BEGIN', parameters: null, transaction: keyOf(visit, id) });
    const session = sessionText(visit.session);
    const ids = this.#bySession.get(session) ?? new Set();
    this.#bySession.set(session, ids.add(id));
    return id;
  }

  /** @throws NO_TRANSACTION, COMMIT_CONFLICT and the other errors of COMMIT */
  async end(
    door: FlightDoor,
    visit: Visit,
    ending: { readonly id: Uint8Array; readonly commits: boolean },
  ): Promise<void> {
    const transaction = transactionOf(visit, ending.id);
    this.#forget(sessionText(visit.session), Buffer.from(ending.id).toString());
    await runToEnd(door, visit, { sql: ending.commits ? 'COMMIT' : 'ROLLBACK', parameters: null, transaction });
  }

  /** Rolls back what a session has left open. */
  async endAll(door: FlightDoor, visit: Visit): Promise<void> {
    const session = sessionText(visit.session);
    const ids = this.#bySession.get(session) ?? new Set();
    this.#bySession.delete(session);
    await Promise.all([...ids].map((id) => door.queries.endSession(keyOf(visit, id))));
  }

  #forget(session: string, id: string): void {
    const ids = this.#bySession.get(session);
    ids?.delete(id);
    if (ids?.size === 0) this.#bySession.delete(session);
  }
}

/** The key of the transaction that a command names; undefined when it names none. @throws NO_TRANSACTION */
export function transactionOf(visit: Visit, id: Uint8Array | undefined): SessionKey | undefined {
  if (id === undefined || id.length === 0) return undefined;
  const text = Buffer.from(id).toString();
  if (isUuid(text)) return keyOf(visit, text);
  throw new SkeinError('NO_TRANSACTION', 'there is no such transaction, or it has ended');
}

const keyOf = ({ session: { tenant, principal } }: Visit, id: string): SessionKey => ({
  tenant,
  principal,
  kind: 'named',
  id: `flight-transaction-${id}`,
});
