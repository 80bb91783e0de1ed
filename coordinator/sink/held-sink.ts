import { SkeinError } from '#shared/error.ts';
import { BatchSpool } from './batch-spool.ts';
import type { DoorSink, Encoding, ResultBatch, ResultShape, ResultSink, ResultSummary } from './result-sink.ts';

export type HeldOptions = {
  /** Bytes of held rows in memory; the rest waits on disk. */
  readonly memoryBytesMax: number;
  /** Bytes of held rows: a statement whose rows are more must fail before it commits. */
  readonly bytesMax: number;
  readonly folder: string;
};

/** The rows that wait, and what the door will be told before it gets them. */
type Held = {
  shape: ResultShape | undefined;
  hasStarted: boolean;
  batches: ResultBatch[];
  bytes: number;
};

/**
 * Holds the rows of a statement back until it has committed, for every door: none of them has to. What is behind `coordinator.result_holdback`
 * waits on disk.
 * ```
 *  open ──hold──▶ held ──release──▶ open       open: everything goes to the door as it comes
 *                  │ start: the rows begin again
 *                  └─ planned, start and batches wait
 * ```
 */
export class HeldSink implements ResultSink, Disposable {
  readonly #door: DoorSink;
  readonly #options: HeldOptions;
  readonly #spool: BatchSpool;
  /** Undefined while the sink is open. */
  #held: Held | undefined;

  constructor(door: DoorSink, options: HeldOptions) {
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
    if (this.#held === undefined) this.#door.planned(shape);
    else this.#held.shape = shape;
  }

  start(): void {
    if (this.#held === undefined) return this.#door.start();
    this.#spool.clear();
    this.#held = { ...this.#held, hasStarted: true, batches: [], bytes: 0 };
  }

  batch(batch: ResultBatch): Promise<void> | undefined {
    const held = this.#held;
    if (held === undefined) return this.#door.batch(batch);
    const { memoryBytesMax, bytesMax } = this.#options;
    held.bytes += batch.body.length + (batch.header?.length ?? 0);
    if (held.bytes > bytesMax) {
      const limit = `the result has more than ${bytesMax} bytes (coordinator.result_bytes_max)`;
      throw new SkeinError('RESULT_TOO_LARGE', limit);
    }
    // Rows keep their order: what comes behind those on disk goes there, too.
    if (held.bytes > memoryBytesMax || !this.#spool.isEmpty) return this.#spool.push(batch);
    held.batches.push(batch);
    return undefined;
  }

  hold(): void {
    this.#held ??= { shape: undefined, hasStarted: false, batches: [], bytes: 0 };
  }

  async release(): Promise<void> {
    const held = this.#held;
    this.#held = undefined;
    if (held === undefined) return;
    if (held.shape !== undefined) this.#door.planned(held.shape);
    if (held.hasStarted) this.#door.start();
    for (const batch of held.batches) await this.#door.batch(batch);
    while (!this.#spool.isEmpty) {
      const batch = await this.#spool.shift();
      if (batch !== undefined) await this.#door.batch(batch);
    }
  }

  changed(count: number): void {
    this.#door.changed(count);
  }

  finish(summary: ResultSummary): void {
    this.#door.finish(summary);
  }

  [Symbol.dispose](): void {
    this.#spool.close();
  }
}
