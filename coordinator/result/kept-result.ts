import type { ByteBudget } from '#shared/byte-budget.ts';
import { SkeinError } from '#shared/error.ts';
import { orAborted } from '#shared/or-aborted.ts';
import { must } from '#shared/must.ts';
import type { DoorSink, ResultBatch, ResultShape, ResultSummary } from '../sink/result-sink.ts';
import { RowStore, batchBytes, type RowStoreOptions } from './row-store.ts';

export type KeptOptions = RowStoreOptions & {
  /** The statement's text, in which its error has a place. */
  readonly sql: string;
  /** Bytes of one result. */
  readonly bytesMax: number;
  /** A larger result is cut, and says so; without this its statement fails. */
  readonly isCut?: true;
  /** Bytes of all results, in memory and on disk. */
  readonly budget: ByteBudget;
  /** Makes room of what the same tenant keeps and has not asked for longest; false when there is nothing. */
  readonly makeRoom: () => boolean;
  /** The limits, as errors tell them. */
  readonly limits: KeptLimits;
};

/** The settings that limit one result, and all of a tenant, and what a user can do about them. */
type KeptLimits = { readonly one: string; readonly all: string; readonly help: string };

type End =
  | { readonly kind: 'finished'; readonly summary: ResultSummary }
  | { readonly kind: 'failed'; readonly error: SkeinError };

type Reading = {
  /** The row to begin with. */
  readonly from?: number;
  /** Bytes that have come, or the end of the statement, before which nothing is given: until then the statement may begin again. */
  readonly holdbackBytes: number;
  readonly signal: AbortSignal;
};

/**
 * The rows of one statement, which are kept beyond its end and can be read from any row, by several at once. The statement runs on
 * without a reader, and gives back its place, its slots and its transaction when its last row has come.
 */
export class KeptResult implements DoorSink, Disposable {
  readonly encoding = 'arrow';
  readonly #options: KeptOptions;
  readonly #store: RowStore;
  readonly #gone = new AbortController();
  readonly #planned = Promise.withResolvers<void>();
  readonly #ended = Promise.withResolvers<void>();
  #news = Promise.withResolvers<void>();
  #shape: ResultShape | undefined;
  #changed: number | undefined;
  #end: End | undefined;
  #committed = false;
  #progress = 0;
  /** Rows beyond the limit were left out. */
  #leavesOut = false;

  constructor(options: KeptOptions) {
    this.#options = options;
    this.#store = new RowStore(options);
  }

  get sql(): string {
    return this.#options.sql;
  }

  /** Aborts when the result is forgotten: its statement need not go on. */
  get gone(): AbortSignal {
    return this.#gone.signal;
  }

  /** A reader has been given rows: they can no longer begin again. */
  get committed(): boolean {
    return this.#committed;
  }

  get progress(): number {
    return this.#progress;
  }

  get hasEnded(): boolean {
    return this.#end !== undefined;
  }

  /** Whether the statement, which has ended, gives more rows than these. */
  get isCut(): boolean {
    return this.#end?.kind === 'finished' && this.#end.summary.isCut === true;
  }

  /** Resolves when the statement has ended. */
  get ended(): Promise<void> {
    return this.#ended.promise;
  }

  /** The number of changed rows, for a statement that changes some. */
  get changedRows(): number | undefined {
    return this.#changed;
  }

  /** Rows that have come. */
  get rows(): number {
    return this.#store.rows;
  }

  planned(shape: ResultShape): void {
    this.#shape = shape;
    this.#planned.resolve();
  }

  start(): void {
    this.#leavesOut = false;
    this.#clear();
  }

