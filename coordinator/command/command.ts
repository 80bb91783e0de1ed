import type { ManifestReader } from '#shared/iceberg/rewrite-manifests.ts';
import type { CopyInto } from '../copy/copy-into.ts';
import type { MadeRows } from '../copy/made-rows.ts';
import type { StageLoad } from '../copy/stage-load.ts';
import type { TableFiles } from '../rows/metadata-rows.ts';
import type { CommittedTable } from '../write/commit-manifests.ts';
import type { FileLoad } from '#proto/load-rules.ts';
import type { SqlText } from '#proto/sql-text.ts';
import type { ScanFile, TableSink, WrittenFile } from '#proto/task.ts';
import type { Action } from '#shared/authorization/action.ts';
import type { QueryId } from '#shared/id.ts';
import type { JsonObject } from '#shared/json.ts';
import type { Config } from '#shared/config/config-schema.ts';
import type { Caller } from '../auth/authenticate.ts';
import type { TableWrite } from '#shared/iceberg/write/table-write.ts';
import type { StorageCredential } from '#shared/storage/credential.ts';
import type { CatalogClient } from '../catalog-client/catalog-client.ts';
import type { Pages } from '../catalog-client/pages.ts';
import type { QueryType } from '../history/query-type.ts';
import type { HistoryEntry, HistoryRequest } from '../history/history-request.ts';
import type { SqlField } from '../planner/sql-type.ts';
import type { GroupSnapshot } from '../workload/group-snapshot.ts';
import type { LiveQuery } from '../query/live-query.ts';
import type { PreparedQuery } from '../planner/prepared-query.ts';
import type { TableBinding } from '../resolver/table-binding.ts';
import type { TableName, TableSource } from '../resolver/table-source.ts';
import type { NameFinder } from '../session/current-names.ts';
import type { SessionState } from '../session/session.ts';
import type { Description } from './description.ts';
import type { ExplainFormat, ExplainOptions } from './explain-options.ts';
import type { StatementReader } from '../statement/statement-reader.ts';
import type { PreparedStatement, QueryColumn } from '../session/prepared-statement.ts';
import type { Constant } from '../statement/parameters.ts';
import type { DerivedText } from '../statement/derived-text.ts';
import type { Proven, TakePart } from '../statement/proven.ts';
import type { ObjectName, TextSpan } from '../statement/statement.ts';
import type { Unload, Unloaded, UnloadQueries } from '../unload/unload.ts';
import type { Answer, PagedAnswer } from './answer.ts';
import type { Optimize, Optimized } from './optimize-request.ts';
import type { QueryScope, Refresh } from './refresh-request.ts';
import type { Delete, Insert, Merge, RowWrite, Update } from './row-write.ts';
import type { SessionTransactions } from './session-transactions.ts';

/**
 * A statement of the grammar: its words, its parser, who may run it, its name in history, and what it does. `commands.ts` lists them all;
 * a new statement is a file beside this one and a line there. A parser may run in a thread that reads long texts, so a command imports
 * types and small helpers only, and does its work through `CommandContext`.
 */
export interface Command<Input = unknown> {
  /** How the statement may begin: words in capitals with one space between them, or a symbol. The longest that fits decides. */
  readonly words: readonly string[];
  /** Name of the statement's kind in history (service specification, Query history record). */
  readonly queryType: QueryType;
  /** The same for statements whose kind depends on what they say; it comes before `queryType`. */
  typeOf?(input: Input): QueryType;
  /**
   * The source of the timeout when the request gives none: the session's `skein.query_timeout`, or the coordinator's, which lets SET and
   * RESET run in a session whose own timeout is too short for any statement.
   */
  readonly timeout: 'session' | 'coordinator';
  /**
   * Reads the statement, whose words are not taken yet, to its end. The result is plain data, which can go from a thread to another.
   * @throws SYNTAX_ERROR with a position, NOT_SUPPORTED
   */
  parse(reader: StatementReader): Input;
  /** Whether a statement that defines something belongs to the session's transaction. Absent = it cannot run inside one. */
  inTransaction?(input: Input): boolean;
  /** The action that the caller must be allowed; null = none. It is checked before the command runs. */
  action(input: Input): Action | null;
  /**
   * The statement's result where it is read like a table: `FROM (SHOW TABLES)`. Absent when it cannot be. @throws SkeinError of the
   * catalogue
   */
  rows?(input: Input, context: CommandContext): Promise<PagedAnswer>;
  /**
   * Checks the statement for PREPARE, with NULL in the place of each parameter. Absent when it cannot be prepared.
   * @throws SkeinError of the catalogue
   */
  describe?(input: Input, context: CommandContext): Promise<Description>;
  /** @throws SkeinError of the catalogue */
  run(input: Input, context: CommandContext): Promise<Outcome>;
}

