import type { TaskReport } from '#shared/task/task.ts';
import type { FinishedTask } from './finished-task.ts';
import type { TaskEvent } from './task-state.ts';

/** How an attempt to run a task ended, as its worker reports it. */
export type TaskEnd =
  | Exclude<TaskEvent, { readonly kind: 'finished' }>
  | { readonly kind: 'finished'; readonly report: TaskReport };

export const withRun = (end: TaskEnd, ran: FinishedTask['ran']): TaskEvent =>
  end.kind === 'finished' ? { ...end, report: { ...end.report, ran } } : end;
