import type { SkeinError } from '#shared/error.ts';
import type { SlotOutput } from '../turns/slot-messages.ts';
import type { Spool, TaskSpool } from '../spool/spool.ts';
import type { HeldOutput, TaskFailure } from './held-output.ts';

/** The output of a task that sends its rows to its one reader as it makes them. */
export class StreamedOutput implements HeldOutput {
  readonly kind = 'stream';
  readonly spool: TaskSpool;
  /** Whether its one reader is there. */
  hasReader = true;
  #taken: ((bytes: number) => void) | undefined;

  constructor(spool: Spool) {
    this.spool = spool.open((bytes) => this.#taken?.(bytes));
  }

  accept(output: SlotOutput, taken: (bytes: number) => void): void {
    this.#taken = taken;
    if (output.kind === 'data') this.spool.push(output.data);
    else if (output.kind === 'finished' || output.kind === 'failed') this.spool.end(output);
  }

  fail(failure: TaskFailure): void {
    if (failure.kind === 'failed') {
      this.spool.end(failure);
      return;
    }
    // The coordinator first runs the task again whose output was lost, then this one.
    const message = 'an input of the task was lost';
    this.spool.end({ kind: 'failed', error: { code: 'INPUT_LOST', message, lostTask: failure.lost.taskId } });
  }

  stop(error: SkeinError): void {
    this.spool.end({ kind: 'failed', error: error.toData() });
  }

  free(): Promise<void> {
    this.spool.clear();
    return Promise.resolve();
  }
}
