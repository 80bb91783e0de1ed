import { must, unreachable } from '#shared/must.ts';
import { NEW_TASK, nextTask, type TaskEvent, type TaskFailure, type TaskState } from './task-state.ts';

/**
 * The life of a stage: the tasks of one fragment. Tasks of a stage that divides files are made while it runs, as workers ask for more.
 * ```
 *   running ──allMade, and every task is done──> done ──a task's output is lost──> running
 *      └──a task has failed──> failed
 * ```
 */
export type StageState =
  | { readonly kind: 'running'; readonly tasks: readonly TaskState[]; readonly allMade: boolean }
  /** All tasks are done. */
  | { readonly kind: 'done'; readonly tasks: readonly TaskState[] }
  | { readonly kind: 'failed'; readonly task: number; readonly failure: TaskFailure };

export type StageEvent =
  /** One more task; its number is the count of those before. */
  | { readonly kind: 'made' }
  | { readonly kind: 'allMade' }
  | { readonly kind: 'task'; readonly task: number; readonly event: TaskEvent };

export const NEW_STAGE: StageState = { kind: 'running', tasks: [], allMade: false };

/** Returns the state after `event`; a failed stage stays failed. */
export function nextStage(state: StageState, event: StageEvent): StageState {
  if (state.kind === 'failed') return state;
  switch (event.kind) {
    case 'made':
      return state.kind === 'running' ? { ...state, tasks: [...state.tasks, NEW_TASK] } : state;
    case 'allMade':
      return state.kind === 'running' ? settled(state.tasks, true) : state;
    case 'task': {
      const before = must(state.tasks[event.task], 'an event of a task that was made');
      const after = nextTask(before, event.event);
      if (after === before) return state;
      if (after.kind === 'failed') return { kind: 'failed', task: event.task, failure: after.failure };
      return settled(state.tasks.with(event.task, after), state.kind === 'done' || state.allMade);
    }
    default:
      return unreachable(event);
  }
}

function settled(tasks: readonly TaskState[], allMade: boolean): StageState {
  const isDone = allMade && tasks.every((task) => task.kind === 'done');
  return isDone ? { kind: 'done', tasks } : { kind: 'running', tasks, allMade };
}

export const stageTasks = (state: StageState): readonly TaskState[] => (state.kind === 'failed' ? [] : state.tasks);
