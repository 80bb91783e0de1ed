import type { TaskSpec } from '#shared/task/task.ts';
import type { RowsPart } from '../binding/table-rows.ts';
import type { Scheduler } from './scheduler.ts';
import { runSpooledTask, type SpooledEnd } from './spooled-task.ts';
import type { TaskStart } from './start-task.ts';

/** Runs a task with spooled output; the part of rows that it carries is in memory only while it runs. @throws as `runSpooledTask`, STORAGE_ERROR */
export async function runCarrying(
  part: RowsPart | undefined,
  task: TaskStart,
  { carriers }: Pick<Scheduler, 'carriers'>,
): Promise<SpooledEnd> {
  if (part === undefined) return await runSpooledTask(task);
  return await carriers.run(task.spec, async () => {
    task.signal.throwIfAborted();
    return await runSpooledTask({ ...task, spec: withMessages(task.spec, await part.read()) });
  });
}

/** A task with the messages of the one source that it has. */
const withMessages = (spec: TaskSpec, messages: readonly Uint8Array[]): TaskSpec => ({
  ...spec,
  inputs: spec.inputs.map((input) => ({ ...input, sources: input.sources.map((source) => ({ ...source, messages })) })),
});
