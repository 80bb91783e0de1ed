import type { Logger } from '#shared/log/logger.ts';
import { atMost } from '#shared/at-most.ts';
import { must } from '#shared/must.ts';
import type { HistoryJournal } from './history-journal.ts';
import type { MakeProfile, Recorded } from './history-record.ts';
import { onlyReads } from '../statement/query-type.ts';
import { printRecord, readRecord, recordLine, type PrintedRecord } from './record-line.ts';
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
 * Age at which a statement that only reads and goes on is in the journal, and at which any that goes on is on its way to Postgres. Most
 * statements end before, and are sent once; who reads the history has those of now sent (`stored`). A process that is killed before forgets
 * that it had taken the statement, which nobody was answered. One that may change something is in the journal before it does.
 */
const BEGUN_MS = 100;
/** Least time between two looks for statements of that age. */
const LOOK_MS = 10;
const BATCH_RECORDS_MAX = 500;
/** Bytes of the records of one batch, beyond its first, and of all that wait: they are sent in one go, and kept in memory. */
const BATCH_BYTES_MAX = 2 ** 20;
const WAITING_BYTES_MAX = 64 * 2 ** 20;
/** Profiles that wait to be made: each holds some of its query's plan and figures. */
const UNMADE_MAX = 256;
const RETRY_MS = 1_000;
/** Time that `close` gives the last records; those that are not stored then stay in the journal. */
const CLOSE_TIMEOUT_MS = 3_000;

type Waiting = {
  readonly recordId: string;
  /** Null once it has ended and is printed: it holds its request. */
  statement: Recorded | null;
  /** The record as Postgres gets it; null until it is printed. */
  row: Buffer | null;
  /** Null until it is made, and when there is none. */
  profile: string | null;
  /** Number of the journal's file that has all of it; null = none. */
  file: number | null;
};

/**
 * Takes the records of statements: the last one of a statement, and the first of one that may change something, is in the journal when
 * `record` returns; with its profile, when Postgres does not take it soon. They go to Postgres behind the statements, in batches; a
 * statement's records replace each other while they wait. While Postgres is away they wait in memory, and when they are too many, in the
 * journal alone, from which they are stored when it is back.
 */
export class HistoryWriter {
  readonly #options: Options;
  readonly #waiting = new Map<string, Waiting>();
  /** Those of statements that have just begun, and when: they are not sent, and in the journal only when they may change something. */
  readonly #begun = new Map<Waiting, number>();
  /** Files of the journal with records that are no longer in memory. */
  readonly #spilled = new Set<number>();
  /** Those whose profiles wait to be made. */
  readonly #unmade = new Map<Waiting, MakeProfile>();
  /** Those whose profiles are made, and not in the journal. */
  readonly #unwritten = new Set<Waiting>();
  /** Bytes of the printed records that wait, with their profiles. */
  #waitingBytes = 0;
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

