/** Words of a stamp. */
const SEQUENCE = 0;
const JOB = 1;
const THREAD = 2;
const SENT = 3;
const WORDS = 4;

/** A slot's state as read by the main thread: an odd sequence number means that the slot is inside DuckDB for `job`. */
export type Stamp = { readonly sequence: number; readonly job: number };

/**
 * Shared memory in which a slot's thread records that it enters or leaves DuckDB. While inside it cannot send messages, so the main thread
 * polls these words. Only a change of the sequence number matters, so the threads need no common clock.
 */
export class QuantumStamp {
  readonly buffer: SharedArrayBuffer;
  readonly #words: Int32Array<SharedArrayBuffer>;

  constructor(buffer: SharedArrayBuffer = new SharedArrayBuffer(WORDS * 4)) {
    this.buffer = buffer;
    this.#words = new Int32Array(buffer);
  }

  /** Slot: runs `work` for `job`, with the stamp set. Calls do not nest. */
  during<T>(job: number, work: () => T): T {
    Atomics.store(this.#words, JOB, job);
    Atomics.add(this.#words, SEQUENCE, 1);
    try {
      return work();
    } finally {
      Atomics.add(this.#words, SEQUENCE, 1);
    }
  }

  /** Main thread: another job is on its way to the slot, which ends its quantum soon and takes the job. Called when the job was sent. */
  sent(): void {
    Atomics.add(this.#words, SENT, 1);
  }

  /** Slot: number of jobs that were sent so far. */
  get jobsSent(): number {
    return Atomics.load(this.#words, SENT);
  }

  /** Main thread. */
  read(): Stamp {
    return { sequence: Atomics.load(this.#words, SEQUENCE), job: Atomics.load(this.#words, JOB) };
  }

  /** Slot, once: records the operating system's id of its thread. */
  setThread(thread: number): void {
    Atomics.store(this.#words, THREAD, thread);
  }

  /** Operating system's thread id; 0 before the slot has set it, and on systems without such ids. */
  get thread(): number {
    return Atomics.load(this.#words, THREAD);
  }
}
