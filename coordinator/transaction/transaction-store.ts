import type { Kysely } from 'kysely';
import { SkeinError } from '#shared/error.ts';
import type { HistoryDatabase } from '../history/history-database.ts';

/**
 * The sessions that are in a transaction, in `coordinator.open_transactions`. A coordinator that begins learns from it which sessions were
 * in one when the coordinator before it died: their next statements must not be taken for single ones.
 */
export class TransactionStore {
  readonly #db: Kysely<HistoryDatabase>;
  readonly #epoch: number;

  constructor(db: Kysely<HistoryDatabase>, epoch: number) {
    this.#db = db;
    this.#epoch = epoch;
  }

  /** @throws CATALOG_UNAVAILABLE when Postgres does not answer */
  async add(session: string): Promise<void> {
    try {
      await this.#db
        .insertInto('open_transactions')
        .values({ session, epoch: this.#epoch, begun_at: new Date() })
        .onConflict((conflict) => conflict.column('session').doUpdateSet({ epoch: this.#epoch, begun_at: new Date() }))
        .execute();
    } catch (cause) {
      throw new SkeinError('CATALOG_UNAVAILABLE', 'the coordinator cannot note the transaction in its database', {
        cause,
      });
    }
  }

  async remove(session: string): Promise<void> {
    await this.#db.deleteFrom('open_transactions').where('session', '=', session).execute();
  }

  /** Takes over the sessions of earlier epochs, but for those of `ending`. */
  async takeOver(ending: readonly number[]): Promise<readonly string[]> {
    let update = this.#db.updateTable('open_transactions').set({ epoch: this.#epoch }).where('epoch', '<', this.#epoch);
    if (ending.length > 0) update = update.where('epoch', 'not in', ending);
    const rows = await update.returning('session').execute();
    return rows.map(({ session }) => session);
  }
}
