import { interruptConnection } from '../duckdb/instance.ts';

/**
 * Lets the main thread interrupt a statement that runs in a slot's thread, without ever touching a connection that is closed: the slot
 * publishes the address while a statement is open, and the two exclude each other by one atomic word.
 *
 * ```
 * IDLE --open--> RUNNING --interrupt--> BUSY --> RUNNING
 *   ^----close----'
 * ```
 */
const STATE = 0;
const IDLE = 0;
const RUNNING = 1;
const BUSY = 2;
const ADDRESS_OFFSET = 8;

export class InterruptControl {
  readonly buffer: SharedArrayBuffer;
  readonly #state: Int32Array<SharedArrayBuffer>;
  readonly #address: BigUint64Array<SharedArrayBuffer>;

  constructor(buffer: SharedArrayBuffer = new SharedArrayBuffer(16)) {
    this.buffer = buffer;
    this.#state = new Int32Array(buffer, 0, 1);
    this.#address = new BigUint64Array(buffer, ADDRESS_OFFSET, 1);
  }

  /** Slot: from now on `interrupt` reaches this connection. */
  open(connection: bigint): void {
    Atomics.store(this.#address, 0, connection);
    Atomics.store(this.#state, STATE, RUNNING);
  }

  /** Slot: waits out an interrupt that is under way (microseconds); after it the connection may be closed. */
  close(): void {
    while (Atomics.compareExchange(this.#state, STATE, RUNNING, IDLE) === BUSY);
  }

  /** Main thread: ends the piece that runs, if there is one. */
  interrupt(): void {
    if (Atomics.compareExchange(this.#state, STATE, RUNNING, BUSY) !== RUNNING) return;
    interruptConnection(Atomics.load(this.#address, 0));
    Atomics.store(this.#state, STATE, RUNNING);
  }
}
