import type { KeptRows } from '../binding/kept-rows.ts';
import type { PlannedRows, WrittenRows } from './planned-rows.ts';
import type { PolicyBody, PolicySignature } from './policy-body.ts';
import type { LoadGuard, StageLoad } from './stage-load.ts';
import type { FileLoad } from '#shared/task/load-rules.ts';
import type { ScanFile } from '#shared/iceberg/scan-file.ts';
import type { SqlField } from '../plan/sql-type.ts';
import type { PreparedQuery } from '../binding/prepared-query.ts';
import type { Description } from './description.ts';
import type { ExplainFormat, ExplainOptions } from './explain-options.ts';
import type { QueryColumn } from '../session/prepared-statement.ts';
import type { DerivedText } from '../statement/derived-text.ts';
import type { Proven, TakePart } from '../statement/proven.ts';
import type { TextSpan } from '../statement/statement.ts';
import type { UnloadQueries } from './unload.ts';
import type { QueryScope } from './refresh-request.ts';
import type { Outcome } from './outcome.ts';

/**
 * The operations on queries that a command may use. All queries of a statement read the same snapshot of a table and have the same time.
 */
export interface Queries extends UnloadQueries {
  /** Gives names to rows that a statement makes for itself; its queries find them. */
  readonly kept: KeptRows;
  /** The same for queries in another scope than the session's. */
  in(scope: QueryScope): Queries;
  /** Binds and plans a query, for `refreshWay`. */
  plan(query: TextSpan): Promise<{ readonly planned: PreparedQuery; readonly timeZone: string }>;
  /** Checks the body of a policy, and completes its names. @throws SkeinError of the catalogue, with its place in the statement */
  policyBody(body: Proven<'expression'>, signature: PolicySignature): Promise<PolicyBody>;
  /** Binds the query: the columns of its result. */
  columns(query: TextSpan): Promise<readonly QueryColumn[]>;
  /** Binds the query, or a text that was made of it, with its parameters in place, before they have values. */
  describe(query: TextSpan, text?: DerivedText): Promise<Description>;
  /**
   * Proves the parts of the statement that are put into other texts. @returns what `read` makes of them
   * @throws SYNTAX_ERROR for a part that is not of its kind, with its place
   */
  prove<T>(read: (take: TakePart) => T): Promise<T>;
  /**
   * Evaluates constant expressions, which are parts of the statement. @returns each value as an SQL literal of its type
   * @throws INVALID_ARGUMENT for an expression that is not constant, with its place; what its evaluation throws
   */
  constants(expressions: readonly Proven<'expression'>[]): Promise<readonly string[]>;
  /**
   * Runs a text that was made of the query, and whose one column is text without NULL, for the statement itself.
   * @returns what it has cost
   */
  texts(
    query: TextSpan,
    text: DerivedText,
    rows: TextRows,
    reading?: StatementReading,
  ): Promise<Omit<Outcome, 'rowsProduced'>>;
  /** Has the queries that follow read the tables as they are now. */
  forget(): void;
  /** Whether a query of one text column, which the command has made, gives any row of the tables as they are, whatever policies they have. */
  hasRows(sql: string): Promise<boolean>;
  /** Runs the query; its rows are the statement's result. */
  run(query: TextSpan): Promise<Outcome>;
  /** Plans a text that was made of the query; the tasks of its last stage write its rows as files of a table. */
  planWrite(query: TextSpan, text: DerivedText, reading?: StatementReading): Promise<PlannedRows>;
  /**
   * The files that a query of one table would read, after its conditions have excluded what they can; policies exclude none.
   * @throws NOT_SUPPORTED for a query of more tables
   */
  files(query: TextSpan, text: DerivedText): Promise<readonly ScanFile[]>;
  /**
   * Plans a text of one table that gives a row for each of the table's. @param query the RETURNING of a statement and what is before it
   * @throws NOT_SUPPORTED for any other text
   */
  returning(query: TextSpan, text: DerivedText, of: ReturnedFiles): Promise<Returning>;
  /**
   * Plans a text of one table that runs for each of some parts of its files, and whose rows are written as those of `planWrite`; they are raw,
   * and all of them, whatever policies the table has.
   */
  planRewrite(text: string, parts: readonly (readonly ScanFile[])[]): Promise<PlannedRows>;
  /**
   * Plans a text over the files of a stage, which is a list of expressions, for parts of the files; its rows are written as those of
   * `planWrite`. @throws NOT_SUPPORTED for a text that gives another number of rows than there are records
   */
  planLoad(load: StageLoad): Promise<PlannedLoad>;
  /** The lines of the plan of the query, or of a text that was made of it. */
  explain(
    query: TextSpan,
    options: ExplainOptions,
    text?: DerivedText,
    reading?: StatementReading,
  ): Promise<readonly string[]>;
  /** Profiles the queries of `planWrite` and `texts` that follow. @returns the lines of each, which come when it has run */
  profileAll(format: ExplainFormat): readonly (readonly string[])[];
  /** Runs the query, throws its rows away, and tells how it went. */
  explainAnalyze(query: TextSpan, format: ExplainFormat): Promise<Outcome & { readonly lines: readonly string[] }>;
}

/**
 * How a text that was made of a statement reads tables with policies: `addressed`: as the caller may see them, with the addresses of rows where
 * the text is not the caller's; `raw`: as they are, for a text without a word of the caller. Absent: as he may see them.
 */
export type StatementReading = 'addressed' | 'raw';

/** Receives the rows of a query that a statement makes for itself. */
export interface TextRows {
  /** Begins the rows; they may begin again. */
  start(): void;
  /** @throws what ends the query */
  add(texts: readonly string[]): void;
}

/** Whether rows are read from files that no snapshot has: they have no lineage yet. */
export type ReturnedFiles = 'written' | 'deleted';

/** The rows of RETURNING. */
export interface Returning {
  /**
   * Reads the rows of the files, as many as `count`, and has them wait for `answerReturned`; the last call counts.
   * @throws RESULT_TOO_LARGE, NOT_SUPPORTED for another number of rows
   */
  read(files: readonly ScanFile[], count: number): Promise<Omit<Outcome, 'rowsProduced'>>;
}

/** A load that is planned but for the text with which a task looks for what is wrong with records. */
export interface PlannedLoad {
  readonly columns: readonly SqlField[];
  /** Plans that text. */
  guarded(guard: LoadGuard): Promise<PlannedRows<LoadedFiles>>;
}

/** How the files of a stage went, in any order; parts of one file are apart. */
type LoadedFiles = WrittenRows & { readonly loads: readonly FileLoad[] };
