import { unreachable } from '#shared/must.ts';
import type { TaskReport } from '#shared/task/task.ts';
import { SkeinError } from '#shared/error.ts';
import type { SlotOutput } from '../turns/slot-messages.ts';
import { miscounted, type SpooledOutput } from '../spool/spooled-output.ts';
import type { TaskEnd } from './execute-task.ts';
import type { HeldOutput } from './held-output.ts';
import { freeMessage } from '../batch/arrow-message.ts';

/** The output of a task that keeps its rows in partitions until its query ends. */
export class PartitionedOutput implements HeldOutput {
  readonly kind = 'spool';
  readonly stored: SpooledOutput;
  readonly #abort: AbortController;
  readonly #writes: Promise<void>[] = [];
  readonly #ended = Promise.withResolvers<TaskEnd>();
  #error: SkeinError | undefined;

  /** `abort` is the task's: it aborts when the output cannot be stored, and its reason becomes the task's error. */
  constructor(stored: SpooledOutput, abort: AbortController) {
    this.stored = stored;
    this.#abort = abort;
  }

  /** Resolves, and never rejects, when the task has ended and all batches are stored. */
  get end(): Promise<TaskEnd> {
    return this.#ended.promise;
  }

  accept(output: SlotOutput, stored: (bytes: number) => void): void {
    switch (output.kind) {
      case 'prologue':
        this.stored.addPrologue(output.data);
        return;
      case 'batch':
        this.#store(output, stored);
        return;
      case 'finished':
        void this.#finish(output.report);
        return;
      case 'failed':
        this.fail(output);
        return;
      case 'data':
        throw new Error('invariant: a spooled task sends batches');
      default:
        unreachable(output);
    }
  }

  /** Ends a task that failed or never reached its slot. After an abort, the abort's reason replaces the plain interrupt error. */
  fail(end: TaskEnd): void {
    const { aborted, reason } = this.#abort.signal;
    this.#ended.resolve(aborted ? { kind: 'failed', error: SkeinError.of(reason).toData() } : end);
  }

  /** Nothing to do: the slot reports the end of a running task, with the reason that aborted it. */
  stop(): void {}

  async free(): Promise<void> {
    this.stored.close();
    await this.stored.release();
  }

  #store({ partition, message, rows }: SlotOutput & { kind: 'batch' }, stored: (bytes: number) => void): void {
    if (this.#error !== undefined) {
      freeMessage(message);
      return;
    }
    const { bytes } = message;
    this.#writes.push(
      this.stored.append(partition, message, rows).then(
        () => stored(bytes),
        (error: unknown) => {
          this.#error ??= SkeinError.of(error);
          this.#abort.abort(this.#error);
        },
      ),
    );
  }

  async #finish(report: TaskReport): Promise<void> {
    await Promise.all(this.#writes);
    const partitions = this.stored.reports();
    const stored = partitions.reduce((sum, { rows }) => sum + rows, 0);
    // A task that writes files has no partitions.
    if (partitions.length > 0 && stored !== report.rows) this.#error ??= miscounted(report.rows, stored);
    if (this.#error === undefined) this.#ended.resolve({ kind: 'finished', report: { ...report, partitions } });
    else this.#ended.resolve({ kind: 'failed', error: this.#error.toData() });
  }
}
