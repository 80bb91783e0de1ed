import type { TaskId } from '#shared/id.ts';
import type { FlightData } from '#shared/flight/flight-data.ts';
import { TextColumnReader } from './text-column.ts';

type Options = {
  /** Takes rows; answers when more may come. */
  readonly onRows: (bytes: Buffer, rows: number) => Promise<void> | undefined;
  /** The result begins again; false when it cannot, because the client has a part of it. */
  readonly restart: () => boolean;
};

/**
 * Puts the rows of several result tasks one after another. The first task that has rows is read to its end; the others wait with
 * a batch each, which pauses them on their workers.
 */
export class ResultReader {
  readonly #options: Options;
  readonly #delivered = new Set<TaskId>();
  readonly #ended = new Set<TaskId>();
  readonly #waiting: (() => void)[] = [];
  #turn: TaskId | undefined;
  #isClosed = false;

  constructor(options: Options) {
    this.#options = options;
  }

  /** What takes the messages of a task. */
  reader(task: TaskId): (message: FlightData<Buffer>) => Promise<void> | undefined {
    const column = new TextColumnReader();
    return (message) => {
      const batch = column.read(message);
      if (batch === undefined || batch.rows === 0) return undefined;
      const deliver = (): Promise<void> | undefined => {
        // It was given up while it waited.
        if (this.#isClosed || this.#ended.has(task)) return this.#next();
        this.#turn = task;
        this.#delivered.add(task);
        return this.#options.onRows(batch.bytes, batch.rows);
      };
      if (this.#turn === undefined || this.#turn === task) return deliver();
      return this.#wait().then(deliver);
    };
  }

  /** The next one may deliver. */
  ended(task: TaskId): void {
    this.#ended.add(task);
    if (this.#turn !== task) return;
    this.#turn = undefined;
    this.#next();
  }

  /** Nothing more is delivered: the query has ended, or begins again with another reader. */
  close(): void {
    this.#isClosed = true;
  }

  hasDelivered(task: TaskId): boolean {
    return this.#delivered.has(task);
  }

  restart(): boolean {
    if (!this.#options.restart()) return false;
    this.#delivered.clear();
    return true;
  }

  #next(): undefined {
    this.#waiting.shift()?.();
  }

  async #wait(): Promise<void> {
    do {
      await new Promise<void>((resolve) => this.#waiting.push(resolve));
    } while (this.#turn !== undefined);
  }
}
