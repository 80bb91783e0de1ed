import type { HistoryRow } from '../history/history-record.ts';
import type { QueryRunProfile } from '../profile/profile-types.ts';
import type { WorkClass } from '../workload/work-class.ts';

/** Sends what statements did to a collector of OpenTelemetry. */
export interface Traces {
  /** Takes a statement that has ended; `parent` is the header `traceparent` of its request. Never throws, and never waits. */
  ended(statement: EndedStatement, parent: string | null): void;
  /** Sends what waits; gives up after 2 s. */
  close(): Promise<void>;
}

/** A statement that has ended, and how its queries ran. */
export type EndedStatement = {
  readonly row: HistoryRow;
  readonly workClass: WorkClass | null;
  readonly queries: readonly QueryRunProfile[];
};
