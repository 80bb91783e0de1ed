import type { TaskReport } from '#shared/task/task.ts';
import type { TaskId } from '#shared/id.ts';
import type { FlightData } from '#shared/flight/flight-data.ts';
import { MiscountedRows } from '../sink/miscounted-rows.ts';
import type { BatchReader, ResultBatch } from '../sink/result-sink.ts';

type Options = {
  readonly newReader: () => BatchReader;
  /** Takes rows, before it returns; the promise resolves when it can take more. */
  readonly onBatch: (batch: ResultBatch) => Promise<void> | undefined;
  /** Restarts the result; returns false when it cannot, because the client has received a part of it. */
  readonly restart: () => boolean;
};

/**
 * Concatenates the rows of several result tasks. The first task that has rows is read to its end; each of the others waits with
 * one batch, which pauses it on its worker.
 */
export class ResultReader {
  readonly #options: Options;
  /** Rows that were delivered, by task. */
  readonly #delivered = new Map<TaskId, number>();
  readonly #ended = new Set<TaskId>();
  readonly #waiting: (() => void)[] = [];
  #turn: TaskId | undefined;
  #isClosed = false;

  constructor(options: Options) {
    this.#options = options;
  }

  /** Returns the function that takes the messages of a task. */
  reader(task: TaskId): (message: FlightData<Buffer>) => Promise<void> | undefined {
    const reader = this.#options.newReader();
    return (message) => {
      const batch = reader.read(message);
      if (batch === undefined || batch.rows === 0) return undefined;
      const deliver = (): Promise<void> | undefined => {
        // The task was given up while it waited.
        if (this.#isClosed || this.#ended.has(task)) return this.#next();
        this.#turn = task;
        this.#delivered.set(task, this.rowsOf(task) + batch.rows);
        return this.#options.onBatch(batch);
      };
      return this.#turn === undefined || this.#turn === task ? deliver() : this.#inTurn(deliver);
    };
  }

  /** Marks a task as ended; the next one may deliver. */
  ended(task: TaskId): void {
    this.#ended.add(task);
    if (this.#turn !== task) return;
    this.#turn = undefined;
    this.#next();
  }

  /** Stops delivery: the query has ended, or starts over with another reader. */
  close(): void {
    this.#isClosed = true;
  }

  hasDelivered(task: TaskId): boolean {
    return this.#delivered.has(task);
  }

  /** Rows of the task that are part of the result. */
  rowsOf(task: TaskId): number {
    return this.#delivered.get(task) ?? 0;
  }

  /** The report of a task that has ended. @throws MiscountedRows when other rows of it have arrived than it says that it gave */
  checked(report: TaskReport): TaskReport {
    const arrived = this.rowsOf(report.taskId);
    if (arrived !== report.rows) throw new MiscountedRows({ given: report.rows, arrived });
    return report;
  }

  restart(): boolean {
    if (!this.#options.restart()) return false;
    this.#delivered.clear();
    return true;
  }

  #next(): undefined {
    this.#waiting.shift()?.();
  }

  /** Delivers once it is nobody's turn. Nothing may come between the look and the delivery, or two tasks would have their turn at once. */
  async #inTurn(deliver: () => Promise<void> | undefined): Promise<void> {
    do {
      await new Promise<void>((resolve) => this.#waiting.push(resolve));
    } while (this.#turn !== undefined);
    await deliver();
  }
}
