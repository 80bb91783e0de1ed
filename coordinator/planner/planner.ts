import type { StatementContext } from '#proto/task.ts';
import type { SqlField, SqlType } from './sql-type.ts';

/** DuckDB's parser, binder and optimiser, in processes that hold nothing. */
export interface Planner {
  /** @throws SkeinError SYNTAX_ERROR, NOT_SUPPORTED, STATEMENT_TOO_COMPLEX, QUERY_CANCELLED. Positions are byte offsets. */
  parse(sql: string, signal: AbortSignal): Promise<string>;
  /** @throws SkeinError of the catalogue for what DuckDB refuses; positions are byte offsets into `request.sql`. */
  plan(request: PlanRequest, signal: AbortSignal): Promise<PlanReply>;
  close(): Promise<void>;
}

export type PlanRequest = {
  /** Tables stand as `skein_scan('<n>')`. */
  readonly sql: string;
  readonly scans: readonly PlannerScan[];
  readonly context: StatementContext;
};

/** What the bind callback answers for scan n. */
export type PlannerScan = {
  readonly columns: readonly SqlField[];
  /** For join ordering; null = unknown. */
  readonly rowCount: number | null;
};

export type PlanReply = {
  /** `json_serialize_plan`'s text; null when DuckDB cannot print this plan. */
  readonly planJson: string | null;
  readonly columns: readonly { readonly name: string; readonly type: SqlType }[];
};
