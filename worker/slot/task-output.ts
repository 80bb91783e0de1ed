import type { MessagePort } from 'node:worker_threads';
import type { ErrorData } from '#shared/error.ts';
import type { TaskReport } from '#proto/task.ts';
import { encodeArrowMessage, encodeNative } from '../flight/arrow-message.ts';
import type { ArrowMessage } from '../duckdb/arrow-out.ts';
import type { QueryTime, SlotInput, SlotOutput } from './slot-messages.ts';

/** Sends a task's output messages from its slot to the spool, and receives credit for the bytes that the reader took. */
export class TaskOutput {
  readonly #port: MessagePort;
  readonly #bufferBytes: number;
  readonly #spoolFull: () => boolean;
  #untakenBytes = 0;
  /** Number of the partition that sent the dictionaries. */
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
      /** Called when the main thread has closed its end of the port. */
      readonly onClosed: () => void;
      readonly onHold: (on: boolean) => void;
      readonly onTime: (time: QueryTime) => void;
      readonly onCancel: (error: ErrorData) => void;
    },
  ) {
    this.#port = port;
    this.#bufferBytes = options.bufferBytes;
    this.#spoolFull = options.spoolFull;
    port.once('close', options.onClosed);
    port.on('message', (input: SlotInput) => {
      if (input.kind === 'cancel') options.onCancel(input.error);
      else if (input.kind === 'hold') options.onHold(input.on);
      else if (input.kind === 'time') options.onTime(input.time);
      else {
        this.#untakenBytes -= input.bytes;
        options.onTaken();
      }
    });
  }

  /** Whether the task must pause until its reader has taken something. A task without untaken bytes may always continue. */
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

  /** Sends a message of a partition. All partitions have the same dictionaries, so only the first partition's are sent. */
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