/** The outcome of a statement, for history. */
export type Outcome = { readonly rowsProduced: number; readonly bytesScanned: number; readonly fragments: number };

/** The services and state that a command runs with. */
export interface CommandContext {
  readonly caller: Caller;
  readonly config: Config;
  readonly signal: AbortSignal;
  /**
   * Called before a change of the catalog is sent: from now on nothing stops the statement, so that its answer says how the change ended.
   * @throws the reason of a stop that came before
   */
  readonly beginCommit: () => void;
  /** The session as it was when the statement began. */
  readonly session: SessionState;
  readonly updateSession: (change: (now: SessionState) => SessionState) => void;
  readonly names: NameFinder;
  readonly catalog: CatalogClient;
  /** The tables that the caller may read. */
  readonly tables: TableSource;
  /** The files that only some snapshots of a table reach. */
  readonly files: Pick<TableFiles, 'unreachable' | 'orphans'> & {
    readonly manifests: (table: CommittedTable) => ManifestReader;
  };
  /** Ids of the writes of all statements that have begun and not ended; their files have them in their paths. */
  readonly openWrites: () => Promise<ReadonlySet<string>>;
  readonly queries: Queries;
  readonly writes: Writes;
  /** Writes the rows of a query as files of a stage. */
  readonly unload: (unload: Unload) => Promise<Unloaded>;
  readonly prepared: PreparedStatements;
  readonly transactions: SessionTransactions;
  readonly records: Records;
  /** Sends rows in memory as the statement's result. */
  readonly answer: (rows: Answer) => Promise<Outcome>;
  /** Sends the number of rows that the statement has changed as its result. */
  readonly answerCount: (count: number) => Promise<Outcome>;
  /** Sends one row of BIGINTs, by the names of their columns, as the statement's result. */
  readonly answerNumbers: (numbers: Readonly<Record<string, number>>) => Promise<Outcome>;
  /** Sends the rows that `Queries.returning` has given to the sink. They are sent as far as the client takes them: the commit is done. */
  readonly answerReturned: (count: number) => Promise<Outcome>;
  /** The same for rows that come in parts; the next part is made when the client has taken the last. */
  readonly answerPages: (rows: PagedAnswer) => Promise<Outcome>;
}

/** The statements and groups that the caller may see. */
interface Records {
  /** The newest first, those that wait or run included, page by page. @throws QUEUE_FULL, QUERY_TIMEOUT, CATALOG_UNAVAILABLE */
  history(asked: HistoryRequest): Pages<HistoryEntry>;
  /** Those that wait or run now, the oldest first. */
  live(limit: number): readonly LiveQuery[];
  /** Cancels one of these. False when there is none that the caller may cancel. @throws INVALID_REQUEST as `cancelQuery` */
  cancel(queryId: QueryId): boolean;
  /** The resource groups that statements of the caller's tenant can reach, each before the groups below it. */
  groups(): readonly GroupSnapshot[];
}

/**
 * The operations on queries that a command may use. All queries of a statement read the same snapshot of a table and have the same time.
 */
