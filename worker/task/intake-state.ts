import { SkeinError } from '#shared/error.ts';
import { unreachable } from '#shared/must.ts';

/** Most tasks that a worker holds, including those that have ended and whose output is kept. */
const TASKS_HELD_MAX = 100_000;

/**
 * Whether a worker takes new tasks.
 * ```
 *   open ──drain──> draining ──the last task is gone──> drained
 * ```
 */
export type IntakeState = { readonly kind: 'open' | 'draining' | 'drained' };

/** `held`: number of tasks after the event, including those that have ended and whose output is kept. */
export type IntakeEvent =
  | { readonly kind: 'drain'; readonly held: number }
  | { readonly kind: 'taskGone'; readonly held: number };

export function nextIntake(state: IntakeState, event: IntakeEvent): IntakeState {
  switch (event.kind) {
    case 'drain':
      if (state.kind === 'drained') return state;
      return { kind: event.held === 0 ? 'drained' : 'draining' };
    case 'taskGone':
      return state.kind === 'draining' && event.held === 0 ? { kind: 'drained' } : state;
    default:
      return unreachable(event);
  }
}

/** Tasks of a worker: `active` ones have not left their slot. */
export type TaskLoad = { readonly active: number; readonly activeMax: number; readonly held: number };

/** Returns the error for a new task that the worker refuses; undefined when it takes the task. */
export function refusal(state: IntakeState, { active, activeMax, held }: TaskLoad): SkeinError | undefined {
  if (state.kind !== 'open') return new SkeinError('WORKER_DRAINING', 'the worker is shutting down');
  if (active < activeMax && held < TASKS_HELD_MAX) return undefined;
  return new SkeinError('QUEUE_FULL', 'the worker has too many tasks');
}
