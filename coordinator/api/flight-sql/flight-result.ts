import { setTimeout as sleep } from 'node:timers/promises';
import type { Schema } from 'apache-arrow';
import { SkeinError } from '#shared/error.ts';
import type { QueryId } from '#shared/id.ts';
import { unreachable } from '#shared/must.ts';
import { arrowSchema } from '../../sink/arrow-schema.ts';
import { BatchSpool } from '../../sink/batch-spool.ts';
import type { ResultBatch, ResultShape, ResultSink, ResultSummary } from '../../sink/result-sink.ts';

/** Bytes of rows that wait for the reader in memory; a statement that has more waits. */
const WINDOW_BYTES = 8 * 2 ** 20;
/** The zone of timestamps with time zone, whatever the session's is: Arrow keeps them as instants. */
const ZONE = 'UTC';

type End =
  | { readonly kind: 'finished'; readonly rows: number }
  | { readonly kind: 'failed'; readonly error: SkeinError };

type Options = {
  readonly queryId: QueryId;
  readonly sql: string;
  /** Bytes in memory of rows that wait until their statement is committed; the rest waits on disk. */
  readonly heldBytesMax: number;
  /** Bytes of all of these rows. */
  readonly bytesMax: number;
  readonly spoolFolder: string;
};

/** The result of a statement between its execution, which has begun, and its reader, who comes with a ticket. */
export class FlightResult implements ResultSink {
  readonly encoding = 'arrow';
  readonly queryId: QueryId;
  readonly sql: string;
  readonly #options: Options;
  /** The rows behind those in memory, of a statement that is committed before they are sent. */
  readonly #spool: BatchSpool;
  #spooledBytes = 0;
  readonly #gone = new AbortController();
  readonly #planned = Promise.withResolvers<void>();
  readonly #ended = Promise.withResolvers<void>();
  #schema: Schema | undefined;
  #batches: ResultBatch[] = [];
  #bytes = 0;
  #end: End | undefined;
  /** Rows that the statement has changed. */
  #changed: number | undefined;
  #isHeld = false;
  #isRead = false;
  #committed = false;
  #takenBytes = 0;
  #onBatch: () => void = () => undefined;
  #onRoom: (() => void) | undefined;

  constructor(options: Options) {
    this.queryId = options.queryId;
    this.sql = options.sql;
    this.#options = options;
    this.#spool = new BatchSpool(options.spoolFolder);
  }

  /** Aborts when nobody will read the result. */
  get gone(): AbortSignal {
    return this.#gone.signal;
  }

  /** The reader has been given a part: it can no longer begin again. */
  get committed(): boolean {
    return this.#committed;
  }

  get progress(): number {
    return this.#takenBytes;
  }

  /** The client wants to have more time for its result. */
  renewed(): void {
    this.#takenBytes += 1;
  }

  /** The number of rows, once the statement has ended; null before. */
  get rows(): number | null {
    return this.#end?.kind === 'finished' ? this.#end.rows : null;
  }

  /** Resolves when the statement has ended. */
  get ended(): Promise<void> {
    return this.#ended.promise;
  }

  planned(shape: ResultShape): void {
    switch (shape.kind) {
      case 'rows':
        this.#schema = arrowSchema({ columns: shape.columns, timeZone: ZONE });
        if (!this.#isHeld) this.#planned.resolve();
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
    this.#batches = [];
    this.#bytes = 0;
    this.#spool.clear();
    this.#spooledBytes = 0;
  }

  batch(batch: ResultBatch): Promise<void> | undefined {
    const { heldBytesMax, bytesMax } = this.#options;
    const bytes = batch.body.length;
    // Rows keep their order: what comes behind those on disk goes there, too.
    if (!this.#spool.isEmpty || (this.#isHeld && this.#bytes + bytes > heldBytesMax)) {
      this.#spooledBytes += bytes;
      if (this.#spooledBytes + this.#bytes <= bytesMax) return this.#spool.push(batch);
      throw new SkeinError(
        'RESULT_TOO_LARGE',
        `the result has more than ${bytesMax} bytes (coordinator.result_bytes_max)`,
      );
    }
    this.#batches.push(batch);
    this.#bytes += bytes;
    if (this.#isHeld) return undefined;
    this.#onBatch();
    return this.#room();
  }

  hold(): void {
    this.#isHeld = true;
  }

  async release(): Promise<void> {
    this.#isHeld = false;
    if (this.#schema !== undefined) this.#planned.resolve();
    this.#onBatch();
    await this.#room();
  }

  changed(count: number): void {
    this.#changed = count;
  }

  finish({ rowCount }: ResultSummary): void {
    this.#ends({ kind: 'finished', rows: this.#changed ?? rowCount });
  }

  /** The statement has failed. */
  fail(thrown: unknown): void {
    this.#ends({ kind: 'failed', error: SkeinError.of(thrown) });
  }

  /** Nobody wants the result: a statement that still runs is cancelled. */
  cancel(reason: SkeinError): void {
    this.#gone.abort(reason);
    this.#batches = [];
    this.#bytes = 0;
    this.#spool.clear();
    this.#spool.close();
    this.#onRoom?.();
    this.fail(reason);
  }

  /** The columns, once they are known; undefined for a statement that has ended without any. @throws the statement's error */
  async schema(): Promise<Schema | undefined> {
    await this.#planned.promise;
    if (this.#end?.kind === 'failed' && !this.#committed) throw this.#end.error;
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

  /** The rows, once. @throws INVALID_REQUEST when they have been read; the statement's error */
  async *read(): AsyncGenerator<ResultBatch, void> {
    if (this.#isRead) throw new SkeinError('INVALID_REQUEST', 'the result of this ticket has been read already');
    this.#isRead = true;
    for (;;) {
      const batch = this.#isHeld ? undefined : this.#batches.shift();
      if (batch !== undefined) {
        this.#bytes -= batch.body.length;
        this.#takenBytes += batch.body.length;
        this.#committed = true;
        if (this.#bytes < WINDOW_BYTES) this.#onRoom?.();
        yield batch;
      } else if (!this.#isHeld && !this.#spool.isEmpty) {
        const spooled = await this.#spool.shift();
        this.#takenBytes += spooled?.body.length ?? 0;
        this.#committed = true;
        if (spooled !== undefined) yield spooled;
      } else if (this.#end === undefined) {
        await new Promise<void>((resolve) => (this.#onBatch = resolve));
      } else if (this.#end.kind === 'failed') {
        throw this.#end.error;
      } else {
        return;
      }
    }
  }

  /** Resolves when more rows may come. @throws the reason when nobody wants them */
  #room(): Promise<void> | undefined {
    this.#gone.signal.throwIfAborted();
    if (this.#bytes < WINDOW_BYTES) return undefined;
    return new Promise((resolve, reject) => {
      this.#onRoom = () => {
        this.#onRoom = undefined;
        if (this.#gone.signal.aborted) reject(SkeinError.of(this.#gone.signal.reason));
        else resolve();
      };
    });
  }

  #ends(end: End): void {
    if (this.#end !== undefined) return;
    this.#end = end;
    this.#planned.resolve();
    this.#ended.resolve();
    this.#onBatch();
  }
}
