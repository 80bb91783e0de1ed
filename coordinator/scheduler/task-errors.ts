import { SkeinError, type ErrorCode } from '#shared/error.ts';
import { unreachable } from '#shared/must.ts';
import { policyError } from '../binding/policy-error.ts';
import type { TaskFragment } from '../distributor/fragment.ts';
import type { TaskEvent, TaskFailure } from './task-state.ts';

/** Stops a task whose input was lost: it may wait for that input forever. */
export const INPUT_LOST = new SkeinError('WORKER_LOST', 'an input of the task was lost');

/** Errors of a task that waits for its inputs which are of its worker, or of the connection to it. */
export const NOT_BY_WAITING: ReadonlySet<ErrorCode> = new Set(['WORKER_LOST', 'CONNECTION_LOST', 'QUEUE_FULL']);

/** Tells tasks that still run that nobody needs their rows. Made once: a stack trace for every query costs too much. */
export const QUERY_ENDED = new SkeinError('QUERY_CANCELLED', 'the query has ended');

/** The query must start over: a lost output has been read in part, and rerunning its task would not reproduce it exactly. */
export class StartOver extends Error {}

/** A worker could not bind a fragment's SQL, although the coordinator checks fragments before they run. `message` is DuckDB's. */
export class FragmentRefused extends Error {
  readonly fragment: TaskFragment;

  constructor(fragment: TaskFragment, message: string) {
    super(message);
    this.name = 'FragmentRefused';
    this.fragment = fragment;
  }
}

/** Makes the error of a query whose task was lost by `event` and cannot run again. */
export const sentInPart = (event: TaskEvent['kind']): SkeinError =>
  event === 'connectionLost'
    ? new SkeinError('CONNECTION_LOST', 'a connection to a worker broke after a part of the result had been sent')
    : new SkeinError('WORKER_LOST', 'a worker was lost after a part of the result had been sent');

/** Makes the error of a query one of whose tasks is not tried again. */
export function failureError(reason: TaskFailure): SkeinError {
  switch (reason.kind) {
    case 'error':
      return reason.error;
    case 'killsWorkers':
      return new SkeinError(
        'WORKER_LOST',
        `${reason.workersLost} workers were lost while they ran the same task of the query; it is not tried again`,
      );
    case 'connections':
      return new SkeinError(
        'CONNECTION_LOST',
        `${reason.connectionsLost} connections to a worker broke while it ran the same task of the query; it is not tried again`,
      );
    case 'attempts':
      return new SkeinError(
        'WORKER_LOST',
        `a task of the query did not come to its end in ${reason.attempts} attempts, because workers or what they held were lost`,
      );
    default:
      return unreachable(reason);
  }
}

/** The error of a stage as its statement's reader may see it; `runWhole` finds out about one that may be the statement's own. */
export const stageError = ({ policed }: TaskFragment, error: SkeinError): SkeinError =>
  policed === undefined || policed.isInline === true ? error : policyError(error, policed.seesPolicies);
