import { MessageChannel, type MessagePort } from 'node:worker_threads';
import { InterruptControl } from './interrupt-control.ts';
import type { SlotInput, SlotJob, SlotOutput, SlotStart } from './slot-messages.ts';

/** How often a stopped attempt is interrupted again: the first may fall between two pieces, or into planning, which is slow to obey. */
const INTERRUPT_INTERVAL_MS = 50;

/** One try of a task on one slot, as the main thread sees it. */
export class Attempt {
  readonly start: SlotStart;
  /** Settles when the thread has left it, to whether it came to an end of its own; never rejects. */
  readonly left: Promise<boolean>;
  readonly #port: MessagePort;
  readonly #control = new InterruptControl();
  #interrupts: NodeJS.Timeout | undefined;
  #hasLeft = false;

  /** `run` has the slot's thread do the job, and settles when it has left it. */
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
      // What the thread said last is read first.
      await closed;
      return true;
    } catch {
      return false;
    } finally {
      this.#hasLeft = true;
      clearInterval(this.#interrupts);
    }
  }

  /** Time that it has had on the thread. */
  get scheduledMs(): number {
    return this.#control.scheduledMs;
  }

  /** Its end was asked for, so its quantum should end at once. */
  get isStopped(): boolean {
    return this.#interrupts !== undefined || this.#control.isWithdrawn;
  }

  post(input: SlotInput): void {
    this.#port.postMessage(input, []);
  }

  /** Asks the piece that runs to end; it is not held against the attempt when it does not. */
  nudge(): void {
    if (!this.#hasLeft) this.#control.interrupt();
  }

  /** Ends the piece that runs, and every one that follows. */
  interrupt(): void {
    if (this.#hasLeft || this.#interrupts !== undefined) return;
    this.#control.interrupt();
    this.#interrupts = setInterval(() => this.#control.interrupt(), INTERRUPT_INTERVAL_MS);
  }

  /** Nobody listens to it any more; the thread drops it when it comes to it. */
  withdraw(): void {
    this.#control.withdraw();
    this.#port.close();
  }
}
