import { setTimeout as sleep } from 'node:timers/promises';
import type { ByteBudget } from '#shared/byte-budget.ts';
import { SkeinError } from '#shared/error.ts';
import { BatchSpool } from './batch-spool.ts';
import type { Encoding, ResultBatch, ResultShape, DoorSink, ResultSummary } from './result-sink.ts';

export type SpoolOptions = {
  /** Time without a byte taken after which a client counts as one that has stopped. */
  readonly waitMs: number;
  /** Time without a byte taken after which a result whose statement has ended is dropped. */
  readonly ttlMs: number;
  /** Bytes on disk, of all results. */
  readonly budget: ByteBudget;
  /** The tenant whose share of the budget the rows take. */
  readonly owner: string;
  readonly folder: string;
};

/** Interval at which it is looked whether the client of a result that has ended still takes bytes. */
const LOOK_MS = 500;

/**
 * The sink that lets no statement wait for a client who has left or has stopped reading. When the door has taken nothing for `waitMs`, the
 * statement's rows go to a file, so that it ends and gives back its place and its slots, and from there to the door:
 * ```
 * batch ─▶ door
 *    │       │ nothing taken for waitMs
 *    └─▶ file ─▶ door, as the client takes it        more than the budget: QUERY_CANCELLED
 * ```
 */
export class SpooledSink implements DoorSink, Disposable {
  readonly #door: DoorSink;
  readonly #options: SpoolOptions;
  readonly #spool: BatchSpool;
  /** The work that brings rows of the file to the door; null = rows go to it directly. */
  #draining: Promise<void> | null = null;
  /** The error of the door, which the next call throws. */
  #failure: SkeinError | null = null;
  #round = 0;

  constructor(door: DoorSink, options: SpoolOptions) {
    this.#door = door;
    this.#options = options;
    this.#spool = new BatchSpool(options.folder);
  }

  get encoding(): Encoding {
    return this.#door.encoding;
  }

  get committed(): boolean {
    return this.#door.committed;
  }

  get progress(): number {
    return this.#door.progress;
  }

  planned(shape: ResultShape): void {
    this.#door.planned(shape);
  }

  start(): void {
    this.#round += 1;
    this.#draining = null;
    this.#failure = null;
    this.#clear();
    this.#door.start();
  }

  batch(batch: ResultBatch): Promise<void> | undefined {
    if (this.#failure !== null) throw this.#failure;
    if (this.#draining !== null) return this.#append(batch);
    const taken = this.#door.batch(batch);
    return taken === undefined ? undefined : this.#orDrain(taken);
  }

  changed(count: number): void {
    this.#door.changed(count);
  }

  /** Resolves when the door has all rows. @throws QUERY_CANCELLED when the client takes none for `ttlMs`, or is gone */
  async drained(): Promise<void> {
    const { ttlMs } = this.#options;
    let { progress } = this;
    let sinceMs = performance.now();
    while (this.#draining !== null) {
      const draining = this.#draining;
      await Promise.race([draining, sleep(Math.min(LOOK_MS, ttlMs), undefined, { ref: false })]);
      if (progress !== this.progress) [progress, sinceMs] = [this.progress, performance.now()];
      else if (this.#draining === draining && performance.now() - sinceMs >= ttlMs) {
        throw new SkeinError('QUERY_CANCELLED', `the result was not read for ${ttlMs} ms (coordinator.result_ttl)`);
      }
    }
    if (this.#failure !== null) throw this.#failure;
  }

  finish(summary: ResultSummary): void {
    this.#door.finish(summary);
  }

  [Symbol.dispose](): void {
    this.#round += 1;
    this.#clear();
    this.#spool.close();
  }

  /** Waits until the door has taken a batch; from when it has stopped, rows go to the file. */
  async #orDrain(taken: Promise<void>): Promise<void> {
    for (let before = this.progress; ; before = this.progress) {
      const timer = new AbortController();
      const late = sleep(this.#options.waitMs, false, { signal: timer.signal }).catch(() => true);
      const isTaken = await Promise.race([taken.then(() => true), late]).finally(() => timer.abort());
      if (isTaken) return;
      if (this.progress === before) break;
    }
    this.#draining = this.#drain(taken, this.#round);
  }

  /** Brings the rows of the file to the door, as they come. Never throws. */
  async #drain(taken: Promise<void>, round: number): Promise<void> {
    const { budget, owner } = this.#options;
    try {
      await taken;
      while (this.#round === round) {
        const batch = await this.#spool.shift();
        if (this.#round !== round) return;
        if (batch === undefined) {
          if (this.#spool.isEmpty) break;
          continue;
        }
        budget.give(owner, sizeOf(batch));
        await this.#door.batch(batch);
      }
    } catch (error) {
      if (this.#round === round) this.#failure = SkeinError.of(error);
    }
    if (this.#round === round) this.#draining = null;
  }

  async #append(batch: ResultBatch): Promise<void> {
    const { budget, owner } = this.#options;
    if (!budget.take(owner, sizeOf(batch))) {
      throw new SkeinError(
        'QUERY_CANCELLED',
        'the result is not read, and the rows that wait take more than coordinator.result_spool_bytes',
      );
    }
    await this.#spool.push(batch);
  }

  /** Forgets the rows in the file. */
  #clear(): void {
    const { budget, owner } = this.#options;
    budget.give(owner, this.#spool.bytes);
    this.#spool.clear();
  }
}

const sizeOf = ({ header, body }: ResultBatch): number => (header?.length ?? 0) + body.length;
