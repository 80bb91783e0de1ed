import { SkeinError } from '#shared/error.ts';
import { isRolledBack } from './errors.ts';
import { whileHolding } from './on-behalf-of.ts';
import type { Database, Tx } from './tables.ts';

/**
 * Runs the change of a request in a transaction, together with the rows that belong to it: a request with an `Idempotency-Key` gets that
 * key's row written in the same transaction. Functions that make such a change receive the unit as an argument.
 */
export type UnitOfWork = {
  /**
   * Runs `work` in one transaction. `answerOf` prints the answer to the request when the answer may be stored with its key.
   * @throws COMMIT_STATE_UNKNOWN when the connection broke during COMMIT; otherwise the error of `work`, and nothing was changed.
   */
  transact<T>(work: (tx: Tx) => Promise<T>, answerOf?: (result: T) => string): Promise<T>;
};

/** Runs `work` in one transaction. @throws as `UnitOfWork.transact` */
export async function transact<T>(db: Database, work: (tx: Tx) => Promise<T>): Promise<T> {
  let worked = false;
  try {
    return await db.transaction().execute(async (tx) => {
      const result = await whileHolding(() => work(tx));
      worked = true;
      return result;
    });
  } catch (error) {
    if (!worked || isRolledBack(error)) throw error;
    throw new SkeinError('COMMIT_STATE_UNKNOWN', "the catalog's metadata store went away during the commit", {
      cause: error,
    });
  }
}

/** A unit that writes nothing besides the change. */
export const plainUnit = (db: Database): UnitOfWork => ({ transact: (work) => transact(db, work) });
