import { sql, type Kysely } from 'kysely';
import type { Principal } from '#shared/authorization/principal.ts';
import { SkeinError } from '#shared/error.ts';
import { endRecord } from '../history/end-record.ts';
import { termGoesOn } from '../history/ending-terms.ts';
import type { HistoryDatabase } from '../history/history-database.ts';

/** A write that has begun: what a coordinator needs to end it for one that died. */
export type WriteIntent = {
  readonly writeId: string;
  /** Id of the statement's history record. */
  readonly recordId: string;
  readonly principal: Principal;
  /** Key of the commit's last attempt. All earlier attempts have been refused. */
  readonly key: string;
  readonly places: WritePlaces;
  /**
   * Names of the data files of the commit when others may lie beside them; null = there are no others, or the commit has not begun. They are
   * unique by themselves; the rest of a location may be spelled in another way by a storage.
   */
  readonly files: readonly string[] | null;
};

/** Where the files of a write lie. */
type WritePlaces = {
  /** Folder of its data files, and of no other file. */
  readonly data: string;
  /** Folder of the table's metadata files; those of the write have its id in their names. */
  readonly metadata: string;
};

/** Intents in `coordinator.write_intents`, as the coordinator of one epoch keeps them. */
export class WriteIntents {
  readonly #db: Kysely<HistoryDatabase>;
  readonly #epoch: number;

  constructor(db: Kysely<HistoryDatabase>, epoch: number) {
    this.#db = db;
    this.#epoch = epoch;
  }

  /**
   * Notes a write, if the term of this coordinator goes on.
   * @throws NOT_ACTIVE when another coordinator leads, CATALOG_UNAVAILABLE when Postgres does not answer
   */
  async add({ writeId, recordId, principal, key, places }: Omit<WriteIntent, 'files'>): Promise<void> {
    const epoch = this.#epoch;
    const insert = sql`
      insert into coordinator.write_intents (write_id, record_id, principal, commit_key, places, epoch, begun_at)
      select ${writeId}::uuid, ${recordId}::uuid, ${JSON.stringify(principal)}, ${key}::uuid, ${JSON.stringify(places)},
        ${epoch}::bigint, ${new Date()}::timestamptz
      where ${termGoesOn(epoch)}`;
    const { numAffectedRows } = await answered(insert.execute(this.#db));
    if (numAffectedRows !== 1n) throw new SkeinError('NOT_ACTIVE', 'another coordinator has taken the lead');
  }

  /**
   * Sets the key of the next attempt to commit these writes, of all or of none that this coordinator has.
   * @throws NOT_ACTIVE when a later coordinator has taken one of them over, CATALOG_UNAVAILABLE
   */
  setKey(writeIds: readonly string[], key: string): Promise<void> {
    return this.#set(writeIds, { commit_key: key });
  }

  /** @throws NOT_ACTIVE when a later coordinator has taken it over, CATALOG_UNAVAILABLE */
  setFiles(writeId: string, files: readonly string[]): Promise<void> {
    return this.#set([writeId], { files: JSON.stringify(files) });
  }

  async remove(writeId: string): Promise<void> {
    await this.#db.deleteFrom('write_intents').where('write_id', '=', writeId).execute();
  }

  /** Ids of all writes. @throws CATALOG_UNAVAILABLE when Postgres does not answer */
  async ids(): Promise<ReadonlySet<string>> {
    const rows = await answered(this.#db.selectFrom('write_intents').select('write_id').execute());
    return new Set(rows.map(({ write_id }) => write_id));
  }

  /** Takes over the writes of earlier epochs, but for those of `ending`: from now on their coordinators get no new key. */
  async takeOver(ending: readonly number[]): Promise<readonly WriteIntent[]> {
    let update = this.#db.updateTable('write_intents').set({ epoch: this.#epoch }).where('epoch', '<', this.#epoch);
    if (ending.length > 0) update = update.where('epoch', 'not in', ending);
    const rows = await update.returningAll().execute();
    return rows.map((row) => ({
      writeId: row.write_id,
      recordId: row.record_id,
      principal: JSON.parse(row.principal) as Principal,
      key: row.commit_key,
      places: JSON.parse(row.places) as WritePlaces,
      files: row.files === null ? null : (JSON.parse(row.files) as readonly string[]),
    }));
  }

  async #set(
    writeIds: readonly string[],
    values: { readonly commit_key: string } | { readonly files: string },
  ): Promise<void> {
    const change = this.#db
      .updateTable('write_intents')
      .set(values)
      .where('write_id', 'in', writeIds)
      .where('epoch', '=', this.#epoch);
    const { numUpdatedRows } = await answered(change.executeTakeFirstOrThrow());
    if (numUpdatedRows !== BigInt(writeIds.length)) {
      throw new SkeinError('NOT_ACTIVE', 'another coordinator has taken the write over');
    }
  }

  /** Ends the history record of a write whose coordinator died; without a failure it was completed. */
  record(recordId: string, failure: SkeinError | null): Promise<void> {
    return endRecord(this.#db, { recordId, epoch: this.#epoch }, failure);
  }
}

async function answered<T>(work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (cause) {
    throw new SkeinError('CATALOG_UNAVAILABLE', 'the coordinator cannot note the write in its database', { cause });
  }
}
