import type { KeptRows } from '../binding/kept-rows.ts';
import type { StageLoad } from './stage-load.ts';
import type { FileLoad } from '#proto/load-rules.ts';
import type { SqlText } from '#proto/sql-text.ts';
import type { ScanFile, TableSink, WrittenFile } from '#proto/task.ts';
import type { SqlField } from '../plan/sql-type.ts';
import type { PreparedQuery } from '../binding/prepared-query.ts';
import type { TableBinding } from '../binding/table-binding.ts';
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
  texts(query: TextSpan, text: DerivedText, rows: TextRows): Promise<Omit<Outcome, 'rowsProduced'>>;
  /** Has the queries that follow read the tables as they are now. */
  forget(): void;
  /** Whether a query of one text column, which the command has made, gives any row. */
  hasRows(sql: string): Promise<boolean>;
  /** Runs the query; its rows are the statement's result. */
  run(query: TextSpan): Promise<Outcome>;
  /**
   * Runs a text that was made of the query; the tasks of its last stage write its rows as files of a table. `destinationOf` is called once,
   * with the query's columns, before anything runs.
   */
  write(query: TextSpan, text: DerivedText, destinationOf: DestinationOf): Promise<WrittenRows>;
  /**
   * The files that a query of one table would read, after its conditions have excluded what they can.
   * @throws NOT_SUPPORTED for a query of more tables
   */
  files(query: TextSpan, text: DerivedText): Promise<readonly ScanFile[]>;
  /**
   * Plans a text of one table that gives a row for each of the table's. @param query the RETURNING of a statement and what is before it
   * @throws NOT_SUPPORTED for any other text
   */
  returning(query: TextSpan, text: DerivedText, of: ReturnedFiles): Promise<Returning>;
  /** Runs a text of one table for each of some parts of its files, and writes its rows as `write` does. */
  rewrite(text: string, parts: readonly (readonly ScanFile[])[], destinationOf: DestinationOf): Promise<WrittenRows>;
  /**
   * Runs a text over the files of a stage, which is a list of expressions, for parts of the files, and writes its rows as `write` does.
   * @throws NOT_SUPPORTED for a text that gives another number of rows than there are records
   */
  load(load: StageLoad, destinationOf: DestinationOf): Promise<LoadedFiles>;
  /** The lines of the plan of the query, or of a text that was made of it. */
  explain(query: TextSpan, options: ExplainOptions, text?: DerivedText): Promise<readonly string[]>;
  /** Profiles the queries of `write` and `texts` that follow. @returns the lines of each, which come when it has run */
  profileAll(format: ExplainFormat): readonly (readonly string[])[];
  /** Runs the query, throws its rows away, and tells how it went. */
  explainAnalyze(query: TextSpan, format: ExplainFormat): Promise<Outcome & { readonly lines: readonly string[] }>;
}

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

/** Where rows go, given the columns of their query. */
export type DestinationOf = (
  columns: readonly SqlField[],
  /** Whether the query asks for an order of its rows. */
  isOrdered: boolean,
) => Promise<Destination>;

/** `sql` wraps a query's text so that its rows are the table's. */
export type Destination = { readonly sink: TableSink; readonly sql: (text: SqlText) => SqlText };

export type WrittenRows = Omit<Outcome, 'rowsProduced'> & {
  readonly files: readonly WrittenFile[];
  /** The tables as they were read, for a query of one plan. */
  readonly scans?: readonly TableBinding[];
  /** The addresses of the rows that theirs replace, where the sink asks for them. */
  readonly replaced?: readonly string[];
};

/** How the files of a stage went, in any order; parts of one file are apart. */
export type LoadedFiles = WrittenRows & { readonly loads: readonly FileLoad[] };
