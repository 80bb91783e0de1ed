import type { SqlText } from '#shared/task/sql-text.ts';
import type { StatementContext } from '#shared/sql/statement-context.ts';
import type { Asker } from '#shared/fair/asker.ts';
import type { BoundedFamily } from '#shared/sql/bounded-functions.ts';
import type { NameDefaults, QueryReferences } from './query-references.ts';
import type { Part } from '../statement/proven.ts';
import type { ValuePlace } from '../statement/value-place.ts';
import type { LargePlan } from './large-plan.ts';
import type { Plan } from '../plan/plan.ts';
import type { ReadField } from '../plan/scan-predicates.ts';
import type { SqlField, SqlType } from '../plan/sql-type.ts';

/**
 * DuckDB's parser, binder and optimiser, in processes that hold nothing and take turns between `asker`s. Positions of errors are byte
 * offsets in the text given.
 */
export interface Planner {
  /**
   * Returns the tables, columns and functions that a query refers to.
   * @throws SYNTAX_ERROR, NOT_SUPPORTED (no query, or a function that is not served), STATEMENT_TOO_COMPLEX, QUERY_CANCELLED.
   */
  parse(request: ParseRequest, asker: Asker, signal: AbortSignal): Promise<QueryReferences>;
  /** @throws what DuckDB's binder refuses, as an error of the catalogue; STATEMENT_TOO_COMPLEX, QUERY_CANCELLED. */
  plan(request: PlanRequest, asker: Asker, signal: AbortSignal): Promise<PlanReply>;
  /**
   * Binds texts that were printed from a plan, so that none that DuckDB refuses is sent to a worker.
   * @returns for each text why it is refused, or null. @throws STATEMENT_TOO_COMPLEX, QUERY_CANCELLED.
   */
  bind(request: BindRequest, asker: Asker, signal: AbortSignal): Promise<readonly (string | null)[]>;
  /**
   * Writes another engine's query in our dialect, where that can be done without a look at its tables.
   * @throws NOT_SUPPORTED, STATEMENT_TOO_COMPLEX, QUERY_CANCELLED
   */
  translate(request: TranslateRequest, asker: Asker, signal: AbortSignal): Promise<string>;
  /**
   * Writes a query of Postgres' dialect in ours; null = it stays as it is. Places are byte offsets in the text.
   * @throws TABLE_NOT_FOUND, FUNCTION_NOT_FOUND, TYPE_NOT_FOUND for names of Postgres' catalog, STATEMENT_TOO_COMPLEX, QUERY_CANCELLED
   */
  postgres(request: PostgresRequest, asker: Asker, signal: AbortSignal): Promise<PostgresText | null>;
  /** Binds a query that was translated, and looks for what it would compute otherwise than its engine. @throws as `plan` */
  compare(request: CompareRequest, asker: Asker, signal: AbortSignal): Promise<CompareReply>;
  /** Binds a query with its parameters in place. @throws as `plan`; values are NULL, cast to a parameter's declared type. */
  describe(request: PlanRequest, asker: Asker, signal: AbortSignal): Promise<DescribeReply>;
  /**
   * Parses the parts of a statement before they are put into texts of our own.
   * @throws SYNTAX_ERROR with the place in the statement, STATEMENT_TOO_COMPLEX, QUERY_CANCELLED.
   */
  checkParts(parts: readonly Part[], asker: Asker, signal: AbortSignal): Promise<void>;
  close(): Promise<void>;
}

export type ParseRequest = {
  /** It is a SELECT of a policy's body: what a body may not have is NOT_SUPPORTED. */
  readonly isBody?: boolean;
  readonly sql: string;
  readonly defaults: NameDefaults;
  /** Context in which the values of time travel are evaluated. */
  readonly context: StatementContext;
  /** The query's parameters have no values yet: NULL stands for them, and in `AT (...)` for the table's current state. */
  readonly withoutValues?: boolean;
  /** The values of parameters in the text: columns are named after the parameters. */
  readonly values?: readonly ValuePlace[];
};

