import type { ResultReader } from './result-reader.ts';
import type { StageRun } from './stage-run.ts';
import { stageTasks } from './stage-state.ts';

/** Restarts the result after a task failed whose rows were delivered in part; false when the client has already received some. */
export function restartResult(stage: StageRun, result: ResultReader): boolean {
  if (!result.restart()) return false;
  for (const [task, { kind }] of stageTasks(stage.state).entries()) {
    if (kind === 'done') stage.applyTask(task, { kind: 'outputLost' });
  }
  return true;
}
