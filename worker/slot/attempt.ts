import { MessageChannel, type MessagePort } from 'node:worker_threads';
import { InterruptControl } from './interrupt-control.ts';
import type { SlotInput, SlotJob, SlotOutput, SlotStart } from './slot-messages.ts';

/** Interval between repeated interrupts: the first may fall between two pieces, or into planning, which reacts slowly. */
const INTERRUPT_INTERVAL_MS = 50;

/** The main thread's handle of one attempt to run a task on one slot. */
export class Attempt {
  readonly start: SlotStart;
  /** Resolves when the thread has finished with the attempt: true if it returned, false if the thread failed. Never rejects. */
  readonly left: Promise<boolean>;
  readonly #port: MessagePort;
  readonly #control = new InterruptControl();
  #interrupts: NodeJS.Timeout | undefined;
  #hasLeft = false;

  /** `run` executes the job on the slot's thread, and settles when the thread has finished with it. */
  constructor(
    job: number,
    start: SlotStart,
    run: (job: SlotJob) => Promise<void>,
    onOutput: (output: SlotOutput) => void,
  ) {
    this.start = start;
    const { port1, port2 } = new MessageChannel();
    this.#port = port1;
    port1.on('message', onOutput);
    const closed = new Promise<void>((resolve) => port1.once('close', resolve));
    this.left = this.#run(run({ ...start, job, port: port2, control: this.#control.buffer }), closed);
  }

  async #run(done: Promise<void>, closed: Promise<void>): Promise<boolean> {
    try {
      await done;
      // The port closes after the thread's last message has been read.
      await closed;
      return true;
    } catch {
      return false;
    } finally {
      this.#hasLeft = true;
      clearInterval(this.#interrupts);
    }
  }

  /** Milliseconds that the attempt has had on the thread. */
  get scheduledMs(): number {
    return this.#control.scheduledMs;
  }

  /** Whether the attempt was interrupted or withdrawn, so that its quantum should end at once. */
  get isStopped(): boolean {
    return this.#interrupts !== undefined || this.#control.isWithdrawn;
  }

  post(input: SlotInput): void {
    this.#port.postMessage(input, []);
  }

  /** Interrupts the running piece once, without marking the attempt as stopped. */
  nudge(): void {
    if (!this.#hasLeft) this.#control.interrupt();
  }

  /** Interrupts the running piece and every later one. */
  interrupt(): void {
    if (this.#hasLeft || this.#interrupts !== undefined) return;
    this.#control.interrupt();
    this.#interrupts = setInterval(() => this.#control.interrupt(), INTERRUPT_INTERVAL_MS);
  }

  /** Stops listening to the attempt; the thread drops it at its next quantum. */
  withdraw(): void {
    this.#control.withdraw();
    this.#port.close();
  }
}
