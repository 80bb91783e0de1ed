import { unreachable } from '#shared/must.ts';

/**
 * The life of a task on a worker.
 * ```
 *   waiting ──started──> running ──left──> held ──stopped, done──> freeing ──freed──> gone
 *      ├──────left (never ran)──────────────^                         ^
 *      │                    │                                         │
 *      └──stopped, done─────┴──> ending ────────────left──────────────┘
 * ```
 * `callerGone` is `stopped` when it leaves no caller behind.
 */
export type TaskState =
  /** It fetches its inputs, or waits for memory or for a slot. `callers`: the RunTask calls that wait for its end. */
  | { readonly kind: 'waiting'; readonly callers: number }
  | { readonly kind: 'running'; readonly callers: number }
  /** It has left its slot. Its output, or its error, is kept for readers. */
  | { readonly kind: 'held'; readonly callers: number }
  /** Nobody reads its output any more, but it has not left its slot. */
  | { readonly kind: 'ending' }
  | { readonly kind: 'freeing' }
  | { readonly kind: 'gone' };

export type TaskEvent =
  | { readonly kind: 'called' }
  /** A call has its answer. */
  | { readonly kind: 'answered' }
  /** A call was cancelled before it had its answer. */
  | { readonly kind: 'callerGone' }
  /** The task has its inputs and its memory. */
  | { readonly kind: 'started' }
  /** The task has given back its slot and its memory, or never had them and never will. */
  | { readonly kind: 'left' }
  /** A cancel, the end of the query, a lost reader or a silent coordinator ends the task. */
  | { readonly kind: 'stopped' }
  /** The output was read to its end, or the task failed and has none. */
  | { readonly kind: 'done' }
  /** Memory and files of the output are free. */
  | { readonly kind: 'freed' };

export const NEW_TASK: TaskState = { kind: 'waiting', callers: 0 };

/** The state after `event`; an event that comes too late, or a second time, changes nothing. */
export function nextTask(state: TaskState, event: TaskEvent): TaskState {
  switch (event.kind) {
    case 'called':
      return isLive(state) ? { ...state, callers: state.callers + 1 } : state;
    case 'answered':
      return isLive(state) ? { ...state, callers: Math.max(0, state.callers - 1) } : state;
    case 'callerGone':
      if (!isLive(state)) return state;
      return state.callers <= 1 ? end(state) : { ...state, callers: state.callers - 1 };
    case 'started':
      return state.kind === 'waiting' ? { kind: 'running', callers: state.callers } : state;
    case 'left':
      if (state.kind === 'ending') return { kind: 'freeing' };
      return state.kind === 'waiting' || state.kind === 'running' ? { kind: 'held', callers: state.callers } : state;
    case 'stopped':
    case 'done':
      return isLive(state) ? end(state) : state;
    case 'freed':
      return state.kind === 'freeing' ? { kind: 'gone' } : state;
    default:
      return unreachable(event);
  }
}

type LiveState = Extract<TaskState, { callers: number }>;

const end = (state: LiveState): TaskState => (state.kind === 'held' ? { kind: 'freeing' } : { kind: 'ending' });

/** Whether the task's output is, or will be, there for its readers. */
export const isLive = (state: TaskState): state is LiveState =>
  state.kind === 'waiting' || state.kind === 'running' || state.kind === 'held';

/** Whether the task has, or waits for, a slot and memory. */
export const isActive = ({ kind }: TaskState): boolean => kind === 'waiting' || kind === 'running' || kind === 'ending';
