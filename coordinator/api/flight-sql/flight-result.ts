import { setTimeout as sleep } from 'node:timers/promises';
import type { Schema } from 'apache-arrow';
import { SkeinError } from '#shared/error.ts';
import type { QueryId } from '#shared/id.ts';
import { unreachable } from '#shared/must.ts';
import { arrowSchema } from '../../sink/arrow-schema.ts';
import type { ResultBatch, ResultShape, DoorSink, ResultSummary } from '../../sink/result-sink.ts';
import {
  areKept,
  hasRoom,
  KEPT_BYTES_MAX,
  nextRows,
  NO_ROWS,
  type FlightEvent,
  type ReaderRows,
} from './flight-rows.ts';

/** The zone of timestamps with time zone, whatever the session's is: Arrow keeps them as instants. */
const ZONE = 'UTC';

const READ_BY_ANOTHER = new SkeinError(
  'INVALID_REQUEST',
  `a result of more than ${KEPT_BYTES_MAX} bytes is given once, and another call has taken it`,
);

type Options = {
  readonly queryId: QueryId;
  readonly sql: string;
};

/** The result of a statement between its execution, which has begun, and its reader, who comes with a ticket. */
export class FlightResult implements DoorSink {
  readonly encoding = 'arrow';
  readonly queryId: QueryId;
  readonly sql: string;
  readonly #gone = new AbortController();
  readonly #planned = Promise.withResolvers<void>();
  readonly #ended = Promise.withResolvers<void>();
  #schema: Schema | undefined;
  #rows: ReaderRows = NO_ROWS;
  /** The batches that are held. */
  #batches: ResultBatch[] = [];
  #readers = 0;
  /** Rows that the statement has changed. */
  #changed: number | undefined;
  #takenBytes = 0;
  #takenAtMs = -Infinity;
  #news = Promise.withResolvers<void>();
  #onRoom: (() => void) | undefined;

  constructor(options: Options) {
    this.queryId = options.queryId;
    this.sql = options.sql;
  }

  /** Aborts when nobody will read the result. */
  get gone(): AbortSignal {
    return this.#gone.signal;
  }

  /** The reader has been given a part: it can no longer begin again. */
  get committed(): boolean {
    return this.#rows.isCommitted;
  }

  get progress(): number {
    return this.#takenBytes;
  }

  /** Bytes of a result that has ended, and can be read again; undefined when it cannot. */
  get keptBytes(): number | undefined {
    return this.#rows.kind === 'finished' && areKept(this.#rows) ? this.#rows.allBytes : undefined;
  }

  /** Time at which the client took the last byte, or asked for more time, in ms of the process's monotonic clock; before that -Infinity. */
  get takenAtMs(): number {
    return this.#takenAtMs;
  }

  get hasEnded(): boolean {
    return this.#rows.kind !== 'running';
  }

  /** The client wants to have more time for its result. */
  renewed(): void {
    this.#took(1);
  }

