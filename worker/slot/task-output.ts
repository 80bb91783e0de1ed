import type { MessagePort } from 'node:worker_threads';
import type { ErrorData } from '#shared/error.ts';
import type { TaskReport } from '#proto/task.ts';
import { encodeArrowMessage, encodeNative } from '../flight/arrow-message.ts';
import type { ArrowMessage } from '../duckdb/arrow-out.ts';
import type { SlotInput, SlotOutput } from './slot-messages.ts';

/** A task's way out of its slot: messages to the spool, and what the reader took back as credit. */
export class TaskOutput {
  readonly #port: MessagePort;
  readonly #bufferBytes: number;
  readonly #spoolFull: () => boolean;
  #untakenBytes = 0;
  /** The partition that sent the dictionaries. */
  #dictionariesOf: number | undefined;
  rows = 0;
  batches = 0;
  bytes = 0;

  constructor(
    port: MessagePort,
    options: {
      readonly bufferBytes: number;
      readonly spoolFull: () => boolean;
      readonly onTaken: () => void;
      /** Nobody listens any more. */
      readonly onClosed: () => void;
      readonly onCancel: (error: ErrorData) => void;
    },
  ) {
    this.#port = port;
    this.#bufferBytes = options.bufferBytes;
    this.#spoolFull = options.spoolFull;
    port.once('close', options.onClosed);
    port.on('message', (input: SlotInput) => {
      if (input.kind === 'cancel') {
        options.onCancel(input.error);
        return;
      }
      this.#untakenBytes -= input.bytes;
      options.onTaken();
    });
  }

  /** Whether the task must wait until a reader has taken something. One that owes nothing may always go on. */
  get full(): boolean {
    return this.#untakenBytes >= this.#bufferBytes || (this.#untakenBytes > 0 && this.#spoolFull());
  }

  readonly send = (message: ArrowMessage): void => {
    const data = encodeArrowMessage(message);
    this.rows += message.rows;
    if (message.rows > 0) this.batches++;
    this.bytes += data.length;
    this.#untakenBytes += data.length;
    this.#post({ kind: 'data', data, rows: message.rows }, [data.buffer]);
  };

  /** A message of a partition; the dictionaries of all partitions are the same, and go once. */
  readonly sendPartition = (partition: number, message: ArrowMessage): void => {
    if (message.kind === 'batch') {
      const native = encodeNative(message);
      this.rows += message.rows;
      this.batches++;
      this.bytes += native.bytes;
      this.#untakenBytes += native.bytes;
      this.#post({ kind: 'batch', partition, message: native, rows: message.rows });
      return;
    }
    if (message.kind === 'dictionary') {
      this.#dictionariesOf ??= partition;
      if (this.#dictionariesOf !== partition) return;
    }
    this.#post({ kind: 'prologue', data: encodeArrowMessage(message) });
  };

  finish(report: TaskReport): void {
    this.#post({ kind: 'finished', report });
  }

  fail(error: ErrorData): void {
    this.#post({ kind: 'failed', error });
  }

  close(): void {
    this.#port.close();
  }

  #post(output: SlotOutput, transfer: ArrayBuffer[] = []): void {
    this.#port.postMessage(output, transfer);
  }
}
