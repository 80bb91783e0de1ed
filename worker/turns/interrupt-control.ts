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
 * It also holds whether the attempt was interrupted, whether it was withdrawn, whether it has work to do, whether it is held, its scheduled time,
 * its CPU time, and the bytes that it scans.
 */
const STATE = 0;
const WITHDRAWN = 1;
const RUNNABLE = 4;
const HELD = 5;
const INTERRUPTED = 14;
const IDLE = 0;
const RUNNING = 1;
const BUSY = 2;
const ADDRESS_OFFSET = 8;
const CPU_OFFSET = 24;
const SCANNED_OFFSET = 48;
const BYTES = 64;
/** In microseconds: CPU time of the quanta that have ended, that of the thread at the begin of the present one (0 between quanta), time of all quanta. */
const USED = 0;
const BEGAN = 1;
const SCHEDULED = 2;

export class InterruptControl {
  readonly buffer: SharedArrayBuffer;
  readonly #words: Int32Array<SharedArrayBuffer>;
  readonly #address: BigUint64Array<SharedArrayBuffer>;
  readonly #cpu: BigInt64Array<SharedArrayBuffer>;
  readonly #scanned: BigInt64Array<SharedArrayBuffer>;

  constructor(buffer: SharedArrayBuffer) {
    this.buffer = buffer;
    this.#words = new Int32Array(buffer);
    this.#address = new BigUint64Array(buffer, ADDRESS_OFFSET, 1);
    this.#cpu = new BigInt64Array(buffer, CPU_OFFSET, 3);
    this.#scanned = new BigInt64Array(buffer, SCANNED_OFFSET, 1);
  }

  /** Main thread: of an attempt that has work to do, as soon as its slot gets to it. */
  static create(): InterruptControl {
    const control = new InterruptControl(new SharedArrayBuffer(BYTES));
    control.setRunnable(true);
    return control;
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
    Atomics.store(this.#words, INTERRUPTED, 1);
    interruptConnection(Atomics.load(this.#address, 0));
    Atomics.store(this.#words, STATE, RUNNING);
  }

  /** Whether a piece was interrupted at any time. */
  get wasInterrupted(): boolean {
    return Atomics.load(this.#words, INTERRUPTED) !== 0;
  }

  /** Main thread: marks the attempt's output as unwanted. The slot ends the attempt at its next quantum. */
  withdraw(): void {
    Atomics.store(this.#words, WITHDRAWN, 1);
  }

  get isWithdrawn(): boolean {
    return Atomics.load(this.#words, WITHDRAWN) !== 0;
  }

  /** Tells whether the attempt has work to do: not while its reader has to catch up. */
  setRunnable(on: boolean): void {
    Atomics.store(this.#words, RUNNABLE, on ? 1 : 0);
  }

  get isRunnable(): boolean {
    return Atomics.load(this.#words, RUNNABLE) !== 0;
  }

  /** Main thread: keeps the attempt from its turns, also before its slot gets to it. */
  hold(on: boolean): void {
    Atomics.store(this.#words, HELD, on ? 1 : 0);
  }

  get isHeld(): boolean {
    return Atomics.load(this.#words, HELD) !== 0;
  }

  /** Slot: a quantum of the attempt begins. */
  begin(): void {
    Atomics.store(this.#cpu, BEGAN, threadCpu());
  }

  /** Slot: the quantum has ended after this time. */
  charge(quantumMs: number): void {
    const began = Atomics.load(this.#cpu, BEGAN);
    Atomics.store(this.#cpu, BEGAN, 0n);
    if (began !== 0n) Atomics.add(this.#cpu, USED, threadCpu() - began);
    Atomics.add(this.#cpu, SCHEDULED, BigInt(Math.round(quantumMs * 1_000)));
  }

  /** Whether a quantum of the attempt has begun and has not ended. */
  get isInside(): boolean {
    return Atomics.load(this.#cpu, BEGAN) !== 0n;
  }

  /** CPU time of the attempt so far, in ms; `threadMs` tells that of its thread now. */
  cpuMs(threadMs: () => number): number {
    const used = Number(Atomics.load(this.#cpu, USED)) / 1_000;
    const began = Number(Atomics.load(this.#cpu, BEGAN)) / 1_000;
    return began === 0 ? used : used + Math.max(0, threadMs() - began);
  }

  /** Thread time so far, in ms: the work that is lost when the attempt is withdrawn. */
  get scheduledMs(): number {
    return Number(Atomics.load(this.#cpu, SCHEDULED)) / 1_000;
  }

  /** Slot: the attempt begins to read column chunks of so many bytes. */
  scans(bytes: number): void {
    Atomics.store(this.#scanned, 0, BigInt(Math.round(bytes)));
  }

  /** Bytes of the column chunks that the attempt reads; 0 before it begins to. */
  get bytesScanned(): number {
    return Number(Atomics.load(this.#scanned, 0));
  }
}

/** CPU time of the calling thread, in microseconds. */
function threadCpu(): bigint {
  const { user, system } = process.threadCpuUsage();
  return BigInt(user + system);
}
