import type { SessionState } from '../session/session.ts';
import type { ValuePlace } from '../statement/value-place.ts';
import type { ActiveQuery } from './active-query.ts';
import type { RunningRequest } from './query-service.ts';
import type { RunnerServices } from './runner-services.ts';

/** A statement that runs: what all steps of its way have in common. */
export type RunningStatement = {
  readonly services: RunnerServices;
  readonly request: RunningRequest;
  readonly active: ActiveQuery;
  /** The session as it was when the statement began. */
  readonly session: SessionState;
  /** The values of parameters in its text; for EXECUTE, those in the text of the prepared statement. */
  readonly values: readonly ValuePlace[];
  /** The calls of `pg_cancel_backend` and `pg_terminate_backend` that were done before the query, by `signalKey`, with their answers. */
  readonly signals: Map<string, boolean>;
};
