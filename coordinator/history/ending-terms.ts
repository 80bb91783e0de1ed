import { sql, type Kysely, type RawBuilder } from 'kysely';
import type { Logger } from '#shared/log/logger.ts';
import type { HistoryDatabase } from './history-database.ts';

/** Notes that a term was handed over and its statements go on, for so long at most. @throws when Postgres does not answer */
export async function beginEnding(db: Kysely<HistoryDatabase>, epoch: number, timeoutMs: number): Promise<void> {
  await sql`
    insert into coordinator.ending_terms (epoch, until)
    values (${epoch}, clock_timestamp() + ${timeoutMs} * interval '1 millisecond')
    on conflict (epoch) do update set until = excluded.until`.execute(db);
}

/**
 * Whether a term goes on, as a condition of a statement that must not happen after it: the row of the lead is locked against one that takes it
 * at the same time, and not against its renewal.
 */
export const termGoesOn = (epoch: number): RawBuilder<boolean> => sql<boolean>`(
  exists (select from coordinator.lead where epoch = ${epoch}::bigint for key share)
  or exists (select from coordinator.ending_terms where epoch = ${epoch}::bigint and until >= clock_timestamp()))`;

/** Notes that nothing of a term goes on. @throws when Postgres does not answer */
export async function endTerm(db: Kysely<HistoryDatabase>, epoch: number): Promise<void> {
  await sql`delete from coordinator.ending_terms where epoch = ${epoch} or until < clock_timestamp()`.execute(db);
}

async function endingTerms(db: Kysely<HistoryDatabase>, before: number): Promise<readonly number[]> {
  const { rows } = await sql<{ epoch: string }>`
    select epoch from coordinator.ending_terms
    where epoch < ${before} and until >= clock_timestamp() order by epoch`.execute(db);
  return rows.map(({ epoch }) => Number(epoch));
}

/** Interval at which a coordinator looks whether the terms before its own have ended. */
const LOOK_INTERVAL_MS = 500;

type Options = {
  readonly db: Kysely<HistoryDatabase>;
  readonly epoch: number;
  /** Ends what coordinators of earlier epochs have left, but for those that go on. */
  readonly takeOver: (ending: readonly number[]) => Promise<void>;
  readonly log: Logger;
};

/**
 * The terms before this one. Most ended when their coordinator died; those that were handed over go on beside this one
 * (`coordinator.ending_terms`) until their row is gone or its time is over, and what they have left is taken over then.
 */
export class EarlierTerms implements Disposable {
  readonly #options: Options;
  #timer: NodeJS.Timeout | undefined;
  #ending: readonly number[] = [];
  #closed = false;

  constructor(options: Options) {
    this.#options = options;
  }

  /** Epochs of terms that go on. */
  get ending(): readonly number[] {
    return this.#ending;
  }

  /** @throws when Postgres does not answer */
  async start(): Promise<void> {
    const { db, epoch, takeOver, log } = this.#options;
    this.#ending = await endingTerms(db, epoch);
    if (this.#ending.length > 0) log.info({ ending: this.#ending }, 'statements of an earlier term go on');
    await takeOver(this.#ending);
    this.#lookLater();
  }

  [Symbol.dispose](): void {
    this.#closed = true;
    clearTimeout(this.#timer);
  }

  #lookLater(): void {
    if (this.#closed || this.#ending.length === 0) return;
    this.#timer = setTimeout(() => void this.#look(), LOOK_INTERVAL_MS).unref();
  }

  async #look(): Promise<void> {
    const { db, epoch, takeOver, log } = this.#options;
    try {
      const ending = await endingTerms(db, epoch);
      if (ending.length < this.#ending.length && !this.#closed) {
        await takeOver(ending);
        this.#ending = ending;
      }
    } catch (error) {
      log.warn({ err: error }, 'what an earlier term has left is taken over later');
    }
    this.#lookLater();
  }
}
