import type { InputSource, InputSpec, SentTask } from '#proto/task.ts';
import { SkeinError } from '#shared/error.ts';
import type { TaskId } from '#shared/id.ts';
import type { JobInput } from '../slot/slot-messages.ts';
import { storeMessages } from './peer-clients.ts';
import type { BatchRange, SpooledOutput } from '../spool/spooled-output.ts';

/** Where the inputs of a task are. */
export interface InputPlaces {
  /** The output that this worker holds for a source of its own, retained; undefined when it has it no more. @throws UNAUTHENTICATED */
  local(source: InputSource, spec: SentTask): SpooledOutput | undefined;
  /** Whether the source is this worker's. */
  isLocal(source: InputSource): boolean;
  /** An output for what is fetched from a source. @throws UNAUTHENTICATED */
  open(source: InputSource, spec: SentTask): SpooledOutput;
  /** @throws WORKER_LOST */
  fetch(signal: AbortSignal, source: InputSource, into: SpooledOutput): Promise<void>;
}

/** Whose partition cannot be had. */
export type Lost = { readonly address: string; readonly taskId: TaskId };

export type CollectedInputs =
  | {
      readonly kind: 'ready';
      readonly inputs: readonly JobInput[];
      readonly receivedBytes: number;
      /** The task has read them. */
      release(): Promise<void>;
    }
  | { readonly kind: 'lost'; readonly lost: Lost };

const ALL: BatchRange = { start: 0, end: Number.POSITIVE_INFINITY };

/** A source of an input that is here: partitions of this worker by reference, those of others as they were fetched. */
type Held = {
  readonly output: SpooledOutput;
  readonly partition: number;
  readonly range: BatchRange;
  readonly receivedBytes: number;
};

/** Brings all inputs of a task to this worker. @throws what `fetch` throws but WORKER_LOST; the reason of `signal` */
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
      return { output, partition: 0, range: ALL, receivedBytes: 0 };
    }
    if (places.isLocal(source)) {
      const output = places.local(source, spec);
      if (output === undefined) throw new LostInput(source);
      outputs.push(output);
      return { output, partition: source.partition, range: source.batches ?? ALL, receivedBytes: 0 };
    }
    const output = places.open(source, spec);
    outputs.push(output);
    try {
      await places.fetch(either, source, output);
    } catch (error) {
      if (SkeinError.of(error).code === 'WORKER_LOST') throw new LostInput(source);
      throw error;
    }
    return { output, partition: 0, range: ALL, receivedBytes: output.reports()[0]?.bytes ?? 0 };
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

function jobInput({ columns, reads }: InputSpec, held: readonly Held[]): JobInput {
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
    batches: held.flatMap(({ output, partition, range }) => output.select(partition, range)),
  };
}
