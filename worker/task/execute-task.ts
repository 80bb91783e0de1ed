import type { TaskReport, SentTask } from '#shared/task/task.ts';
import { SkeinError, type ErrorData } from '#shared/error.ts';
import { collectInputs, type InputPlaces, type Lost } from '../exchange/collect-inputs.ts';
import type { MemoryGate } from '../slot/memory-gate.ts';
import type { SlotOutput } from '../turns/slot-messages.ts';
import type { SlotPool } from '../slot/slot-pool.ts';
import type { SlotRun } from '../slot/slot-run.ts';

/** The outcome of a task. */
export type TaskEnd =
  | { readonly kind: 'finished'; readonly report: TaskReport }
  | { readonly kind: 'failed'; readonly error: ErrorData }
  | { readonly kind: 'lost'; readonly lost: Lost };

/** Receives the messages of a task's output. */
export interface TaskSink {
  /** Accepts a message from the slot. Calls `stored` with a number of bytes when the task may produce that many more. */
  accept(output: SlotOutput, stored: (bytes: number) => void): void;
}

/**
 * Runs a task: collects its inputs, acquires memory, takes a slot. `started` is called when it has its memory. Rejects with the reason of
 * `signal`, or with the error that kept the task from its slot; everything that happens on the slot goes to the sink.
 */
export async function executeTask(
  signal: AbortSignal,
  spec: SentTask,
  sink: TaskSink,
  on: {
    readonly pool: SlotPool;
    readonly memory: MemoryGate;
    readonly places: InputPlaces;
    readonly started: () => void;
  },
): Promise<Lost | undefined> {
  const beganMs = performance.now();
  const collected = await collectInputs(signal, spec, on.places);
  if (collected.kind === 'lost') return collected.lost;
  const inputsMs = performance.now() - beganMs;
  let run: SlotRun | undefined;
  try {
    await on.pool.turn(signal, spec);
    const memory = await on.memory.acquire(spec, spec.memoryLimitBytes, signal);
    try {
      // A cancel may have come between the grant and this line; from here on it reaches the run.
      signal.throwIfAborted();
      on.started();
      const { inputs, receivedBytes } = collected;
      const waits = { inputsMs, queuedMs: performance.now() - beganMs - inputsMs };
      const started = on.pool.run({ spec, memoryBytes: memory.bytes, inputs, receivedBytes, waits }, (output) =>
        sink.accept(output, (bytes) => started.taken(bytes)),
      );
      run = started;
      const cancel = (): void => started.cancel(SkeinError.of(signal.reason));
      signal.addEventListener('abort', cancel, { once: true });
      await started.ended;
      signal.removeEventListener('abort', cancel);
    } finally {
      memory.release();
    }
  } finally {
    // A thread that the task was withdrawn from may still refer to the inputs.
    const left = run?.left() ?? Promise.resolve();
    const released = left.then(() => collected.release());
    if (run?.hasLeft !== false) await released;
  }
  return undefined;
}
