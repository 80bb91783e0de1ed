import type { StatementContext } from '#proto/task.ts';
import type { TableSource } from '../resolver/table-source.ts';
import type { Planner } from './planner.ts';
import type { PreparedQuery } from './prepared-query.ts';

export type PrepareRequest = {
  /** The text of one query; names without a catalog or schema mean the context's. */
  readonly sql: string;
  /** Offset of `sql` in the statement: what error positions add. */
  readonly offset: number;
  readonly context: StatementContext;
  readonly tables: TableSource;
  readonly planner: Planner;
  readonly signal: AbortSignal;
};

/** Shape of `prepareQuery` below. */
export type PrepareQuery = (request: PrepareRequest) => Promise<PreparedQuery>;
