import type { InputSource } from '#shared/task/task.ts';
import { must, unreachable } from '#shared/must.ts';
import { sliceBatches, type InputShare } from './task-share.ts';
import type { TaskOutput } from './task-state.ts';

/** A task, and the worker that it runs on. */
type PlacedTask = Pick<TaskOutput, 'taskId' | 'worker'>;

/** Makes the address and ticket by which a task reads one partition of an output. */
export type SourceOf = (output: PlacedTask, partition: number) => Pick<InputSource, 'address' | 'taskId' | 'ticket'>;

/** The output of a stage, as its readers see it. */
export type StageOutput = {
  /** Outputs of its tasks that are done. */
  readonly outputs: readonly TaskOutput[];
  /** Its tasks that run, on which a reader waits that is sent early. */
  readonly running: readonly PlacedTask[];
  /** Numbers of the partitions that each of them gives. */
  readonly partitions: readonly number[];
};

/** Returns the outputs that `part` of an input reads, at their current workers; empty ones are left out. */
export function inputSources(part: InputShare, { outputs, ...early }: StageOutput, sourceOf: SourceOf): InputSource[] {
  const sourcesOf = (output: TaskOutput, partition: number, batches: InputSource['batches'] = null): InputSource[] => {
    const held = output.report.partitions[partition];
    if (held === undefined || held.rows === 0) return [];
    const taken = batches === null ? 1 : (batches.end - batches.start) / Math.max(1, held.batches);
    const [rows, bytes] = [Math.round(held.rows * taken), Math.round(held.bytes * taken)];
    const carried = batches === null && held.messages !== undefined ? { messages: held.messages } : {};
    return [{ ...sourceOf(output, partition), partition, batches, rows, bytes, ...carried }];
  };
  const whole = (output: TaskOutput): InputSource[] =>
    [...output.report.partitions.keys()].flatMap((partition) => sourcesOf(output, partition));
  switch (part.kind) {
    case 'all':
      return [...outputs.flatMap(whole), ...awaited(early.partitions, early.running, sourceOf)];
    case 'partitions': {
      const { partitions } = part;
      const given = partitions.flatMap((partition) => outputs.flatMap((output) => sourcesOf(output, partition)));
      return [...given, ...awaited(partitions, early.running, sourceOf)];
    }
    case 'tasks':
      return outputs.filter((_, task) => part.tasks.includes(task)).flatMap(whole);
    case 'slice': {
      const batches = outputs.map(({ report }) => report.partitions[part.partition]?.batches ?? 0);
      return sliceBatches(batches, part.part, part.of).flatMap((range, task) =>
        range === null ? [] : sourcesOf(must(outputs[task], 'a range for each output'), part.partition, range),
      );
    }
    default:
      return unreachable(part);
  }
}

/** Partitions of tasks that run: nobody knows yet what these give. */
function awaited(partitions: readonly number[], running: readonly PlacedTask[], sourceOf: SourceOf): InputSource[] {
  return running.flatMap((task) =>
    partitions.map((partition) => ({
      ...sourceOf(task, partition),
      partition,
      batches: null,
      rows: 0,
      bytes: 0,
      awaited: true,
    })),
  );
}