  /** @throws RESULT_TOO_LARGE, STORAGE_FULL, STORAGE_ERROR, the reason why the result is forgotten */
  batch(batch: ResultBatch): Promise<void> | undefined {
    this.#gone.signal.throwIfAborted();
    if (this.#leavesOut) return undefined;
    const { bytesMax, isCut, budget, owner, makeRoom, limits } = this.#options;
    const bytes = batchBytes(batch);
    if (this.#store.bytes + bytes > bytesMax) {
      // The statement goes on to its end: within a transaction one that is stopped would end all of it.
      if (isCut === true) return this.#leaveOut();
      const limit = `the result has more than ${bytesMax} bytes (${limits.one})`;
      throw new SkeinError('RESULT_TOO_LARGE', `${limit}: ${limits.help}`);
    }
    while (!budget.take(owner, bytes)) {
      if (makeRoom()) continue;
      const all = 'the results that are kept for your organization take as much as they may';
      throw new SkeinError('RESULT_TOO_LARGE', `${all} (${limits.all})`);
    }
    this.#progress += bytes;
    const stored = this.#store.add(batch);
    this.#tell();
    return stored;
  }

  changed(count: number): void {
    this.#changed = count;
  }

  finish(summary: ResultSummary): void {
    this.#ends({
      kind: 'finished',
      summary: this.#leavesOut ? { ...summary, rowCount: this.rows, isCut: true } : summary,
    });
  }

  /** The statement has failed. */
  fail(thrown: unknown): void {
    this.#ends({ kind: 'failed', error: SkeinError.of(thrown) });
    this.#clear();
  }

  /** The result's shape, if it is known by now. */
  get known(): ResultShape | undefined {
    return this.#shape;
  }

  /** Says what the result is, once that is known. @throws the statement's error, the reason of the signal */
  async shape(signal: AbortSignal): Promise<ResultShape> {
    await orAborted(this.#planned.promise, signal);
    if (this.#end?.kind === 'failed') throw this.#end.error;
    return must(this.#shape, 'a statement that has ended was planned');
  }

  /** How the statement ended, once it has. @throws the statement's error, the reason of the signal */
  async summary(signal: AbortSignal): Promise<ResultSummary> {
    await orAborted(this.#ended.promise, signal);
    const end = must(this.#end, 'it has ended');
    if (end.kind === 'failed') throw end.error;
    return end.summary;
  }

  /** The rows from one on, as they come. @throws the statement's error, the reason of the signal */
  async *read({ from = 0, holdbackBytes, signal }: Reading): AsyncGenerator<KeptBatch, void> {
    await this.#until(() => this.#end !== undefined || this.#store.bytes > holdbackBytes, signal);
    let next = from;
    for (;;) {
      await this.#until(() => this.#end !== undefined || this.#store.rows > next, signal);
      if (this.#end?.kind === 'failed') throw this.#end.error;
      const found = this.#store.find(next);
      if (found === undefined) return;
      this.#committed = true;
      const batch = await this.batchOf(found);
      next = batch.firstRow + batch.rows;
      yield batch;
    }
  }

  /** The batch that has this row; undefined when the result has no such row by now. @throws STORAGE_ERROR */
  async batchAt(row: number): Promise<KeptBatch | undefined> {
    const found = this.#store.find(row);
    return found === undefined ? undefined : this.batchOf(found);
  }

  async batchOf({ index, firstRow }: { readonly index: number; readonly firstRow: number }): Promise<KeptBatch> {
    return { ...(await this.#store.batch(index)), firstRow };
  }

  /** Forgets the rows; a statement that still runs is cancelled for this reason. */
  drop(reason: SkeinError): void {
    this.#gone.abort(reason);
    if (this.#end?.kind !== 'failed') this.#end = { kind: 'failed', error: reason };
    this.#settle();
    this[Symbol.dispose]();
  }

  [Symbol.dispose](): void {
    this.#clear();
    this.#store.close();
  }

  #leaveOut(): undefined {
    this.#leavesOut = true;
  }

  #ends(end: End): void {
    if (this.#end !== undefined) return;
    this.#end = end;
    this.#settle();
  }

  #settle(): void {
    this.#planned.resolve();
    this.#ended.resolve();
    this.#tell();
  }

  #tell(): void {
    this.#news.resolve();
    this.#news = Promise.withResolvers();
  }

  async #until(isSo: () => boolean, signal: AbortSignal): Promise<void> {
    while (!isSo()) await orAborted(this.#news.promise, signal);
  }

  #clear(): void {
    this.#options.budget.give(this.#options.owner, this.#store.bytes);
    this.#store.clear();
  }
}

/** A batch, and the number of its first row in the result. */
export type KeptBatch = ResultBatch & { readonly firstRow: number };
