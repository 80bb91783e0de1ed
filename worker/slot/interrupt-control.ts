import { interruptConnection } from '../duckdb/instance.ts';

/**
 * Memory that the main thread and a slot share for one attempt of a task. It lets the main thread interrupt a statement that runs in the
 * slot's thread without ever touching a closed connection: the slot publishes the connection's address while a statement is open, and
 * one atomic word serves as the lock between the two.
 *
 * ```
 * IDLE --open--> RUNNING --interrupt--> BUSY --> RUNNING
 *   ^----close----'
 * ```
 * It also holds whether the attempt was withdrawn, and its scheduled time.
 */
const STATE = 0;
const WITHDRAWN = 1;
const SCHEDULED_MS = 4;
const IDLE = 0;
const RUNNING = 1;
const BUSY = 2;
const ADDRESS_OFFSET = 8;
const BYTES = 24;

export class InterruptControl {
  readonly buffer: SharedArrayBuffer;
  readonly #words: Int32Array<SharedArrayBuffer>;
  readonly #address: BigUint64Array<SharedArrayBuffer>;

  constructor(buffer: SharedArrayBuffer = new SharedArrayBuffer(BYTES)) {
    this.buffer = buffer;
    this.#words = new Int32Array(buffer);
    this.#address = new BigUint64Array(buffer, ADDRESS_OFFSET, 1);
  }

  /** Slot: from now on `interrupt` reaches this connection. */
  open(connection: bigint): void {
    Atomics.store(this.#address, 0, connection);
    Atomics.store(this.#words, STATE, RUNNING);
  }

  /** Slot: waits for an interrupt in progress (microseconds); afterwards the connection may be closed. */
  close(): void {
    while (Atomics.compareExchange(this.#words, STATE, RUNNING, IDLE) === BUSY);
  }

  /** Main thread: interrupts the running piece of the statement, if there is one. */
  interrupt(): void {
    if (Atomics.compareExchange(this.#words, STATE, RUNNING, BUSY) !== RUNNING) return;
    interruptConnection(Atomics.load(this.#address, 0));
    Atomics.store(this.#words, STATE, RUNNING);
  }

  /** Main thread: marks the attempt's output as unwanted. The slot ends the attempt at its next quantum. */
  withdraw(): void {
    Atomics.store(this.#words, WITHDRAWN, 1);
  }

  get isWithdrawn(): boolean {
    return Atomics.load(this.#words, WITHDRAWN) !== 0;
  }

  /** Slot: records the attempt's time on the thread so far. */
  charge(scheduledMs: number): void {
    Atomics.store(this.#words, SCHEDULED_MS, Math.round(scheduledMs));
  }

  /** Thread time so far: the work that is lost when the attempt is withdrawn. */
  get scheduledMs(): number {
    return Atomics.load(this.#words, SCHEDULED_MS);
  }
}
