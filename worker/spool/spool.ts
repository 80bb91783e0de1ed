import type { ErrorData } from '#shared/error.ts';
import type { TaskReport } from '#shared/task/task.ts';

/** The end of a task's output. */
export type SpoolEnd =
  | { readonly kind: 'finished'; readonly report: TaskReport }
  | { readonly kind: 'failed'; readonly error: ErrorData };

/** One item of a reader's stream: encoded wire messages, then the end, which is returned again by every later read. */
export type SpoolItem = { readonly kind: 'data'; readonly data: Uint8Array } | SpoolEnd;

/** An output that was taken whole. */
export type WholeOutput = { readonly messages: readonly Uint8Array[]; readonly end: SpoolEnd };

/** Buffers the output of one task until its reader takes it. There is one reader, and each message is read once. */
export class TaskSpool {
  readonly #spool: Spool;
  readonly #onTaken: (bytes: number) => void;
  #messages: Uint8Array[] = [];
  #end: SpoolEnd | undefined;
  #isEndRead = false;
  #wake: (() => void) | undefined;
  #bytes = 0;

  constructor(spool: Spool, onTaken: (bytes: number) => void) {
    this.#spool = spool;
    this.#onTaken = onTaken;
  }

  push(data: Uint8Array): void {
    if (this.#end !== undefined) return;
    this.#messages.push(data);
    this.#bytes += data.length;
    this.#spool.add(data.length);
    this.#wake?.();
  }

  /**
   * Ends the output; only the first call counts, but a failure replaces a report that the reader has not come to. A failure drops unread
   * messages, and a report without them would pass half a result off as a whole one.
   */
  end(end: SpoolEnd): void {
    if (this.#end !== undefined && (end.kind === 'finished' || this.#end.kind === 'failed' || this.#isEndRead)) return;
    if (end.kind === 'failed') this.clear();
    this.#end = end;
    this.#wake?.();
  }

  /** Returns the next item, as soon as there is one. */
  async next(): Promise<SpoolItem> {
    for (;;) {
      const data = this.#messages.shift();
      if (data !== undefined) return { kind: 'data', data };
      if (this.#end !== undefined) {
        this.#isEndRead = true;
        return this.#end;
      }
      await this.#change();
    }
  }

  /**
   * Takes all of the output, when its messages have at most `bytesMax` bytes, its report no longer profile than that, and it ends within
   * `waitMs` of the first message. Else it answers null as soon as it is known, and nothing has been taken.
   */
  async whole(bytesMax: number, waitMs: number): Promise<WholeOutput | null> {
    let timer: NodeJS.Timeout | undefined;
    const late = { isLate: false };
    while (this.#end === undefined && this.#bytes <= bytesMax && !late.isLate) {
      if (this.#messages.length > 0) {
        timer ??= setTimeout(() => {
          late.isLate = true;
          this.#wake?.();
        }, waitMs);
      }
      await this.#change();
    }
    clearTimeout(timer);
    if (this.#end === undefined || this.#bytes > bytesMax || profileLength(this.#end) > bytesMax) return null;
    const messages = this.#messages;
    this.#messages = [];
    this.#isEndRead = true;
    this.taken(this.#bytes);
    return { messages, end: this.#end };
  }

  /** Called when the reader is done with this many bytes of messages: their memory is free, and the task may produce more. */
  taken(bytes: number): void {
    // Bytes that were on their way to the reader when the spool was cleared have been subtracted already.
    const counted = Math.min(bytes, this.#bytes);
    this.#bytes -= counted;
    this.#spool.add(-counted);
    this.#onTaken(bytes);
  }

  async #change(): Promise<void> {
    await new Promise<void>((resolve) => {
      this.#wake = resolve;
    });
    this.#wake = undefined;
  }

  /** Drops everything that is held for the reader. */
  clear(): void {
    this.#messages = [];
    this.#spool.add(-this.#bytes);
    this.#bytes = 0;
  }
}

/** Characters of the profile in a report; operators tell of expressions, which are as long as their statement. */
const profileLength = (end: SpoolEnd): number =>
  end.kind === 'failed' ? 0 : JSON.stringify(end.report.profile).length;

/**
 * Counts the memory of all task output of a worker, streamed or partitioned. Over the limit, tasks with streamed output are paused,
 * except those with nothing spooled; partitions spill to files before that (`spooled-output.ts`).
 */
export class Spool {
  readonly limitBytes: number;
  readonly #onFull: (full: boolean) => void;
  #bytes = 0;
  #full = false;

  constructor(limitBytes: number, onFull: (full: boolean) => void) {
    this.limitBytes = limitBytes;
    this.#onFull = onFull;
  }

  get bytes(): number {
    return this.#bytes;
  }

  open(onTaken: (bytes: number) => void): TaskSpool {
    return new TaskSpool(this, onTaken);
  }

  /** Adds to the bytes held; only `TaskSpool` and `SpoolStore` call it. */
  add(bytes: number): void {
    this.#bytes += bytes;
    const full = this.#bytes >= this.limitBytes;
    if (full !== this.#full) this.#onFull(full);
    this.#full = full;
  }
}
