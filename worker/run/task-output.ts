import type { ErrorData } from '#shared/error.ts';
import type { TaskReport } from '#shared/task/task.ts';
import { encodeArrowMessage, encodeNative } from '../batch/arrow-message.ts';
import type { ArrowMessage } from '../duckdb/arrow-out.ts';
import type { ThreadChannel } from '../turns/slot-channel.ts';
import type { FromSlot, QueryTime, RenewedKey, SlotInput } from '../turns/slot-messages.ts';

/**
 * Sends a task's output messages from its slot to the spool, and receives credit for the bytes that the reader took. Those of a quantum go
 * together unless `sendRows` is called: what a short task says is one message, with its report.
 */
export class TaskOutput {
  readonly #job: number;
  readonly #channel: ThreadChannel;
  readonly #bufferBytes: number;
  readonly #spoolFull: () => boolean;
  #untakenBytes = 0;
  #pending: FromSlot[] = [];
  /** Sends what is pending when the quantum has ended. */
  #soon: NodeJS.Immediate | undefined;
  /** Number of the partition that sent the dictionaries. */
  #dictionariesOf: number | undefined;
  /** Messages before the rows that were sent, and how many repeats of them are still to be left out. */
  #heads = 0;
  #headsToSkip = 0;
  rows = 0;
  batches = 0;
  bytes = 0;

  constructor(
    job: number,
    channel: ThreadChannel,
    options: {
      readonly bufferBytes: number;
      readonly spoolFull: () => boolean;
      readonly onTaken: () => void;
      readonly onWithdrawn: () => void;
      readonly onHold: (on: boolean) => void;
      readonly onTime: (time: QueryTime) => void;
      readonly onKey: (key: RenewedKey) => void;
      readonly onCancel: (error: ErrorData) => void;
    },
  ) {
    this.#job = job;
    this.#channel = channel;
    this.#bufferBytes = options.bufferBytes;
    this.#spoolFull = options.spoolFull;
    channel.listen(job, (input: SlotInput) => {
      if (input.kind === 'cancel') options.onCancel(input.error);
      else if (input.kind === 'hold') options.onHold(input.on);
      else if (input.kind === 'time') options.onTime(input.time);
      else if (input.kind === 'key') options.onKey(input);
      else if (input.kind === 'withdrawn') options.onWithdrawn();
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

  /**
   * Called before the task's statement begins again. False when it must not, because rows of it were sent: a reader would get them twice. The
   * messages before the rows are the same as before, and are not sent twice.
   */
  restart(): boolean {
    if (this.batches > 0) return false;
    this.#headsToSkip = this.#heads;
    return true;
  }

  readonly send = (message: ArrowMessage): void => {
    if (message.kind !== 'batch' && this.#wasSent()) return;
    const data = encodeArrowMessage(message);
    this.rows += message.rows;
    if (message.rows > 0) this.batches++;
    this.bytes += data.length;
    this.#untakenBytes += data.length;
    this.#post({ kind: 'data', data, rows: message.rows });
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
    if (this.#wasSent()) return;
    this.#post({ kind: 'prologue', data: encodeArrowMessage(message) });
  };

  /** Sends rows at once, if some are pending: a quantum may be long. */
  sendRows(): void {
    if (this.#pending.some((output) => 'rows' in output && output.rows > 0)) this.#send(false);
  }

  /** The task needs another key in place of this one. */
  wantKey(credentialId: string): void {
    this.#post({ kind: 'wantsKey', credentialId });
  }

  finish(report: TaskReport): void {
    this.#post({ kind: 'finished', report });
  }

  fail(error: ErrorData): void {
    this.#post({ kind: 'failed', error });
  }

  /** Sends the last message. */
  close(): void {
    this.#send(true);
  }

  /** Whether a message before the rows was sent by the statement that this one repeats. */
  #wasSent(): boolean {
    if (this.#headsToSkip === 0) {
      this.#heads += 1;
      return false;
    }
    this.#headsToSkip -= 1;
    return true;
  }

  #post(output: FromSlot): void {
    this.#pending.push(output);
    this.#soon ??= setImmediate(() => this.#send(false));
  }

  #send(isLast: boolean): void {
    clearImmediate(this.#soon);
    this.#soon = undefined;
    const outputs = this.#pending;
    this.#pending = [];
    const transfer = outputs.flatMap((output) => (output.kind === 'data' ? [output.data.buffer] : []));
    this.#channel.post({ job: this.#job, outputs, isLast }, transfer);
  }
}
