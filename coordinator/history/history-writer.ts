import type { Logger } from '#shared/log/logger.ts';
import { atMost } from '#shared/at-most.ts';
import type { HistoryJournal } from './history-journal.ts';
import { isOpen, type HistoryRow } from './history-record.ts';
import { onlyReads } from './query-type.ts';
import { printRecord, readRecord, type PrintedRecord, type RecordLine } from './record-line.ts';
import type { StoreRecords } from './store-records.ts';

type Options = {
  readonly store: StoreRecords;
  readonly journal: HistoryJournal;
  /** Records in memory that wait for Postgres; over it the oldest wait in the journal alone. */
  readonly bufferMax: number;
  readonly flushIntervalMs: number;
  readonly log: Logger;
};

/**
 * Time after which a statement that only reads and goes on is in the journal, and after which any that goes on is on its way to Postgres.
 * Most statements end before, and are sent once; who reads the history has those of now sent (`stored`). A process that is killed within it
 * forgets that it had taken the statement, which nobody was answered. One that may change something is in the journal before it does.
 */
const BEGUN_WITHIN_MS = 50;
const BATCH_RECORDS_MAX = 500;
/** Characters of the records of one batch, beyond its first, and of all that wait: they are sent in one go, and kept in memory. */
const BATCH_TEXT_MAX = 2 ** 20;
const WAITING_TEXT_MAX = 64 * 2 ** 20;
const RETRY_MS = 1_000;
/** Time that `close` gives the last records; those that are not stored then stay in the journal. */
const CLOSE_TIMEOUT_MS = 3_000;

type Waiting = {
  readonly row: HistoryRow;
  /** The record as it is in the journal; null until it is there. */
  printed: RecordLine | null;
  /** Number of the journal's file that has it; null = none. */
  file: number | null;
};

/**
 * Takes the records of statements: the last one of a statement, and the first of one that may change something, is in the journal when
 * `record` returns. They go to Postgres behind the
 * statements, in batches; a statement's records replace each other while they wait. While Postgres is away they wait in memory, and when
 * they are too many, in the journal alone, from which they are stored when it is back.
 */
export class HistoryWriter {
  readonly #options: Options;
  readonly #waiting = new Map<string, Waiting>();
  /** Those of statements that have just begun: they are not sent, and in the journal only when they may change something. */
  readonly #begun = new Set<Waiting>();
  /** Files of the journal with records that are no longer in memory. */
  readonly #spilled = new Set<number>();
  /** Characters of the records that wait. */
  #waitingText = 0;
  #timer: NodeJS.Timeout | undefined;
  #beginTimer: NodeJS.Timeout | undefined;
  #flushing: Promise<void> | undefined;
  #failing = false;

  constructor(options: Options) {
    this.#options = options;
  }

  get waiting(): number {
    return this.#waiting.size;
  }

