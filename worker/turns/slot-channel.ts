import { MessageChannel, type MessagePort } from 'node:worker_threads';
import { must } from '#shared/must.ts';
import type { FromJob, SlotInput, ToJob } from './slot-messages.ts';

type Listener = (message: FromJob) => void;

/**
 * The main thread's end of the channel to a slot's thread, for all of its jobs: one for each job would take a short task a tenth of its
 * CPU time. A thread that is started in place of one that died gets a channel of its own.
 */
export class SlotChannel {
  /** Undefined until a job has brought the thread its end. */
  #port: MessagePort | undefined;
  /** The jobs whose last message has not come, each with the channel that it began with. */
  readonly #jobs = new Map<number, { readonly port: MessagePort; readonly listener: Listener }>();

  /**
   * Begins a job: calls `listener` with its messages, up to the last. Returns the end that the thread is to take with this job; null when
   * it has one.
   */
  begin(job: number, listener: Listener): MessagePort | null {
    const end = this.#port === undefined ? this.#open() : null;
    this.#jobs.set(job, { port: must(this.#port, 'opened above'), listener });
    return end;
  }

  /** Does nothing once the job's last message has come: it would only wake the thread. */
  post(message: ToJob): void {
    const { port } = this.#jobs.get(message.job) ?? {};
    port?.postMessage(message, []);
  }

  /**
   * The thread has died; `job` is one that died with it. The next job brings the new thread its end. Messages that are on their way still
   * come.
   */
  lost(job?: number): void {
    if (job === undefined || this.#jobs.get(job)?.port === this.#port) this.#port = undefined;
  }

  #open(): MessagePort {
    const { port1, port2 } = new MessageChannel();
    this.#port = port1;
    port1.on('message', (message: FromJob) => this.#take(message));
    // Comes some time after the end of the thread, when all of its messages have been read.
    port1.once('close', () => {
      if (this.#port === port1) this.#port = undefined;
      for (const [job, { port }] of this.#jobs) if (port === port1) this.#jobs.delete(job);
    });
    port1.unref();
    return port2;
  }

  #take(message: FromJob): void {
    const { listener } = this.#jobs.get(message.job) ?? {};
    if (message.isLast) this.#jobs.delete(message.job);
    listener?.(message);
  }
}

/** The thread's end of the same. */
export class ThreadChannel {
  #port: MessagePort | undefined;
  /** The number of the job that began last: they begin in the order of their numbers. */
  #lastJob = 0;
  readonly #listeners = new Map<number, (input: SlotInput) => void>();
  /** Messages to jobs that have not begun: jobs come by another port, and of two ports no order is known. */
  readonly #early = new Map<number, SlotInput[]>();

  /** Takes the end that came with a job. @throws Error when none has come yet: the job was meant for a thread that has died */
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
