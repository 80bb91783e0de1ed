import { SkeinError } from '#shared/error.ts';
import { isRolledBack } from './errors.ts';
import type { Database, Tx } from './tables.ts';

/**
 * Makes the change that a request asks for, with all that has to be written with it: a request that carries an `Idempotency-Key` has
 * that key's row written in the same transaction. Whoever makes such a change gets it as an argument.
 */
export type UnitOfWork = {
  /**
   * Runs `work` in one transaction. `answerOf` prints the answer to the request, where it may be kept with its key.
   * @throws COMMIT_STATE_UNKNOWN when the connection broke while Postgres was to commit; else what `work` throws, and nothing was changed.
   */
  transact<T>(work: (tx: Tx) => Promise<T>, answerOf?: (result: T) => string): Promise<T>;
};

/** Runs `work` in one transaction. @throws as `UnitOfWork.transact` */
export async function transact<T>(db: Database, work: (tx: Tx) => Promise<T>): Promise<T> {
  let worked = false;
  try {
    return await db.transaction().execute(async (tx) => {
      const result = await work(tx);
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

/** A change with which nothing else is written. */
export const plainUnit = (db: Database): UnitOfWork => ({ transact: (work) => transact(db, work) });
