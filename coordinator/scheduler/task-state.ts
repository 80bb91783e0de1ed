import type { SkeinError } from '#shared/error.ts';
import type { TaskId } from '#shared/id.ts';
import { unreachable } from '#shared/must.ts';
import type { FinishedTask } from './finished-task.ts';

/** A task that was running on this many workers when they were lost is suspected of killing them, and fails. */
const WORKERS_LOST_MAX = 2;
/** A task that this many connections broke under, while its worker lived, is suspected of breaking them, and fails. */
const CONNECTIONS_LOST_MAX = 3;
/** Attempts of a task, at most, whatever ended the earlier ones. */
const ATTEMPTS_MAX = 6;

/** One life of a worker: a restarted worker is another one. */
type WorkerLife = { readonly id: string; readonly address: string };

/** The output of a finished task, which is on its worker. */
export type TaskOutput = { readonly taskId: TaskId; readonly worker: WorkerLife; readonly report: FinishedTask };

/** Whether the report carries the whole output, so that it survives the loss of its worker. */
export const isCarried = ({ report }: TaskOutput): boolean =>
  report.partitions.every(({ rows, messages }) => rows === 0 || messages !== undefined);

type Tried = {
  readonly attempts: number;
  /** Workers that were lost while they ran it. */
  readonly workersLost: number;
  /** Ids of the workers that were lost with it. It runs there again only when there is no other worker: they may only have been slow. */
  readonly avoid: readonly string[];
  /** Ids of the workers that refused it because they drain. */
  readonly refusedBy: readonly string[];
  /** Connections that broke while it ran, though the worker lived. */
  readonly connectionsLost: number;
  /** Id of the worker whose connection broke last: no other worker is tried while this one takes tasks. */
  readonly boundTo: string | null;
};

/**
 * The life of one task of a stage: a fixed share of its input, on one worker after the other until one has finished it.
 * ```
 *             ┌── workerLost, connectionLost, inputLost: again, a few times; the others: at once ─┐
 *             v                                                                                   │
 *   ──> waiting ──placed──> running ──finished──> done ──outputLost──> waiting                    │
 *                             ├───────────────────────────────────────────────────────────────────┘
 *                             └──failed──> failed
 * ```
 * `done` is left again when the worker that holds the output is lost, or cannot be reached by a reader, while somebody needs it.
 */
export type TaskState =
  | ({ readonly kind: 'waiting' } & Tried)
  | ({ readonly kind: 'running'; readonly taskId: TaskId; readonly worker: WorkerLife } & Tried)
  | ({ readonly kind: 'done'; readonly output: TaskOutput } & Tried)
  | { readonly kind: 'failed'; readonly failure: TaskFailure };

/** Why a task is not tried again. */
export type TaskFailure =
  | { readonly kind: 'error'; readonly error: SkeinError }
  /** Every worker that ran it was lost. */
  | { readonly kind: 'killsWorkers'; readonly workersLost: number }
  /** Every connection over which it ran broke. */
  | { readonly kind: 'connections'; readonly connectionsLost: number }
  | { readonly kind: 'attempts'; readonly attempts: number };

export type TaskEvent =
  | { readonly kind: 'placed'; readonly taskId: TaskId; readonly worker: WorkerLife }
  | { readonly kind: 'finished'; readonly report: FinishedTask }
  | { readonly kind: 'failed'; readonly error: SkeinError }
  /** The worker that runs it is gone. */
  | { readonly kind: 'workerLost' }
  /** The worker that runs it lives, but the connection to it broke. */
  | { readonly kind: 'connectionLost' }
  /** The worker that runs it ended itself because of another query. */
  | { readonly kind: 'workerEnded' }
  /** An input of the task is lost; its producer must run again first. */
  | { readonly kind: 'inputLost' }
  /** The worker takes no tasks: it drains. */
  | { readonly kind: 'refused' }
  | { readonly kind: 'outputLost' };

