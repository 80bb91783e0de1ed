import type { SqlText } from '#shared/task/sql-text.ts';
import type { BoundedFamily } from '#shared/sql/bounded-functions.ts';
import type { TableBinding } from './table-binding.ts';
import type { Plan } from '../plan/plan.ts';
import type { PlanMemory } from './plan-memory.ts';
import type { PlanFeatures } from '../plan/plan-features.ts';
import type { PostgresType } from './pg-types.ts';
import type { RelationColumn } from './relation-column.ts';
import type { SqlType } from '../plan/sql-type.ts';

/** A query that is ready to be admitted and run: names bound, types known. Plain data; it may be cached. */
export type PreparedQuery = {
  readonly columns: readonly ResultColumn[];
  /** Null when DuckDB cannot print its plan, or it is too long: the query runs whole on one worker. */
  readonly plan: Plan | null;
  /**
   * Whether the plan was made for other literals, which were replaced. It prunes and classifies, but no fragment is printed from it: the
   * optimiser may have dropped a condition that is implied by those literals.
   */
  readonly isShared: boolean;
  /** The facts that earlier runs of the plan have taught, which this one adds to. */
  readonly memory: PlanMemory;
  /** The reason why `plan` is null, for EXPLAIN: `has no printed form`. */
  readonly noPlan: string;
  /** The whole query's text for one worker, with tables as indexes into `scans`; its rows have DuckDB's types, not JSON. */
  readonly workerSql: SqlText;
  readonly scans: readonly TableBinding[];
  readonly features: PlanFeatures;
  /** False when only the time zone of the statement's context matters (`QueryReferences.contextual`). */
  readonly contextual: boolean;
  /** `QueryReferences.placeAlone` */
  readonly placeAlone: boolean;
  /** A policy of its tables asks for the reader or his roles. */
  readonly asksReader: boolean;
  /** `QueryReferences.bounds` and `PlanReply.bounds` */
  readonly bounds: readonly BoundedFamily[];
};

type ResultColumn = {
  readonly name: string;
  readonly type: SqlType;
  /** Name of `type` that clients see: `BIGINT`, `DECIMAL(15,2)`, `TIMESTAMP WITH TIME ZONE`. */
  readonly typeName: string;
  /** Its type in Postgres, where that is not what `type` says. */
  readonly postgres?: PostgresType;
  /** The column of a table or view that it is. */
  readonly origin?: RelationColumn;
  /** As in `OutputColumn`. */
  readonly isMoment?: true;
};
