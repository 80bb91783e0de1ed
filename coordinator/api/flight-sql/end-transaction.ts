import { randomUUID } from 'node:crypto';
import type { SessionKey } from '../../session/session-store.ts';
import type { FlightDoor } from './flight-door.ts';
import { transactionKey, transactionOf } from './flight-transactions.ts';
import { runToEnd } from './run-statement.ts';
import type { Visit } from './visit.ts';

/** Begins a transaction; answers its id. @throws QUEUE_FULL */
export async function beginTransaction(door: FlightDoor, visit: Visit): Promise<string> {
  const id = randomUUID();
  await runToEnd(door, visit, { sql: 'BEGIN', parameters: null, transaction: transactionKey(visit.session, id) });
  door.transactions.add(visit.session, id);
  return id;
}

/** @throws NO_TRANSACTION, COMMIT_CONFLICT and the other errors of COMMIT */
export async function endTransaction(door: FlightDoor, visit: Visit, id: Uint8Array, commits: boolean): Promise<void> {
  const transaction = transactionOf(visit.session, id);
  door.transactions.remove(visit.session, Buffer.from(id).toString());
  await runToEnd(door, visit, { sql: commits ? 'COMMIT' : 'ROLLBACK', parameters: null, transaction });
}

/** Does the work in a transaction of its own. @throws what the work and COMMIT throw */
export async function inTransaction<T>(
  door: FlightDoor,
  visit: Visit,
  work: (transaction: SessionKey) => Promise<T>,
): Promise<T> {
  const id = await beginTransaction(door, visit);
  try {
    const done = await work(transactionKey(visit.session, id));
    await endTransaction(door, visit, Buffer.from(id), true);
    return done;
  } catch (error) {
    await endTransaction(door, visit, Buffer.from(id), false).catch(() => undefined);
    throw error;
  }
}

/** Ends a session with all that it has open. */
export async function closeSession(
  { queries, transactions, prepared }: Pick<FlightDoor, 'queries' | 'transactions' | 'prepared'>,
  session: SessionKey,
): Promise<void> {
  prepared.removeAll(session);
  const ids = transactions.take(session);
  await Promise.all(ids.map((id) => queries.endSession(transactionKey(session, id))));
  await queries.endSession(session);
}
