/** A record of the history, as `GET /api/query-history` answers. */
export type HistoryRecord = {
  readonly queryId: string;
  readonly status: string;
  readonly sql: string;
  readonly userId: string;
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

/** Whether its figures still move. */
export const isLive = (status: string): boolean => status === 'queued' || status === 'running';