  record(row: HistoryRow): void {
    const before = this.#waiting.get(row.record_id);
    if (before !== undefined) {
      this.#begun.delete(before);
      this.#waitingText -= sizeOf(before);
    }
    const waiting: Waiting = { row, printed: null, file: null };
    this.#waiting.set(row.record_id, waiting);
    this.#waitingText += sizeOf(waiting);
    if (isOpen(row.status)) {
      if (!onlyReads(row.query_type)) this.#write(waiting);
      this.#begun.add(waiting);
      this.#beginTimer ??= setTimeout(() => this.#sendBegun(), BEGUN_WITHIN_MS);
    } else {
      this.#write(waiting);
    }
    for (const oldest of this.#waiting.values()) {
      if (this.#waiting.size <= this.#options.bufferMax && this.#waitingText <= WAITING_TEXT_MAX) break;
      this.#spill(oldest);
    }
    if (this.#due === 0) return;
    if (this.#due >= BATCH_RECORDS_MAX && !this.#failing) void this.#flush();
    else this.#schedule(this.#failing ? RETRY_MS : this.#options.flushIntervalMs);
  }

  /** Records that wait to be sent. */
  get #due(): number {
    return this.#waiting.size - this.#begun.size;
  }

  /** Resolves when the records of now are in Postgres, or after `timeMs`. */
  async stored(timeMs: number): Promise<void> {
    this.#writeBegun();
    const rows = [...this.#waiting.values()];
    const deadline = performance.now() + timeMs;
    const isLeft = (): boolean => rows.some((one) => this.#waiting.get(one.row.record_id) === one);
    while (isLeft() && !this.#failing && performance.now() < deadline) {
      await atMost(this.#flush(), deadline - performance.now());
    }
  }

  /** Stores the records that wait; gives up after 3 s. */
  async close(): Promise<void> {
    this.#writeBegun();
    await this.stored(CLOSE_TIMEOUT_MS);
    clearTimeout(this.#timer);
    if (this.#waiting.size > 0) {
      this.#options.log.warn({ records: this.#waiting.size }, 'history records are left to the next start');
    }
  }

  #sendBegun(): void {
    this.#writeBegun();
    if (this.#failing) this.#schedule(RETRY_MS);
    else void this.#flush();
  }

  #writeBegun(): void {
    clearTimeout(this.#beginTimer);
    this.#beginTimer = undefined;
    const unwritten = [...this.#begun].filter(({ file }) => file === null);
    this.#begun.clear();
    if (unwritten.length === 0) return;
    const lines = unwritten.map((waiting) => (waiting.printed = printRecord(waiting.row)).line);
    const file = this.#options.journal.append(Buffer.concat(lines));
    for (const waiting of unwritten) waiting.file = file;
  }

  #write(waiting: Waiting): void {
    waiting.printed = printRecord(waiting.row);
    waiting.file = this.#options.journal.append(waiting.printed.line);
  }

  /** Forgets a record that waits for Postgres too long; the journal has it. */
  #spill(waiting: Waiting): void {
    if (waiting.file === null) this.#write(waiting);
    if (waiting.file === null) this.#options.log.error({ queryId: waiting.row.query_id }, 'a history record is lost');
    else this.#spilled.add(waiting.file);
    this.#forget(waiting);
  }

  #schedule(delayMs: number): void {
    this.#timer ??= setTimeout(() => {
      this.#timer = undefined;
      void this.#flush();
    }, delayMs);
  }

  #flush(): Promise<void> {
    this.#flushing ??= this.#storeBatch().finally(() => {
      this.#flushing = undefined;
      const isBehind = this.#waitingText > BATCH_TEXT_MAX || this.#due > BATCH_RECORDS_MAX;
      if (this.#due > 0 || this.#spilled.size > 0) {
        this.#schedule(this.#failing ? RETRY_MS : isBehind ? 0 : this.#options.flushIntervalMs);
      }
    });
    return this.#flushing;
  }

  #forget(waiting: Waiting): void {
    this.#begun.delete(waiting);
    this.#waiting.delete(waiting.row.record_id);
    this.#waitingText -= sizeOf(waiting);
  }

  #nextBatch(): readonly Waiting[] {
    const batch: Waiting[] = [];
    let text = 0;
    for (const waiting of this.#waiting.values()) {
      if (this.#begun.has(waiting)) continue;
      text += sizeOf(waiting);
      if (batch.length > 0 && (batch.length >= BATCH_RECORDS_MAX || text > BATCH_TEXT_MAX)) break;
      batch.push(waiting);
    }
    return batch;
  }

  async #storeBatch(): Promise<void> {
    const { store, log } = this.#options;
    try {
      await this.#storeSpilled();
      const batch = this.#nextBatch();
      await store(batch.map(({ printed, row }) => printed ?? printRecord(row)));
      for (const one of batch) if (this.#waiting.get(one.row.record_id) === one) this.#forget(one);
      this.#releaseJournal();
      this.#failing = false;
    } catch (error) {
      if (!this.#failing) log.warn({ err: error }, 'history cannot be stored; it is tried again');
      this.#failing = true;
    }
  }

  /** Stores what only the journal has, the oldest file first. */
  async #storeSpilled(): Promise<void> {
    const [file] = [...this.#spilled].toSorted((a, b) => a - b);
    if (file === undefined) return;
    this.#options.journal.endFile(file);
    await storeLines(this.#options.store, this.#options.journal.read(file));
    this.#spilled.delete(file);
  }

  #releaseJournal(): void {
    if (this.#spilled.size > 0) return;
    let oldest: number | null = null;
    for (const { file } of this.#waiting.values()) {
      if (file !== null && (oldest === null || file < oldest)) oldest = file;
    }
    this.#options.journal.release(oldest);
  }
}

const sizeOf = ({ row }: Waiting): number => row.sql.length + (row.profile?.length ?? 0);

/**
 * Stores lines of a journal in batches; of several records of one statement in a batch the last counts. Returns the last epoch of the
 * coordinators that wrote them; 0 = there are none.
 */
export async function storeLines(store: StoreRecords, lines: readonly string[]): Promise<number> {
  let batch = new Map<string, PrintedRecord>();
  let text = 0;
  let epoch = 0;
  for (const line of lines) {
    const record = readRecord(line);
    if (record === undefined) continue;
    if (batch.size >= BATCH_RECORDS_MAX || text + line.length > BATCH_TEXT_MAX) {
      await store([...batch.values()]);
      batch = new Map();
      text = 0;
    }
    batch.set(record.recordId, record);
    text += line.length;
    epoch = Math.max(epoch, record.epoch);
  }
  await store([...batch.values()]);
  return epoch;
}
