import type { TaskReport } from '#proto/task.ts';
import { SkeinError } from '#shared/error.ts';
import type { SlotOutput } from '../slot/slot-messages.ts';
import type { SpooledOutput } from '../spool/spooled-output.ts';
import type { TaskEnd, TaskSink } from './execute-task.ts';
import { freeMessage } from '../flight/arrow-message.ts';

/** Stores a task's partitions; `end` resolves, and never rejects, when the task has ended and all batches are stored. */
export class PartitionSink implements TaskSink {
  readonly #output: SpooledOutput;
  readonly #abort: AbortController;
  readonly #writes: Promise<void>[] = [];
  readonly #ended = Promise.withResolvers<TaskEnd>();
  #error: SkeinError | undefined;

  /** `abort` belongs to the task: the sink aborts it when the output cannot be stored, and its reason becomes the task's error. */
  constructor(output: SpooledOutput, abort: AbortController) {
    this.#output = output;
    this.#abort = abort;
  }

  get end(): Promise<TaskEnd> {
    return this.#ended.promise;
  }

  accept(output: SlotOutput, stored: (bytes: number) => void): void {
    switch (output.kind) {
      case 'prologue':
        this.#output.addPrologue(output.data);
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
        output satisfies never;
    }
  }

  /** Ends a task that failed or never reached its slot. After an abort, the abort's reason replaces the plain interrupt error. */
  fail(end: TaskEnd): void {
    const { aborted, reason } = this.#abort.signal;
    this.#ended.resolve(aborted ? { kind: 'failed', error: SkeinError.of(reason).toData() } : end);
  }

  #store({ partition, message, rows }: SlotOutput & { kind: 'batch' }, stored: (bytes: number) => void): void {
    if (this.#error !== undefined) {
      freeMessage(message);
      return;
    }
    const { bytes } = message;
    this.#writes.push(
      this.#output.append(partition, message, rows).then(
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
    if (this.#error === undefined)
      this.#ended.resolve({ kind: 'finished', report: { ...report, partitions: this.#output.reports() } });
    else this.#ended.resolve({ kind: 'failed', error: this.#error.toData() });
  }
}
