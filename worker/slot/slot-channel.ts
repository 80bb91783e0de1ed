import { MessageChannel, type MessagePort } from 'node:worker_threads';
import type { FromJob, SlotInput, ToJob } from './slot-messages.ts';

/**
 * The main thread's end of the channel to a slot's thread, for all of its jobs: one for each job would take a short task a tenth of its
 * CPU time. A thread that follows on one that died gets a channel of its own.
 */
export class SlotChannel {
  #port: MessagePort | undefined;
  readonly #listeners = new Map<number, (message: FromJob) => void>();

  /** The end that the thread is to take with the next job; null when it has one. */
  open(): MessagePort | null {
    if (this.#port !== undefined) return null;
    const { port1, port2 } = new MessageChannel();
    this.#port = port1;
    port1.on('message', (message: FromJob) => this.#take(message));
    // The thread has died.
    port1.once('close', () => {
      this.#port = undefined;
    });
    port1.unref();
    return port2;
  }

  /** Calls `listener` with the messages of a job, up to the last. */
  listen(job: number, listener: (message: FromJob) => void): void {
    this.#listeners.set(job, listener);
  }

  /** The thread has died: the job has no last message. */
  forget(job: number): void {
    this.#listeners.delete(job);
  }

  post(message: ToJob): void {
    this.#port?.postMessage(message, []);
  }

  #take(message: FromJob): void {
    const listener = this.#listeners.get(message.job);
    if (message.isLast) this.#listeners.delete(message.job);
    listener?.(message);
  }
}

/** The thread's end of the same. */
export class ThreadChannel {
  #port: MessagePort | undefined;
  /** The number of the job that began last: a slot's jobs have rising numbers. */
  #lastJob = 0;
  readonly #listeners = new Map<number, (input: SlotInput) => void>();
  /** Messages to jobs that have not begun: those of two ports come in any order. */
  readonly #early = new Map<number, SlotInput[]>();

  /** Takes the end that came with a job. @throws Error when none has come yet: the job was sent to a thread that has died */
  use(port: MessagePort | null): void {
    if (port === null) {
      if (this.#port === undefined) throw new Error('the thread of a slot has no channel');
      return;
    }
    this.#port = port;
    port.on('message', ({ job, input }: ToJob) => this.#take(job, input));
    port.unref();
  }

  /** A job begins: calls `listener` with the messages to it, those before its begin first. */
  listen(job: number, listener: (input: SlotInput) => void): void {
    this.#lastJob = Math.max(this.#lastJob, job);
    this.#listeners.set(job, listener);
    for (const input of this.#early.get(job) ?? []) listener(input);
    this.#early.delete(job);
  }

  post(message: FromJob, transfer: readonly ArrayBuffer[]): void {
    if (message.isLast) this.#listeners.delete(message.job);
    this.#port?.postMessage(message, transfer);
  }

  #take(job: number, input: SlotInput): void {
    const listener = this.#listeners.get(job);
    if (listener !== undefined) listener(input);
    else if (job > this.#lastJob) this.#early.set(job, [...(this.#early.get(job) ?? []), input]);
  }
}
