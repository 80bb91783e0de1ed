import { errorBody } from '#shared/error.ts';
import { recordedMessage } from '../binding/policy-error.ts';
import type { PrincipalId, QueryId, TenantId } from '#shared/id.ts';
import type { Classification } from '../workload/classify.ts';
import type { QueryState } from './query-state.ts';

/** The fields that stay the same over a statement's life. */
export type QueryFacts = {
  /** An id of our own, because clients may use a query id again. */
  readonly recordId: string;
  readonly queryId: QueryId;
  /** Secrets taken out already. */
  readonly sql: string;
  readonly principal: PrincipalId;
  readonly username: string;
  readonly tenant: TenantId;
  readonly queryType: string;
  readonly source: string | null;
  readonly resourceGroup: string;
  readonly priority: number;
  /** The query's class with its reasons; null before it is planned, and for a statement that runs no query. */
  readonly classification: Classification | null;
};

/** A row of `coordinator.query_history` (service specification, Query history record; `epoch` and `error_code` are ours). */
export type HistoryRow = {
  readonly record_id: string;
  readonly query_id: string;
  readonly status: QueryState['kind'];
  readonly sql: string;
  readonly user_id: string;
  readonly username: string;
  readonly tenant_id: string;
  readonly query_type: string;
  readonly source: string | null;
  readonly resource_group: string;
  readonly priority: number;
  readonly queued_at: Date;
  readonly started_at: Date | null;
  readonly ended_at: Date | null;
  readonly duration_ms: number | null;
  readonly rows_produced: number;
  readonly bytes_scanned: number;
  readonly fragments: number;
  readonly error_code: string | null;
  readonly error_message: string | null;
  readonly cu_consumed: number;
  /** Epoch of the coordinator that ran it. */
  readonly epoch: number;
};

/** A statement, as the history takes what it is to keep of it. */
export interface Recorded {
  readonly recordId: string;
  /** Whether it goes on; then there is another record of it. */
  readonly isOpen: boolean;
  readonly queryType: string;
  /** Its record as it is now. */
  row(): HistoryRow;
  /**
   * Returns what makes the JSON that tells how its queries ran (`coordinator/profile/statement-profile.ts`); null = it has planned none, or goes
   * on. The profiles of many statements, made one after the other, take a fraction of the time that each takes between other work.
   */
  profileLater(): MakeProfile | null;
}

/** Makes a profile, stored in a table of its own (`profile-segments.ts`). Holds little; null = it would be too long. */
export type MakeProfile = () => string | null;

const MS_PER_HOUR = 3_600_000;

/** Whether a statement of this status goes on. */
export const isOpen = (status: HistoryRow['status']): boolean => status === 'queued' || status === 'running';

export type RecordedBy = {
  readonly epoch: number;
  /** Compute units of an hour of the whole cluster. */
  readonly cuRate: number;
};

export function historyRow(facts: QueryFacts, state: QueryState, { epoch, cuRate }: RecordedBy): HistoryRow {
  const started = state.kind === 'queued' ? null : state.startedAtMs;
  const ended = state.kind === 'queued' || state.kind === 'running' ? null : state.endedAtMs;
  const durationMs = ended === null ? null : started === null ? 0 : Math.round(ended - started);
  const done = state.kind === 'queued' || state.kind === 'running' ? undefined : state;
  const error = state.kind === 'failed' || state.kind === 'cancelled' ? errorBody(state.error) : undefined;
  return {
    record_id: facts.recordId,
    query_id: facts.queryId,
    status: state.kind,
    sql: storable(facts.sql),
    user_id: facts.principal,
    username: facts.username,
    tenant_id: facts.tenant,
    query_type: facts.queryType,
    source: facts.source,
    resource_group: facts.resourceGroup,
    priority: facts.priority,
    queued_at: new Date(state.queuedAtMs),
    started_at: started === null ? null : new Date(started),
    ended_at: ended === null ? null : new Date(ended),
    duration_ms: durationMs,
    rows_produced: done?.rowsProduced ?? 0,
    bytes_scanned: done?.bytesScanned ?? 0,
    fragments: done?.fragments ?? 0,
    error_code: error?.error ?? null,
    error_message: error === undefined ? null : storable(recordedMessage(error.message)),
    cu_consumed: ((durationMs ?? 0) / MS_PER_HOUR) * cuRate,
    epoch,
  };
}

/** Postgres stores neither NUL nor half a surrogate pair. */
const storable = (text: string): string => text.toWellFormed().replaceAll('\0', '\uFFFD');
