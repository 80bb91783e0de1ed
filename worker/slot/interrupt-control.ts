import { interruptConnection } from '../duckdb/instance.ts';

/**
 * What the main thread and a slot share of one attempt of a task. It lets the main thread interrupt a statement that runs in the slot's
 * thread, without ever touching a connection that is closed: the slot publishes the address while a statement is open, and the two
 * exclude each other by one atomic word.
 *
 * ```
 * IDLE --open--> RUNNING --interrupt--> BUSY --> RUNNING
 *   ^----close----'
 * ```
 * It also says whether the attempt was withdrawn, and for how long it has run.
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

  /** Slot: waits out an interrupt that is under way (microseconds); after it the connection may be closed. */
  close(): void {
    while (Atomics.compareExchange(this.#words, STATE, RUNNING, IDLE) === BUSY);
  }

  /** Main thread: ends the piece that runs, if there is one. */
  interrupt(): void {
    if (Atomics.compareExchange(this.#words, STATE, RUNNING, BUSY) !== RUNNING) return;
    interruptConnection(Atomics.load(this.#address, 0));
    Atomics.store(this.#words, STATE, RUNNING);
  }

  /** Main thread: nobody wants what this attempt gives. The slot ends it when it comes to it. */
  withdraw(): void {
    Atomics.store(this.#words, WITHDRAWN, 1);
  }

  get isWithdrawn(): boolean {
    return Atomics.load(this.#words, WITHDRAWN) !== 0;
  }

  /** Slot: the attempt has had so much time on the thread. */
  charge(scheduledMs: number): void {
    Atomics.store(this.#words, SCHEDULED_MS, Math.round(scheduledMs));
  }

  /** Work that is lost when the attempt is withdrawn. */
  get scheduledMs(): number {
    return Atomics.load(this.#words, SCHEDULED_MS);
  }
}
