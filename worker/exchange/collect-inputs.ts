import type { InputSource, InputSpec, SentTask } from '#shared/task/task.ts';
import { SkeinError } from '#shared/error.ts';
import type { TaskId } from '#shared/id.ts';
import type { JobInput } from '../turns/slot-messages.ts';
import { storeMessages } from './peer-clients.ts';
import { miscounted, type BatchRange, type SpooledOutput, type StoredBatch } from '../spool/spooled-output.ts';

/** Gives access to the sources of a task's inputs: local outputs, and fetches from other workers. */
export interface InputPlaces {
  /**
   * The output of a local source, retained for the caller; undefined when it is not held. Waits for the end of an awaited source's task.
   * @throws UNAUTHENTICATED, the reason of `signal`
   */
  local(signal: AbortSignal, source: InputSource, spec: SentTask): Promise<SpooledOutput | undefined>;
  /** Whether this worker holds the source. */
  isLocal(source: InputSource): boolean;
  /** Opens an output that receives the batches fetched from a source. @throws UNAUTHENTICATED */
  open(source: InputSource, spec: SentTask): SpooledOutput;
  /** @throws WORKER_LOST */
  fetch(signal: AbortSignal, source: InputSource, into: SpooledOutput): Promise<void>;
}

/** The task, and the address of its worker, whose partition is lost. */
export type Lost = { readonly address: string; readonly taskId: TaskId };

export type CollectedInputs =
  | {
      readonly kind: 'ready';
      readonly inputs: readonly JobInput[];
      readonly receivedBytes: number;
      /** Releases the inputs; called when the task has read them. */
      release(): Promise<void>;
    }
  | { readonly kind: 'lost'; readonly lost: Lost };

const ALL: BatchRange = { start: 0, end: Number.POSITIVE_INFINITY };

/** A source of an input that is available locally: this worker's partitions by reference, other workers' as fetched copies. */
type Held = {
  readonly source: InputSource;
  readonly output: SpooledOutput;
  readonly partition: number;
  readonly range: BatchRange;
  readonly receivedBytes: number;
};

/** Fetches all inputs of a task to this worker. @throws what `fetch` throws, except WORKER_LOST; the reason of `signal` */
export async function collectInputs(
  signal: AbortSignal,
  spec: SentTask,
  places: InputPlaces,
): Promise<CollectedInputs> {
  const outputs: SpooledOutput[] = [];
  const stop = new AbortController();
  const either = AbortSignal.any([signal, stop.signal]);
  const release = async (): Promise<void> => {
    await Promise.all(outputs.splice(0).map((output) => output.release()));
  };
  const hold = async (source: InputSource): Promise<Held> => {
    if (source.messages !== undefined) {
      const output = places.open(source, spec);
      outputs.push(output);
      await storeMessages(source.messages, output);
      return { source, output, partition: 0, range: ALL, receivedBytes: 0 };
    }
    if (places.isLocal(source)) {
      const output = await places.local(either, source, spec);
      if (output === undefined) throw new LostInput(source);
      outputs.push(output);
      return { source, output, partition: source.partition, range: source.batches ?? ALL, receivedBytes: 0 };
    }
    const output = places.open(source, spec);
    outputs.push(output);
    try {
      await places.fetch(either, source, output);
    } catch (error) {
      if (SkeinError.of(error).code === 'WORKER_LOST') throw new LostInput(source);
      throw error;
    }
    return { source, output, partition: 0, range: ALL, receivedBytes: output.reports()[0]?.bytes ?? 0 };
  };
  const fetches = spec.inputs.map(({ sources }) => sources.map(hold));
  try {
    const held = await Promise.all(fetches.map((sources) => Promise.all(sources)));
    signal.throwIfAborted();
    const receivedBytes = held.flat().reduce((sum, one) => sum + one.receivedBytes, 0);
    const inputs = spec.inputs.map((input, i) => jobInput(input, held[i] ?? []));
    return { kind: 'ready', inputs, receivedBytes, release };
  } catch (error) {
    stop.abort(error);
    await Promise.allSettled(fetches.flat());
    await release();
    if (error instanceof LostInput) return { kind: 'lost', lost: error.lost };
    throw error;
  }
}

class LostInput extends Error {
  readonly lost: Lost;

  constructor({ address, taskId }: InputSource) {
    super(`a partition of ${taskId} is lost`);
    this.lost = { address, taskId };
  }
}

/**
 * Requires that a source has come whole: as many rows as its task reported, or batches of a slice of them. How much an awaited task gives,
 * its own worker knows alone. @throws INTERNAL_ERROR
 */
function requireWhole({ awaited, batches: slice, rows }: InputSource, batches: readonly StoredBatch[]): void {
  if (awaited === true) return;
  const [given, arrived] =
    slice === null
      ? [rows, batches.reduce((sum, batch) => sum + batch.rows, 0)]
      : [slice.end - slice.start, batches.length];
  if (given !== arrived) throw miscounted(given, arrived);
}

function jobInput({ columns, reads }: InputSpec, sources: readonly Held[]): JobInput {
  const all = sources.map((one) => ({ ...one, batches: one.output.select(one.partition, one.range) }));
  for (const { source, batches } of all) requireWhole(source, batches);
  const held = all.filter(({ batches }) => batches.length > 0);
  // Streams without rows may lack the dictionaries.
  const prologue = held
    .map(({ output }) => output.prologue)
    .reduce((longest, one) => (one.length > longest.length ? one : longest), []);
  const [schema] = prologue;
  for (const { output } of held) {
    const [other] = output.prologue;
    if (schema === undefined || other === undefined || Buffer.compare(schema, other) !== 0) {
      throw new SkeinError('INTERNAL_ERROR', 'the partitions of an input have different columns');
    }
  }
  return {
    columns,
    reads,
    prologue,
    batches: held.flatMap(({ batches }) => batches),
  };
}
