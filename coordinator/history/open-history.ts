import { join, resolve } from 'node:path';
import type { Kysely } from 'kysely';
import { atMost } from '#shared/at-most.ts';
import type { Config } from '#shared/config/config-schema.ts';
import type { Logger } from '#shared/log/logger.ts';
import { failOrphans, type HistoryDatabase } from './history-database.ts';
import { HistoryJournal } from './history-journal.ts';
import type { Recorded } from './history-record.ts';
import { HistoryWriter, storeLines } from './history-writer.ts';
import { storeRecords, type StoreRecords } from './store-records.ts';

/** The history of all terms of a coordinator. */
export interface History {
  readonly record: (statement: Recorded) => void;
  /** Records in memory that are not in Postgres. */
  readonly waiting: number;
  readonly journalBytes: number;
  /** Resolves when what is recorded now can be read, or after `timeMs`. */
  readonly stored: (timeMs: number) => Promise<void>;
  close(): Promise<void>;
}

/** Time that a start waits for the records that earlier processes left; the rest is stored while statements are served. */
const REPLAY_WAIT_MS = 10_000;

/** Opens the journal and stores what processes have left there that have ended. @throws START_FAILED */
export async function openHistory(config: Config, db: Kysely<HistoryDatabase>, log: Logger): Promise<History> {
  if (config['coordinator.history'] === 'off') return NO_HISTORY;
  const folder = resolve(config['coordinator.history_dir'] || join(config.data_dir, 'history'));
  const journal = new HistoryJournal({ folder, bytesMax: config['coordinator.history_journal_bytes_max'], log });
  const store = storeRecords(db, log);
  await atMost(replay(journal, { store, db, log }), REPLAY_WAIT_MS);
  const writer = new HistoryWriter({
    store,
    journal,
    bufferMax: config['coordinator.history_buffer_max'],
    flushIntervalMs: config['coordinator.history_flush_interval'],
    log,
  });
  return {
    record: (statement) => writer.record(statement),
    get waiting() {
      return writer.waiting;
    },
    get journalBytes() {
      return journal.bytes;
    },
    stored: (timeMs) => writer.stored(timeMs),
    close: async () => {
      await writer.close();
      journal[Symbol.dispose]();
    },
  };
}

type Replay = { readonly store: StoreRecords; readonly db: Kysely<HistoryDatabase>; readonly log: Logger };

/** Stores the records of processes that have ended; their statements that went on have failed. */
async function replay(journal: HistoryJournal, { store, db, log }: Replay): Promise<void> {
  let records = 0;
  let epoch = 0;
  try {
    await journal.replay(async (lines) => {
      records += lines.length;
      epoch = Math.max(epoch, await storeLines(store, lines));
    });
    if (records === 0) return;
    const orphans = await failOrphans(db, epoch + 1);
    log.warn({ records, orphans }, 'records that an earlier process has left are in the history');
  } catch (error) {
    log.error({ err: error }, 'records that an earlier process has left are kept for the next start');
  }
}

const NO_HISTORY: History = {
  record: () => undefined,
  waiting: 0,
  journalBytes: 0,
  stored: () => Promise.resolve(),
  close: () => Promise.resolve(),
};
