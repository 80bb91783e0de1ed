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
  /** Null = the newest first. */
  readonly sort: HistorySort | null;
  /** With the members beside those of the specification. */
  readonly allFields: boolean;
};

/** The columns that records can be ordered by. */
const SORTED = ['queued_at', 'duration_ms', 'rows_produced', 'bytes_scanned', 'cu_consumed'] as const;
/** An order: by a column, from the smallest on; with a minus sign from the largest on. */
export type HistorySort = (typeof SORTED)[number] | `-${(typeof SORTED)[number]}`;
export const HISTORY_SORTS: readonly HistorySort[] = SORTED.flatMap((column) => [`-${column}` as const, column]);

/** The columns that a summary can be divided by. */
export const FACETS = [
  'status',
  'query_type',
  'resource_group',
  'user_id',
  'username',
  'source',
  'error_code',
] as const;
export type Facet = (typeof FACETS)[number];

/** Records in numbers: one line for each value of `by` and each `bucketSeconds` from 1970 on; null = not divided so. */
export type SummaryRequest = { readonly by: Facet | null; readonly bucketSeconds: number | null };

/** Lines of a summary at most. */
export const SUMMARY_LINES_MAX = 5_000;

export type SummaryLine = {
  /** The begin of its time. */
  readonly bucket: string | null;
  readonly value: string | null;
  readonly count: number;
  readonly durationMs: number;
  readonly rowsProduced: number;
  readonly bytesScanned: number;
  readonly cuConsumed: number;
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
  sort: null,
  allFields: false,
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
  /** Only where all members are asked for. */
  readonly username?: string;
  readonly source?: string | null;
  readonly errorCode?: string | null;
};