/** Engines whose views are read: `dialect/` has their grammars. */
export type DialectName = 'spark' | 'trino';

export type TranslateRequest = { readonly sql: string; readonly dialect: DialectName };

/** `values`: the ranges of the values of parameters. */
export type PostgresRequest = {
  readonly sql: string;
  readonly values: readonly TextRange[];
  /** The session's catalog, by which names may begin. */
  readonly catalog: string;
};

type TextRange = { readonly from: number; readonly to: number };

/** A part of a text that was written anew, with the place of the statement that it was made of; or a range of the statement. */
export type PostgresPart = { readonly text: string; readonly at: number | null } | TextRange;

export type PostgresText = {
  readonly parts: readonly PostgresPart[];
  /** The types of its columns in Postgres, each null where it is DuckDB's; null = the columns are not known. */
  readonly columns: readonly { readonly name: string; readonly type: string | null }[] | null;
};

export type CompareRequest = Pick<PlanRequest, 'sql' | 'scans' | 'context' | 'contextual'> & {
  readonly dialect: DialectName;
  /** Types that the columns are converted to, by their places. */
  readonly types: readonly SqlType[];
};

/** `different` is what another engine computes otherwise; null = nothing. */
export type CompareReply = { readonly columns: number; readonly different: string | null };

export type PlanRequest = {
  /** Tables stand as `skein_scan('<n>')`. */
  readonly sql: string;
  /** The same query with its parameters in the place of their values; absent or null = it has none. */
  readonly parameters?: ParameterQuery | null;
  readonly scans: readonly PlannerScan[];
  readonly context: StatementContext;
  /** False when only the time zone of the context matters (`QueryReferences.contextual`). */
  readonly contextual: boolean;
};

/** A query with its parameters, and their values: DuckDB names its columns after the parameters. */
export type ParameterQuery = {
  /** Tables stand as in `PlanRequest.sql`. */
  readonly sql: string;
  readonly values: readonly ParameterValue[];
};

export type DescribeReply = {
  /** Null when the query cannot be bound with NULL as values. */
  readonly columns: readonly SqlField[] | null;
  /** Types of parameters, where they are declared or DuckDB finds them. */
  readonly parameters: readonly SqlField[];
};

export type ParameterValue = {
  /** Number or name of the parameter. */
  readonly name: string;
  /** The value as SQL. */
  readonly text: string;
  /** Byte offset of its first place in `PlanRequest.sql`. */
  readonly location: number;
};

export type BindRequest = {
  readonly texts: readonly PrintedText[];
  /** Columns of the tables that stand as `{ scan }` in the texts. */
  readonly scans: readonly (readonly SqlField[])[];
  readonly context: StatementContext;
  /** See `PlanRequest.contextual`. */
  readonly contextual: boolean;
};

export type PrintedText = {
  readonly sql: SqlText;
  /** Types of the columns `c0`, `c1`, ... of each `{ input }`, spelled as in a worker's task. */
  readonly inputs: readonly (readonly string[])[];
  /** Types of the columns that the text must give, in the same spelling. */
  readonly gives: readonly string[];
};

/** The columns and row count that the bind callback returns for scan n. */
export type PlannerScan = {
  readonly columns: readonly SqlField[];
  /** The same columns as Iceberg fields of the table. */
  readonly fields: readonly ReadField[];
  /** Number of rows, for join ordering; null = unknown. */
  readonly rowCount: number | null;
};

export type PlanReply = {
  /** Null when DuckDB cannot print this plan, neither optimised nor as bound, and when it is `large`. */
  readonly plan: Plan | null;
  /** Summary of a plan that is too long for the coordinator to process; null otherwise. */
  readonly large: LargePlan | null;
  /** Without a plan and not `large`: the operators that DuckDB bound, each once, as EXPLAIN names them (`boundOperators`). */
  readonly operators: readonly string[];
  readonly columns: readonly SqlField[];
  /** Functions to be bounded because of what the plan does with them, beside those of `QueryReferences.bounds`. */
  readonly bounds: readonly BoundedFamily[];
};
