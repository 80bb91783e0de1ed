import type { HistoryRow } from './history-record.ts';

/** Records of one page, and of SHOW QUERY HISTORY, without a limit (service specification, Limits). */
export const RECORDS_DEFAULT = 50;
/** Records of one page at most (service specification, Limits); their texts are in memory together. */
export const RECORDS_MAX = 500;
/** Records of SHOW QUERY HISTORY at most: they are read page by page. */
export const SHOWN_RECORDS_MAX = 10_000;

/** The filters of a list; null = no filter. */
export type HistoryRequest = {
  readonly limit: number;
  readonly offset: number;
  readonly status: string | null;
  /** Id of the principal, or its name. */
  readonly user: string | null;
  readonly queryType: string | null;
  readonly resourceGroup: string | null;
  readonly minDurationMs: number | null;
  /** Part of the statement's text, whatever the case. */
  readonly text: string | null;
  /** Pattern of LIKE for the whole text. */
  readonly like: string | null;
  /** Bounds of `queued_at`: at or after `from`, before `to`. */
  readonly from: Date | null;
  readonly to: Date | null;
};

export const ALL_RECORDS: HistoryRequest = {
  limit: RECORDS_DEFAULT,
  offset: 0,
  status: null,
  user: null,
  queryType: null,
  resourceGroup: null,
  minDurationMs: null,
  text: null,
  like: null,
  from: null,
  to: null,
};

/** A record as it is shown (service specification, Query history record). */
export type HistoryEntry = {
  readonly queryId: string;
  readonly status: HistoryRow['status'];
  readonly sql: string;
  readonly userId: string;
  readonly tenantId: string;
  readonly queryType: string;
  readonly resourceGroup: string;
  readonly priority: number;
  readonly queuedAt: string;
  readonly startedAt: string | null;
  readonly endedAt: string | null;
  readonly durationMs: number | null;
  readonly rowsProduced: number;
  readonly bytesScanned: number;
  readonly fragments: number;
  readonly errorMessage: string | null;
  readonly cuConsumed: number;
};
