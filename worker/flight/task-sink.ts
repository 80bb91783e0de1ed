import type { TaskReport } from '#proto/task.ts';
import { SkeinError } from '#shared/error.ts';
import type { SlotOutput } from '../slot/slot-messages.ts';
import type { SpooledOutput } from '../spool/spooled-output.ts';
import type { TaskEnd, TaskSink } from './execute-task.ts';
import { freeMessage } from './flight-data.ts';

/** Keeps a task's partitions; `end` settles, always well, when the task has ended and all is stored. */
export class PartitionSink implements TaskSink {
  readonly #output: SpooledOutput;
  readonly #onError: (error: SkeinError) => void;
  readonly #writes: Promise<void>[] = [];
  readonly #ended = Promise.withResolvers<TaskEnd>();
  #error: SkeinError | undefined;

  /** `onError` is told when the output cannot be stored: the task is to end. */
  constructor(output: SpooledOutput, onError: (error: SkeinError) => void) {
    this.#output = output;
    this.#onError = onError;
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
        this.#ended.resolve(output);
        return;
      case 'data':
        throw new Error('invariant: a spooled task sends batches');
      default:
        output satisfies never;
    }
  }

  /** The task ended without a word of its slot. */
  fail(end: TaskEnd): void {
    this.#ended.resolve(end);
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
          this.#onError(this.#error);
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
