import type { ApiError } from '../api/call.ts';
import type { QueryStateEntry } from '#coordinator/api/http/api-types.ts';
import type { ResultSet } from '../result/result-set.ts';
import type { RowOrder } from '../tabs/tab-record.ts';

/** The fate of a statement that a tab has run. */
export type Outcome = {
  readonly queryId: string;
  readonly sql: string;
  /** Where the statement begins in the text of the tab; null when it is not of the text. */
  readonly offset: number | null;
  readonly state: 'running' | 'done' | 'failed';
  /** Null for rows that an earlier page has asked for. */
  readonly elapsedMs: number | null;
  readonly result: ResultSet;
  /** Rows so far: the result grows without being another object. */
  readonly rowCount: number;
  /** There are more rows than these. */
  readonly isCut: boolean;
  /** The rows are a plan, which is drawn. */
  readonly isExplain: boolean;
  /** The order of the whole result, of which these are the first rows; null: that of the statement. */
  readonly order: RowOrder | null;
  readonly progress: QueryStateEntry | null;
  /** The connection broke, and is tried again: the statement goes on meanwhile. */
  readonly isTryingAgain: boolean;
  /** A remark beside the rows. */
  readonly note: string;
  readonly error: ApiError | null;
};

/** The statements of the last run of a tab, and which of them is shown. */
export type TabRun = { readonly outcomes: readonly Outcome[]; readonly shown: number };
