import { sql, type Kysely } from 'kysely';
import { SkeinError } from '#shared/error.ts';
import { endRecord } from '../history/end-record.ts';
import { termGoesOn } from '../history/ending-terms.ts';
import type { HistoryDatabase } from '../history/history-database.ts';

/** An unload that has begun: what a coordinator needs to end it for one that died. */
export type UnloadIntent = {
  readonly uploadId: string;
  /** Id of the statement's history record. */
  readonly recordId: string;
  /** Location of the stage. */
  readonly stage: string;
  /** The files, and the paths that they get; null = it is not decided yet that they get them. */
  readonly names: readonly UnloadName[] | null;
};

/** `file`: in the folder of the upload. */
export type UnloadName = { readonly file: string; readonly path: string };

/** Intents in `coordinator.unload_intents`, as the coordinator of one epoch keeps them. */
export class UnloadIntents {
  readonly #db: Kysely<HistoryDatabase>;
  readonly #epoch: number;

  constructor(db: Kysely<HistoryDatabase>, epoch: number) {
    this.#db = db;
    this.#epoch = epoch;
  }

  /**
   * Notes an unload, if the term of this coordinator goes on.
   * @throws NOT_ACTIVE when another coordinator leads, CATALOG_UNAVAILABLE when Postgres does not answer
   */
  async add({ uploadId, recordId, stage }: Omit<UnloadIntent, 'names'>): Promise<void> {
    const epoch = this.#epoch;
    const insert = sql`
      insert into coordinator.unload_intents (upload_id, record_id, stage, epoch, begun_at)
      select ${uploadId}::uuid, ${recordId}::uuid, ${stage}::text, ${epoch}::bigint, ${new Date()}::timestamptz
      where ${termGoesOn(epoch)}`;
    const { numAffectedRows } = await insert.execute(this.#db).catch((cause: unknown) => {
      throw new SkeinError('CATALOG_UNAVAILABLE', 'the coordinator cannot note the unload in its database', { cause });
    });
    if (numAffectedRows !== 1n) throw new SkeinError('NOT_ACTIVE', 'another coordinator has taken the lead');
  }

  /**
   * Decides that the files get these names.
   * @throws NOT_ACTIVE when another coordinator leads, or has taken the unload over: it is not decided; COMMIT_STATE_UNKNOWN without an answer
   */
  async decide(uploadId: string, names: readonly UnloadName[]): Promise<void> {
    const change = this.#db
      .updateTable('unload_intents')
      .set({ names: JSON.stringify(names) })
      .where('upload_id', '=', uploadId)
      .where('epoch', '=', this.#epoch)
      .where(termGoesOn(this.#epoch));
    const { numUpdatedRows } = await change.executeTakeFirstOrThrow().catch((cause: unknown) => {
      throw new SkeinError('COMMIT_STATE_UNKNOWN', 'the database has not said whether the files get their names', {
        cause,
      });
    });
    if (numUpdatedRows === 0n) throw new SkeinError('NOT_ACTIVE', 'another coordinator has taken the unload over');
  }

  /** Ends an unload that is not decided, and says whether it was. @returns the names of one that is decided; null for any other */
  async end(uploadId: string): Promise<UnloadIntent['names']> {
    await this.#db.deleteFrom('unload_intents').where('upload_id', '=', uploadId).where('names', 'is', null).execute();
    const row = await this.#db
      .selectFrom('unload_intents')
      .select('names')
      .where('upload_id', '=', uploadId)
      .executeTakeFirst();
    return namesOf(row?.names ?? null);
  }

  async remove(uploadId: string): Promise<void> {
    await this.#db.deleteFrom('unload_intents').where('upload_id', '=', uploadId).execute();
  }

  /** Takes over the unloads of earlier epochs, but for those of `ending`: from now on their coordinators decide nothing. */
  async takeOver(ending: readonly number[]): Promise<readonly UnloadIntent[]> {
    let update = this.#db.updateTable('unload_intents').set({ epoch: this.#epoch }).where('epoch', '<', this.#epoch);
    if (ending.length > 0) update = update.where('epoch', 'not in', ending);
    const rows = await update.returningAll().execute();
    return rows.map((row) => ({
      uploadId: row.upload_id,
      recordId: row.record_id,
      stage: row.stage,
      names: namesOf(row.names),
    }));
  }

  /** Ends the history record of an unload whose coordinator died; without a failure it was completed. */
  record(recordId: string, failure: SkeinError | null): Promise<void> {
    return endRecord(this.#db, { recordId, epoch: this.#epoch }, failure);
  }
}

const namesOf = (text: string | null): UnloadIntent['names'] =>
  text === null ? null : (JSON.parse(text) as readonly UnloadName[]);