  #took(bytes: number): void {
    this.#takenBytes += bytes;
    this.#takenAtMs = performance.now();
  }

  /** The number of rows, once the statement has ended; null before. */
  get rows(): number | null {
    return this.#rows.kind === 'finished' ? this.#rows.rows : null;
  }

  /** Resolves when the statement has ended. */
  get ended(): Promise<void> {
    return this.#ended.promise;
  }

  planned(shape: ResultShape): void {
    switch (shape.kind) {
      case 'rows':
        this.#schema = arrowSchema({ columns: shape.columns, timeZone: ZONE });
        this.#planned.resolve();
        break;
      case 'count':
      case 'nothing':
        // It has no columns; it has run by now, and ends at once.
        break;
      default:
        unreachable(shape);
    }
  }

  start(): void {
    this.#happened({ kind: 'begin' });
  }

  batch(batch: ResultBatch): Promise<void> | undefined {
    this.#batches.push(batch);
    this.#happened({ kind: 'batch', bytes: batch.body.length });
    this.#tell();
    return this.#room();
  }

  changed(count: number): void {
    this.#changed = count;
  }

  finish({ rowCount }: ResultSummary): void {
    this.#ends({ kind: 'finish', rows: this.#changed ?? rowCount });
  }

  /** The statement has failed. */
  fail(thrown: unknown): void {
    this.#ends({ kind: 'fail', error: SkeinError.of(thrown) });
  }

  /** Nobody wants the result: a statement that still runs is cancelled. */
  cancel(reason: SkeinError): void {
    this.#gone.abort(reason);
    this.#happened({ kind: 'drop' });
    this.#onRoom?.();
    this.fail(reason);
  }

  /** The columns, once they are known; undefined for a statement that has ended without any. @throws the statement's error */
  async schema(): Promise<Schema | undefined> {
    await this.#planned.promise;
    if (this.#rows.kind === 'failed' && !this.#rows.isCommitted) throw this.#rows.error;
    return this.#schema;
  }

  /** Whether the columns are known, or the statement has ended, within this time. @throws the reason of the signal */
  async isPlanned(withinMs: number, signal: AbortSignal): Promise<boolean> {
    const late = new AbortController();
    const timer = sleep(withinMs, false, { signal: AbortSignal.any([signal, late.signal]) });
    try {
      return await Promise.race([this.#planned.promise.then(() => true), timer]);
    } finally {
      timer.catch(() => undefined);
      late.abort();
    }
  }

  /**
   * The rows. A result of few bytes can be read again, and by several at once.
   * @throws INVALID_REQUEST when another reads or has read a larger one; the statement's error
   */
  async *read(): AsyncGenerator<ResultBatch, void> {
    if (!areKept(this.#rows) && this.#readers > 0) throw READ_BY_ANOTHER;
    this.#readers += 1;
    try {
      for (let at = 0; ;) {
        const news = this.#news.promise;
        const rows = this.#rows;
        if (at < rows.dropped) throw rows.kind === 'failed' ? rows.error : READ_BY_ANOTHER;
        const batch = this.#batches[at - rows.dropped];
        if (batch !== undefined) {
          at += 1;
          this.#take(batch, at);
          yield batch;
        } else if (rows.kind === 'running') {
          await news;
        } else if (rows.kind === 'failed') {
          throw rows.error;
        } else {
          return;
        }
      }
    } finally {
      this.#readers -= 1;
    }
  }

  /** A reader has got its batch number `count`. */
  #take({ body }: ResultBatch, count: number): void {
    this.#took(body.length);
    const { taken } = this.#rows;
    this.#happened({ kind: 'take', count, bytes: body.length });
    if (this.#rows.taken > taken && hasRoom(this.#rows)) this.#onRoom?.();
  }

  /** Drops the batches that are no longer held, from the first one on. */
  #happened(event: FlightEvent): void {
    this.#rows = nextRows(this.#rows, event);
    this.#batches.splice(0, this.#batches.length - this.#rows.held);
  }

  #tell(): void {
    this.#news.resolve();
    this.#news = Promise.withResolvers();
  }

  /** Resolves when more rows may come. @throws the reason when nobody wants them */
  #room(): Promise<void> | undefined {
    this.#gone.signal.throwIfAborted();
    if (hasRoom(this.#rows)) return undefined;
    return new Promise((resolve, reject) => {
      this.#onRoom = () => {
        this.#onRoom = undefined;
        if (this.#gone.signal.aborted) reject(SkeinError.of(this.#gone.signal.reason));
        else resolve();
      };
    });
  }

  #ends(event: Extract<FlightEvent, { readonly kind: 'finish' | 'fail' }>): void {
    if (this.hasEnded) return;
    this.#happened(event);
    this.#planned.resolve();
    this.#ended.resolve();
    this.#tell();
  }
}
