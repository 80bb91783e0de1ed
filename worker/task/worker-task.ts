import type { SentTask } from '#shared/task/task.ts';
import { SkeinError } from '#shared/error.ts';
import type { InputPlaces } from '../exchange/collect-inputs.ts';
import type { MemoryGate } from '../slot/memory-gate.ts';
import type { SlotPool } from '../slot/slot-pool.ts';
import { executeTask, type TaskEnd } from './execute-task.ts';
import type { PartitionedOutput } from './partitioned-output.ts';
import type { StreamedOutput } from './streamed-output.ts';
import { isActive, isLive, NEW_TASK, nextTask, type TaskEvent, type TaskState } from './task-state.ts';

export type KeptOutput = StreamedOutput | PartitionedOutput;

export type TaskServices = { readonly pool: SlotPool; readonly memory: MemoryGate; readonly places: InputPlaces };

type Options = {
  readonly spec: SentTask;
  readonly services: TaskServices;
  /** Makes the output; `abort` ends the task. */
  readonly open: (abort: AbortController) => KeptOutput;
  /** Called after every change of the state. */
  readonly onChange: (task: WorkerTask, before: TaskState) => void;
};

/** One task of this worker. It holds the state, and acts on the task's run and output when the state changes. */
export class WorkerTask {
  readonly spec: SentTask;
  readonly output: KeptOutput;
  readonly #abort = new AbortController();
  readonly #onChange: Options['onChange'];
  readonly #left = Promise.withResolvers<void>();
  readonly #gone = Promise.withResolvers<void>();
  #state: TaskState = NEW_TASK;

  /** The task runs at once. */
  constructor({ spec, services, open, onChange }: Options) {
    this.spec = spec;
    this.output = open(this.#abort);
    this.#onChange = onChange;
    void this.#run(services);
  }

  get state(): TaskState {
    return this.#state;
  }

  /** Resolves when the task has given back its slot and its memory. */
  get left(): Promise<void> {
    return this.#left.promise;
  }

  /** Resolves when the task's output is free, too. */
  get gone(): Promise<void> {
    return this.#gone.promise;
  }

  /** Ends the task; `gone` tells when none of it runs any more. */
  stop(error: SkeinError): void {
    this.#endFor({ kind: 'stopped' }, error);
  }

  /** Called when the reader has read the output to its end. */
  read(): void {
    this.#apply({ kind: 'done' });
  }

  /**
   * Waits for the end of a task with a partitioned output. When the last waiting caller aborts, the task ends. When this resolves for a
   * failed task, its output is free.
   * @throws INVALID_REQUEST when the task streams its output
   */
  async end(signal: AbortSignal): Promise<TaskEnd> {
    const { output } = this;
    if (output.kind === 'stream') throw new SkeinError('INVALID_REQUEST', 'the task streams its output');
    this.#apply({ kind: 'called' });
    const leave = (): void =>
      this.#endFor({ kind: 'callerGone' }, new SkeinError('QUERY_CANCELLED', 'the coordinator went away'));
    if (signal.aborted) leave();
    else signal.addEventListener('abort', leave, { once: true });
    const end = await output.end;
    await (end.kind === 'finished' ? this.left : this.gone);
    signal.removeEventListener('abort', leave);
    if (!signal.aborted) this.#apply({ kind: 'answered' });
    return end;
  }

  async #run(services: TaskServices): Promise<void> {
    const { spec, output } = this;
    const started = (): void => this.#apply({ kind: 'started' });
    try {
      const lost = await executeTask(this.#abort.signal, spec, output, { ...services, started });
      if (lost !== undefined) output.fail({ kind: 'lost', lost });
    } catch (error) {
      output.fail({ kind: 'failed', error: SkeinError.of(error).toData() });
    }
    this.#apply({ kind: 'left' });
    // A failed task is not kept: its callers have the error, and the coordinator may send the task again.
    if (output.kind === 'spool' && (await output.end).kind !== 'finished') this.#apply({ kind: 'done' });
  }

  #endFor(event: TaskEvent, error: SkeinError): void {
    const before = this.#state;
    // Readers must get the error before the output is freed.
    if (isLive(before) && !isLive(nextTask(before, event))) {
      this.#abort.abort(error);
      this.output.stop(error);
    }
    this.#apply(event);
  }

  #apply(event: TaskEvent): void {
    const before = this.#state;
    this.#state = nextTask(before, event);
    if (this.#state.kind === before.kind) return;
    this.#onChange(this, before);
    if (isActive(before) && !isActive(this.#state)) this.#left.resolve();
    if (this.#state.kind === 'freeing') void this.output.free().then(() => this.#apply({ kind: 'freed' }));
    if (this.#state.kind === 'gone') this.#gone.resolve();
  }
}
