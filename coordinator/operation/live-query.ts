import type { PrincipalId, QueryId, TenantId } from '#shared/id.ts';
import type { RunProgress } from '../scheduler/run-progress.ts';
import type { QueuePlace } from '../workload/admission.ts';
import type { Classification } from '../workload/classify.ts';

/** `cancelling`: it was told to end, but its tasks have not stopped yet. */
export type LiveState = 'queued' | 'running' | 'cancelling';

export const LIVE_STATES: readonly LiveState[] = ['queued', 'running', 'cancelling'];

/** A statement that waits or runs now; its fields have the names of the history record (service specification, Query history record). */
export type LiveQuery = {
  readonly queryId: QueryId;
  readonly tenant: TenantId;
  readonly principal: PrincipalId;
  readonly username: string;
  /** Without the values of secrets; empty until it has been read. */
  readonly sql: string;
  readonly queryType: string;
  readonly source: string | null;
  readonly resourceGroup: string;
  readonly priority: number;
  /** Null before the query is planned, and for a statement that runs no query. */
  readonly classification: Classification | null;
  readonly state: LiveState;
  readonly queuedAtMs: number;
  readonly startedAtMs: number | null;
  /** Time since its request arrived. */
  readonly elapsedMs: number;
  /** Rows that its present run has given to the client. */
  readonly rowsProduced: number;
  readonly progress: RunProgress;
  /** Its place in the queue of its group; null unless it waits for admission. */
  readonly waiting: QueuePlace | null;
};