export const NEW_TASK: TaskState = {
  kind: 'waiting',
  attempts: 0,
  workersLost: 0,
  avoid: [],
  refusedBy: [],
  connectionsLost: 0,
  boundTo: null,
};

/**
 * Returns the workers that may run a waiting task: the one whose connection broke under it, else those that have neither refused it nor
 * been lost with it; those that were lost with it when there is no other.
 */
export function takersOf<W extends { readonly info: { readonly id: string } }>(
  { attempts, refusedBy, boundTo, avoid }: Tried,
  workers: readonly W[],
): readonly W[] {
  if (attempts === 0 && refusedBy.length === 0) return workers;
  const willing = workers.filter(({ info }) => !refusedBy.includes(info.id));
  const bound = willing.filter(({ info }) => info.id === boundTo);
  if (bound.length > 0) return bound;
  const trusted = willing.filter(({ info }) => !avoid.includes(info.id));
  return trusted.length > 0 ? trusted : willing;
}

/** The state after `event`; an event that does not fit the state, such as the end of an attempt that was given up, changes nothing. */
export function nextTask(state: TaskState, event: TaskEvent): TaskState {
  switch (event.kind) {
    case 'placed': {
      if (state.kind !== 'waiting') return state;
      const { taskId, worker } = event;
      return { ...tried(state), kind: 'running', taskId, worker, attempts: state.attempts + 1 };
    }
    case 'finished': {
      if (state.kind !== 'running') return state;
      const { taskId, worker } = state;
      return { ...tried(state), kind: 'done', output: { taskId, worker, report: event.report } };
    }
    case 'failed':
      return state.kind === 'running' ? { kind: 'failed', failure: { kind: 'error', error: event.error } } : state;
    case 'workerLost':
    case 'connectionLost':
    case 'workerEnded':
    case 'inputLost':
    case 'refused':
      return state.kind === 'running' ? again(state, event.kind) : state;
    case 'outputLost': {
      if (state.kind !== 'done') return state;
      const { attempts } = state;
      // The task is not to blame for its lost output, but a loop of losses must end.
      if (attempts >= ATTEMPTS_MAX) return { kind: 'failed', failure: { kind: 'attempts', attempts } };
      return { ...tried(state), kind: 'waiting', boundTo: null };
    }
    default:
      return unreachable(event);
  }
}

function again(
  state: Extract<TaskState, { kind: 'running' }>,
  reason: 'workerLost' | 'workerEnded' | 'connectionLost' | 'inputLost' | 'refused',
): TaskState {
  const workersLost = state.workersLost + (reason === 'workerLost' ? 1 : 0);
  if (workersLost >= WORKERS_LOST_MAX) return { kind: 'failed', failure: { kind: 'killsWorkers', workersLost } };
  const connectionsLost = state.connectionsLost + (reason === 'connectionLost' ? 1 : 0);
  if (connectionsLost >= CONNECTIONS_LOST_MAX)
    return { kind: 'failed', failure: { kind: 'connections', connectionsLost } };
  // A refused task did not run, and each worker refuses it only once. A worker that ended itself did so because of another query.
  const isCounted = reason !== 'refused' && reason !== 'workerEnded';
  const attempts = isCounted ? state.attempts : state.attempts - 1;
  if (attempts >= ATTEMPTS_MAX) return { kind: 'failed', failure: { kind: 'attempts', attempts } };
  const { avoid, refusedBy, worker } = state;
  return {
    kind: 'waiting',
    attempts,
    workersLost,
    avoid: reason === 'workerLost' ? [...avoid, worker.id] : avoid,
    refusedBy: reason === 'refused' ? [...refusedBy, worker.id] : refusedBy,
    connectionsLost,
    boundTo: reason === 'connectionLost' ? worker.id : null,
  };
}

const tried = ({ attempts, workersLost, avoid, refusedBy, connectionsLost, boundTo }: Tried): Tried => ({
  attempts,
  workersLost,
  avoid,
  refusedBy,
  connectionsLost,
  boundTo,
});