  record(statement: Recorded): void {
    const { recordId, isOpen, queryType } = statement;
    const mayChange = !onlyReads(queryType);
    const before = this.#waiting.get(recordId);
    const begunMs = before === undefined ? undefined : this.#begun.get(before);
    // A statement that has just begun is printed later, as it is then.
    if (isOpen && !mayChange && begunMs !== undefined) return;
    if (before !== undefined) this.#drop(before);
    const waiting: Waiting = { recordId, statement, row: null, profile: null, file: null };
    this.#waiting.set(recordId, waiting);
    if (!isOpen || mayChange) this.#write(waiting);
    if (isOpen) {
      this.#begun.set(waiting, begunMs ?? performance.now());
      this.#beginTimer ??= setTimeout(() => this.#look(), BEGUN_MS);
    } else {
      waiting.statement = null;
      const profile = statement.profileLater();
      if (profile !== null) this.#unmade.set(waiting, profile);
      if (this.#unmade.size >= UNMADE_MAX) this.#writeProfiles();
    }
    for (const oldest of this.#waiting.values()) {
      if (this.#waiting.size <= this.#options.bufferMax && this.#waitingBytes <= WAITING_BYTES_MAX) break;
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
    this.#goOn([...this.#begun.keys()]);
    const rows = [...this.#waiting.values()];
    const deadline = performance.now() + timeMs;
    const isLeft = (): boolean => rows.some((one) => this.#waiting.get(one.recordId) === one);
    while (isLeft() && !this.#failing && performance.now() < deadline) {
      await atMost(this.#flush(), deadline - performance.now());
    }
  }

  /** Stores the records that wait; gives up after 3 s. */
  async close(): Promise<void> {
    await this.stored(CLOSE_TIMEOUT_MS);
    clearTimeout(this.#timer);
    clearTimeout(this.#beginTimer);
    this.#writeProfiles();
    if (this.#waiting.size > 0) {
      this.#options.log.warn({ records: this.#waiting.size }, 'history records are left to the next start');
    }
  }

  /** Sends the records of statements that have gone on for a while. */
  #look(): void {
    this.#beginTimer = undefined;
    const nowMs = performance.now();
    const old = [...this.#begun].filter(([, begunMs]) => nowMs - begunMs >= BEGUN_MS).map(([waiting]) => waiting);
    this.#goOn(old);
    if (this.#begun.size > 0) {
      const dueMs = Math.min(...this.#begun.values()) + BEGUN_MS;
      this.#beginTimer = setTimeout(() => this.#look(), Math.max(LOOK_MS, dueMs - nowMs));
    }
    if (old.length === 0) return;
    if (this.#failing) this.#schedule(RETRY_MS);
    else void this.#flush();
  }

  /** From now on these records of statements that go on are in the journal, and sent. */
  #goOn(begun: readonly Waiting[]): void {
    for (const waiting of begun) this.#begun.delete(waiting);
    this.#append(
      begun.filter(({ file }) => file === null),
      (waiting) => this.#print(waiting).line,
    );
  }

  #write(waiting: Waiting): void {
    waiting.file = this.#options.journal.append(this.#print(waiting).line);
  }

  #print(waiting: Waiting): ReturnType<typeof printRecord> {
    const { statement, profile } = waiting;
    if (statement === null) return { row: rowOf(waiting), line: recordLine(rowOf(waiting), profile) };
    const printed = printRecord(statement.row());
    this.#waitingBytes += printed.row.length - (waiting.row?.length ?? 0);
    waiting.row = printed.row;
    return printed;
  }

  #makeProfiles(): void {
    for (const [waiting, make] of this.#unmade) {
      try {
        waiting.profile = make();
      } catch (error) {
        // The records of all others wait for this.
        this.#options.log.error(
          { err: error, recordId: waiting.recordId },
          'the profile of a statement cannot be made',
        );
      }
      if (waiting.profile === null) continue;
      this.#waitingBytes += waiting.profile.length;
      this.#unwritten.add(waiting);
    }
    this.#unmade.clear();
  }

  /** Writes records again, with their profiles: they wait longer than usual. */
  #writeProfiles(): void {
    this.#makeProfiles();
    const waiting = [...this.#unwritten];
    this.#unwritten.clear();
    this.#append(waiting, (one) => recordLine(rowOf(one), one.profile));
  }

  /** Writes several records in one go. What cannot be written stays where it is. */
  #append(waiting: readonly Waiting[], lineOf: (one: Waiting) => Buffer): void {
    if (waiting.length === 0) return;
    const file = this.#options.journal.append(Buffer.concat(waiting.map(lineOf)));
    if (file !== null) for (const one of waiting) one.file = file;
  }

  /** Forgets a record that waits for Postgres too long; the journal has it. */
  #spill(waiting: Waiting): void {
    if (this.#unmade.has(waiting) || this.#unwritten.has(waiting)) this.#writeProfiles();
    if (waiting.file === null) this.#write(waiting);
    if (waiting.file === null) this.#options.log.error({ recordId: waiting.recordId }, 'a history record is lost');
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
      const isBehind = this.#waitingBytes > BATCH_BYTES_MAX || this.#due > BATCH_RECORDS_MAX;
      if (this.#due > 0 || this.#spilled.size > 0) {
        this.#schedule(this.#failing ? RETRY_MS : isBehind ? 0 : this.#options.flushIntervalMs);
      }
    });
    return this.#flushing;
  }

  #forget(waiting: Waiting): void {
    this.#waiting.delete(waiting.recordId);
    this.#drop(waiting);
  }

  /** Another record takes its place, or none. */
  #drop(waiting: Waiting): void {
    this.#begun.delete(waiting);
    this.#unmade.delete(waiting);
    this.#unwritten.delete(waiting);
    this.#waitingBytes -= sizeOf(waiting);
  }

  #nextBatch(): readonly Waiting[] {
    const batch: Waiting[] = [];
    let bytes = 0;
    for (const waiting of this.#waiting.values()) {
      if (this.#begun.has(waiting)) continue;
      bytes += sizeOf(waiting);
      if (batch.length > 0 && (batch.length >= BATCH_RECORDS_MAX || bytes > BATCH_BYTES_MAX)) break;
      batch.push(waiting);
    }
    return batch;
  }

  async #storeBatch(): Promise<void> {
    const { store, log, flushIntervalMs } = this.#options;
    this.#makeProfiles();
    const late = setTimeout(() => this.#writeProfiles(), flushIntervalMs);
    try {
      await this.#storeSpilled();
      const batch = this.#nextBatch();
      await store(batch.map((one) => ({ recordId: one.recordId, row: rowOf(one), profile: one.profile })));
      for (const one of batch) if (this.#waiting.get(one.recordId) === one) this.#forget(one);
      this.#releaseJournal();
      this.#failing = false;
    } catch (error) {
      if (!this.#failing) log.warn({ err: error }, 'history cannot be stored; it is tried again');
      this.#failing = true;
      this.#writeProfiles();
    } finally {
      clearTimeout(late);
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

const rowOf = ({ row }: Waiting): Buffer => must(row, 'a record that is sent was printed');
const sizeOf = ({ row, profile }: Waiting): number => (row?.length ?? 0) + (profile?.length ?? 0);

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
    if (batch.size >= BATCH_RECORDS_MAX || text + line.length > BATCH_BYTES_MAX) {
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
