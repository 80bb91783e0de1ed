/** Words of a stamp. */
const SEQUENCE = 0;
const JOB = 1;
const THREAD = 2;
const WORDS = 3;

/** What the main thread reads of a slot: an odd sequence number means that the slot is at work for `job`, and has not come back. */
export type Stamp = { readonly sequence: number; readonly job: number };

/**
 * Shared words with which a slot's thread says when it enters and leaves DuckDB. Inside it can say nothing: the main thread watches the
 * words. A change of the sequence number is all that counts, so the threads need no common clock.
 */
export class QuantumStamp {
  readonly buffer: SharedArrayBuffer;
  readonly #words: Int32Array<SharedArrayBuffer>;

  constructor(buffer: SharedArrayBuffer = new SharedArrayBuffer(WORDS * 4)) {
    this.buffer = buffer;
    this.#words = new Int32Array(buffer);
  }

  /** Slot: does `work`, which belongs to `job`, in one go. Calls do not nest. */
  during<T>(job: number, work: () => T): T {
    Atomics.store(this.#words, JOB, job);
    Atomics.add(this.#words, SEQUENCE, 1);
    try {
      return work();
    } finally {
      Atomics.add(this.#words, SEQUENCE, 1);
    }
  }

  /** Main thread. */
  read(): Stamp {
    return { sequence: Atomics.load(this.#words, SEQUENCE), job: Atomics.load(this.#words, JOB) };
  }

  /** Slot, once: the number of its thread in the operating system. */
  setThread(thread: number): void {
    Atomics.store(this.#words, THREAD, thread);
  }

  /** 0 before the slot has said it, and where threads have no numbers. */
  get thread(): number {
    return Atomics.load(this.#words, THREAD);
  }
}
