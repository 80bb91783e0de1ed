import type { StatementContext } from '#shared/sql/statement-context.ts';
import type { PrincipalId, TenantId } from '#shared/id.ts';
import type { Planner } from '../binding/planner.ts';
import type { PreparedQuery } from '../binding/prepared-query.ts';
import type { QueryTables } from '../binding/table-source.ts';
import type { BoundScan, TableReading } from '../resolver/bind-tables.ts';
import type { ValuePlace } from '../statement/value-place.ts';

export type PrepareRequest = {
  /** The text of one query; names without a catalog or schema mean the context's. */
  readonly sql: string;
  /** Offset of `sql` in the statement, which is added to error positions. */
  readonly offset: number;
  /** The values of parameters in it; absent = it has none. */
  readonly values?: readonly ValuePlace[];
  readonly context: StatementContext;
  /** The user who asks: a tenant's plans are its own, and nobody takes all of the cache. */
  readonly asker: { readonly tenant: TenantId; readonly principal: PrincipalId };
  readonly tables: QueryTables;
  readonly planner: Planner;
  /** Whether a plan will do that was made for other literals (`PreparedQuery.isShared`). */
  readonly mayShare?: boolean;
  /** Absent = as the asker may see them. */
  readonly reading?: TableReading;
  /** The asker may manage policies: he sees why one fails, and how many rows there are. */
  readonly seesPolicies?: boolean;
  /** The text asks the context for nothing but the reader and his roles (`readerContext`), as bodies of policies do; absent = for anything. */
  readonly asksReader?: true;
  readonly signal: AbortSignal;
};

/**
 * Prepares a query's text for admission and the scheduler.
 * @throws SkeinError with the position, in characters of the statement, where there is one.
 */
export type PrepareQuery = (request: PrepareRequest) => Promise<PreparedQuery>;

/** The query of a table's policies, over the table that is bound already. */
export type PolicyRequest = PrepareRequest & { readonly below: ReadonlyMap<string, BoundScan> };
