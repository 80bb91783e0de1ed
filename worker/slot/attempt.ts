import { InterruptControl } from '../turns/interrupt-control.ts';
import type { SlotChannel } from '../turns/slot-channel.ts';
import type { FromJob, FromSlot, QueryTime, SlotInput, SlotJob, SlotStart } from '../turns/slot-messages.ts';

/** Interval between repeated interrupts: the first may fall between two pieces, or into planning, which reacts slowly. */
const INTERRUPT_INTERVAL_MS = 50;

/** The main thread's handle of one attempt to run a task on one slot. */
export class Attempt {
  readonly start: SlotStart;
  /** The time of its query, which decides on its level now. */
  time: QueryTime;
  /** Resolves when the thread has finished with the attempt: true if it returned, false if the thread failed. Never rejects. */
  readonly left: Promise<boolean>;
  readonly #job: number;
  readonly #channel: SlotChannel;
  readonly #threadCpuMs: () => number;
  readonly #control = InterruptControl.create();
  #interrupts: NodeJS.Timeout | undefined;
  #hasLeft = false;

  /**
   * `thread.run` executes the job on the slot's thread, which sends the last message when it has finished with it; `thread.cpuMs` tells the
   * CPU time of the thread, and `thread.channel` leads to it.
   */
  constructor(
    job: number,
    start: SlotStart,
    thread: {
      readonly run: (job: SlotJob) => Promise<void>;
      readonly cpuMs: () => number;
      readonly channel: SlotChannel;
    },
    onOutput: (output: FromSlot) => void,
  ) {
    this.#job = job;
    this.#channel = thread.channel;
    this.start = start;
    this.time = start.spec;
    this.#threadCpuMs = thread.cpuMs;
    const { promise: ended, resolve } = Promise.withResolvers<void>();
    const port = this.#channel.begin(job, ({ outputs, isLast }: FromJob) => {
      for (const output of outputs) onOutput(output);
      if (isLast) resolve();
    });
    this.left = this.#run(thread.run({ ...start, job, port, control: this.#control.buffer }), ended);
  }

  /** `ended`: the job's last message has come. `done` is settled a little later, or is rejected when there will be none. */
  async #run(done: Promise<void>, ended: Promise<void>): Promise<boolean> {
    try {
      await Promise.race([ended, done.then(() => ended)]);
      return true;
    } catch {
      this.#channel.lost(this.#job);
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

  /** Bytes of the column chunks that the attempt reads. */
  get bytesScanned(): number {
    return this.#control.bytesScanned;
  }

  /** CPU time of the attempt so far, in ms. */
  get cpuMs(): number {
    return this.#control.cpuMs(this.#threadCpuMs);
  }

  /** Whether its thread is in a quantum of it. */
  get isInside(): boolean {
    return this.#control.isInside;
  }

  /** Whether the attempt has work to do on its thread. */
  get isRunnable(): boolean {
    return this.#control.isRunnable && !this.#control.isWithdrawn;
  }

  /** Keeps the attempt from its turns, or lets it go on; one that was stopped goes on, so that it ends. */
  hold(on: boolean): void {
    if (on === this.#control.isHeld || this.isStopped) return;
    // The message wakes the thread; the mark is there before the thread begins with the job.
    this.#control.hold(on);
    this.post({ kind: 'hold', on });
  }

  /** Its query has had this time by now. */
  setTime({ scheduledMs, pinnedToTop }: QueryTime): void {
    this.time = { scheduledMs, pinnedToTop };
    if (!this.isStopped) this.post({ kind: 'time', time: this.time });
  }

  /** Whether the attempt was interrupted or withdrawn, so that its quantum should end at once. */
  get isStopped(): boolean {
    return this.#interrupts !== undefined || this.#control.isWithdrawn;
  }

  post(input: SlotInput): void {
    this.#channel.post({ job: this.#job, input });
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

  /** The thread drops the attempt at its next quantum; what it has sent before still comes. */
  withdraw(): void {
    this.#control.withdraw();
    this.post({ kind: 'withdrawn' });
  }
}