export interface Queries extends UnloadQueries {
  /** Gives names to rows that a statement makes for itself; its queries find them. */
  readonly made: MadeRows;
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

/** The operations that write a table: each is one commit, and answers when the catalog has taken it. */
export interface Writes {
  /**
   * Adds the rows of a query to a table. @returns their number
   * @throws TYPE_MISMATCH, NOT_NULL_VIOLATION, COMMIT_CONFLICT; COMMIT_STATE_UNKNOWN when the catalog does not say in time how the commit ended
   */
  insert(insert: Insert): Promise<WriteOutcome>;
  /** Checks a statement before its parameters have values. @throws as the statement before it runs */
  describe(write: RowWrite): Promise<Description>;
  /** Deletes rows of a table. @returns their number @throws COMMIT_CONFLICT, COMMIT_STATE_UNKNOWN, STATEMENT_TOO_COMPLEX for too many rows */
  delete(input: Delete): Promise<WriteOutcome>;
  /** Changes rows of a table. @returns their number @throws as `delete` and `insert`, CARDINALITY_VIOLATION for a row that two rows of FROM change */
  update(input: Update): Promise<WriteOutcome>;
  /** Merges rows into a table. @returns the number of those that go, change and come @throws as `update` */
  merge(input: Merge): Promise<WriteOutcome>;
  /**
   * Loads files of a stage into a table, each at most once. @returns a row for each file, or null when the rows of a validation were sent
   * @throws as `insert`, STAGE_NOT_FOUND, STAGE_FILE_NOT_FOUND, INVALID_INPUT_FILE
   */
  copy(copy: CopyInto): Promise<Outcome & { readonly answer: Answer | null }>;
  /** The lines of its plan, of its files, of its sink and of its commit. */
  explainCopy(copy: CopyInto, options: ExplainOptions): Promise<readonly string[]>;
  /** The lines of the statement's plan, of its sink and of its commit. */
  explain(write: RowWrite, options: ExplainOptions): Promise<readonly string[]>;
  /** Tells what the write that follows does. */
  observe(): ObservedWrite;
  /** Makes a table of a query; `targetOf` is called once, with the query's columns, before anything runs. @throws as `insert`, TABLE_EXISTS, ALREADY_EXISTS */
  createAs(query: TextSpan, targetOf: (columns: readonly SqlField[]) => Promise<WriteTarget>): Promise<WriteOutcome>;
  /** Writes the rows of a materialized view. @returns how many @throws as `createAs` */
  refresh(refresh: Refresh<WriteTarget>): Promise<WriteOutcome>;
  /** Writes the rows of small files, and of files with deletes, into larger ones. @throws as `insert` */
  optimize(optimize: Optimize): Promise<Optimized>;
  /** Counts the distinct values of a table's columns. @throws COLUMN_NOT_FOUND, NOT_SUPPORTED, COMMIT_CONFLICT, COMMIT_STATE_UNKNOWN */
  analyze(input: Analyze): Promise<Analyzed>;
  /** Writes small manifests of a table into larger ones, in a snapshot of the same files. */
  optimizeManifests(table: TableName, dryRun: boolean): Promise<{ readonly rewritten: number; readonly added: number }>;
}

/** `columns` null = all that can be counted. */
export type Analyze = { readonly table: ObjectName; readonly columns: readonly ObjectName[] | null };
export type Analyzed = Omit<Outcome, 'rowsProduced'> & {
  readonly columns: readonly { readonly name: string; readonly distinct: number }[];
};

/** What a write has done; empty before. */
export interface ObservedWrite {
  lines(): readonly string[];
  json(): JsonObject;
}

/** A table that is written, as it will be. */
export type WriteTarget = Omit<TableWrite, 'writeId' | 'change'> & {
  readonly allowedRoots: readonly string[];
  readonly credential: StorageCredential;
};

export type WriteOutcome = Omit<Outcome, 'rowsProduced'> & { readonly count: number };

/** The prepared statements of the statement's session. Names are folded; `position` is where a name stands in the statement. */
export interface PreparedStatements {
  /**
   * Checks a statement and keeps it.
   * @throws PREPARED_STATEMENT_EXISTS, TOO_MANY_PREPARED_STATEMENTS, NOT_SUPPORTED outside of a named session and for a statement that
   * cannot be prepared; what the statement is refused for, with its place
   */
  prepare(definition: Definition): Promise<PreparedStatement>;
  /**
   * Runs a prepared statement as it would run now with these values in its text: it is authorised, planned and admitted anew.
   * @throws PREPARED_STATEMENT_NOT_FOUND, SYNTAX_ERROR for other parameters than it has, NOT_SUPPORTED when its columns have changed
   */
  execute(execution: Execution): Promise<Outcome>;
  /** `name` null = all. @throws PREPARED_STATEMENT_NOT_FOUND */
  deallocate(name: string | null, position: number): void;
}

export type Definition = {
  readonly name: string;
  readonly position: number;
  /** Types of `$1`, `$2`, ..., as far as they are declared. */
  readonly types: readonly string[];
  readonly statement: TextSpan;
};

export type Execution = { readonly name: string; readonly position: number; readonly arguments: readonly Argument[] };

/** `name` is null for a value by position; `constant` is the value of a literal, undefined for another expression. */
export type Argument = {
  readonly name: string | null;
  readonly expression: TextSpan;
  readonly constant: Constant | undefined;
};
