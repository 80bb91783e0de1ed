import { fileURLToPath } from 'node:url';
import { MessageChannel } from 'node:worker_threads';
import { Piscina } from 'piscina';
import type { SkeinError } from '#shared/error.ts';
import type { Logger } from '#shared/log/logger.ts';
import { InterruptControl } from './interrupt-control.ts';
import { ACTIVITY, type SlotInput, type SlotJob, type SlotOutput, type SlotSettings } from './slot-messages.ts';

export type SlotPoolOptions = {
  readonly slots: number;
  readonly tasksPerSlotMax: number;
  readonly spillDir: string;
  readonly instancesIdleMax: number;
  readonly outputBufferBytes: number;
  readonly log: Logger;
};

/** What a slot needs of a task besides the way back. */
export type SlotStart = Omit<SlotJob, 'port' | 'control'>;

/** A task on a slot, as the main thread sees it. */
export interface SlotRun {
  /** Settles when the task has left its slot, whatever became of it; never rejects. */
  readonly ended: Promise<void>;
  /** So many bytes were taken by the reader, or stored: the task may make more. */
  taken(bytes: number): void;
  /** Ends the task with this error, also inside of a piece of work. */
  cancel(error: SkeinError): void;
}

/** How often a cancelled task is interrupted again: the first may fall between two pieces, or into planning, which is slow to obey. */
const INTERRUPT_INTERVAL_MS = 50;

/** The slots of a worker: a pool of threads, each of which holds several tasks. */
export class SlotPool {
  readonly #pool: Piscina<SlotJob, void>;
  readonly #activity: Int32Array<SharedArrayBuffer>;
  #activeTasks = 0;

  constructor(options: SlotPoolOptions) {
    this.#activity = new Int32Array(new SharedArrayBuffer(ACTIVITY.words * 4));
    const settings: SlotSettings = {
      spillDir: options.spillDir,
      instancesIdleMax: options.instancesIdleMax,
      outputBufferBytes: options.outputBufferBytes,
      activity: this.#activity,
    };
    this.#pool = new Piscina({
      filename: fileURLToPath(new URL('slot-thread.ts', import.meta.url)),
      name: 'runTask',
      workerData: settings,
      minThreads: options.slots,
      maxThreads: options.slots,
      concurrentTasksPerWorker: options.tasksPerSlotMax,
      // A slot that waits for a task must still see to its timers and messages.
      atomics: 'disabled',
      recordTiming: false,
    });
    // A thread that dies takes its tasks with it, and each of them says so; the pool starts another.
    this.#pool.on('error', (error: unknown) => options.log.error({ err: error }, 'a slot thread died'));
  }

  /** Tasks on slots. */
  get activeTasks(): number {
    return this.#activeTasks;
  }

  /** Says to all slots whether the spool is over its limit. */
  setSpoolFull(full: boolean): void {
    Atomics.store(this.#activity, ACTIVITY.spoolFull, full ? 1 : 0);
  }

  /** Starts a task; `onOutput` gets its messages and, last, its end. */
  run(start: SlotStart, onOutput: (output: SlotOutput) => void): SlotRun {
    const { port1: port, port2 } = new MessageChannel();
    const control = new InterruptControl();
    port.on('message', onOutput);
    this.#activeTasks++;
    let interrupts: NodeJS.Timeout | undefined;
    let hasLeft = false;
    const closed = new Promise<void>((resolve) => port.once('close', resolve));
    const job: SlotJob = { ...start, port: port2, control: control.buffer };
    const run = async (): Promise<void> => {
      try {
        await this.#pool.run(job, { transferList: [port2] });
      } catch (error) {
        // The thread itself failed: the port is closed without a last word.
        onOutput({ kind: 'failed', error: { code: 'INTERNAL_ERROR', message: 'internal error' } });
        throw error;
      } finally {
        this.#activeTasks--;
        hasLeft = true;
        clearInterval(interrupts);
      }
    };
    const post = (input: SlotInput): void => port.postMessage(input);
    return {
      ended: run().then(
        () => closed,
        () => undefined,
      ),
      taken: (bytes) => post({ kind: 'taken', bytes }),
      cancel: (error) => {
        if (hasLeft || interrupts !== undefined) return;
        post({ kind: 'cancel', error: error.toData() });
        control.interrupt();
        interrupts = setInterval(() => control.interrupt(), INTERRUPT_INTERVAL_MS);
      },
    };
  }

  /** Ends the threads; the tasks have ended before. */
  async close(): Promise<void> {
    await this.#pool.destroy();
  }
}
