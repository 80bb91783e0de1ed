import type { ApiError } from '../api/call.ts';
import type { QueryState } from '../api/query-state.ts';
import type { ResultSet } from '../result/result-set.ts';

/** The fate of a statement that a tab has run. */
export type Outcome = {
  readonly queryId: string;
  readonly sql: string;
  /** Where the statement begins in the text of the tab; null when it is not of the text. */
  readonly offset: number | null;
  readonly state: 'running' | 'done' | 'failed';
  readonly startedMs: number;
  readonly elapsedMs: number;
  readonly result: ResultSet;
  /** Rows so far: the result grows without being another object. */
  readonly rowCount: number;
  /** There are more rows than were asked for. */
  readonly isCut: boolean;
  readonly progress: QueryState | null;
  readonly error: ApiError | null;
};

/** The statements of the last run of a tab, and which of them is shown. */
export type TabRun = { readonly outcomes: readonly Outcome[]; readonly shown: number };
