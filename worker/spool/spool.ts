import type { ErrorData } from '#shared/error.ts';
import type { TaskReport } from '#proto/task.ts';

/** How a task's output ends. */
export type SpoolEnd =
  | { readonly kind: 'finished'; readonly report: TaskReport }
  | { readonly kind: 'failed'; readonly error: ErrorData };

/** What a reader gets: messages, each encoded as it goes over the wire, then the end, which stays. */
export type SpoolItem = { readonly kind: 'data'; readonly data: Uint8Array } | SpoolEnd;

/** The output of one task from the moment that it is made until a reader has it; it has one reader, and each message is read once. */
export class TaskSpool {
  readonly #spool: Spool;
  readonly #onTaken: (bytes: number) => void;
  #messages: Uint8Array[] = [];
  #end: SpoolEnd | undefined;
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

  /** The first end counts. A failure drops what has not been read: nobody wants half a result. */
  end(end: SpoolEnd): void {
    if (this.#end !== undefined) return;
    if (end.kind === 'failed') this.clear();
    this.#end = end;
    this.#wake?.();
  }

  /** The next item, as soon as there is one. */
  async next(): Promise<SpoolItem> {
    for (;;) {
      const data = this.#messages.shift();
      if (data !== undefined) return { kind: 'data', data };
      if (this.#end !== undefined) return this.#end;
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
      this.#wake = undefined;
    }
  }

  /** The reader has no more use for so many bytes of messages: their memory is free, and the task may make more. */
  taken(bytes: number): void {
    // What was on its way to the reader when the spool was cleared is no longer counted.
    const counted = Math.min(bytes, this.#bytes);
    this.#bytes -= counted;
    this.#spool.add(-counted);
    this.#onTaken(bytes);
  }

  /** Drops everything that is held for the reader. */
  clear(): void {
    this.#messages = [];
    this.#spool.add(-this.#bytes);
    this.#bytes = 0;
  }
}

/**
 * The memory of all output of a worker, streamed or in partitions. Over the limit the tasks with streamed output are paused, those with
 * nothing spooled excepted; partitions go to files before (`spooled-output.ts`).
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

  /** Of `TaskSpool` and `SpoolStore` only. */
  add(bytes: number): void {
    this.#bytes += bytes;
    const full = this.#bytes >= this.limitBytes;
    if (full !== this.#full) this.#onFull(full);
    this.#full = full;
  }
}
