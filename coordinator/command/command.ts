import type { Action } from '#shared/authorization/action.ts';
import type { Config } from '#shared/config/config-schema.ts';
import type { Caller } from '../auth/authenticate.ts';
import type { CatalogClient } from '../catalog-client/catalog-client.ts';
import type { SqlType } from '../planner/sql-type.ts';
import type { TableSource } from '../resolver/table-source.ts';
import type { NameFinder } from '../session/current-names.ts';
import type { SessionState } from '../session/session.ts';
import type { StatementReader } from '../statement/statement-reader.ts';
import type { PreparedStatement, QueryColumn } from '../session/prepared-statement.ts';
import type { Constant } from '../statement/parameters.ts';
import type { TextSpan } from '../statement/statement.ts';
import type { Answer, PagedAnswer } from './answer.ts';

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

type QueryType =
  | 'select'
  | 'explain'
  | 'describe'
  | 'summarize'
  | 'set'
  | 'reset'
  | 'use'
  | 'show'
  | 'transaction'
  | 'prepare'
  | 'execute'
  | 'deallocate';

/** The outcome of a statement, for history. */
export type Outcome = { readonly rowsProduced: number; readonly bytesScanned: number; readonly fragments: number };

/** The services and state that a command runs with. */
export interface CommandContext {
  readonly caller: Caller;
  readonly config: Config;
  readonly signal: AbortSignal;
  /** The session as it was when the statement began. */
  readonly session: SessionState;
  readonly updateSession: (change: (now: SessionState) => SessionState) => void;
  readonly names: NameFinder;
  readonly catalog: CatalogClient;
  /** The tables that the caller may read. */
  readonly tables: TableSource;
  readonly queries: Queries;
  readonly prepared: PreparedStatements;
  /** Sends rows in memory as the statement's result. */
  readonly answer: (rows: Answer) => Promise<Outcome>;
  /** The same for rows that come in parts; the next part is made when the client has taken the last. */
  readonly answerPages: (rows: PagedAnswer) => Promise<Outcome>;
}

/**
 * The operations on queries that a command may use. All queries of a statement read the same snapshot of a table and have the same time.
 */
export interface Queries {
  /** Binds the query: the columns of its result. */
  columns(query: TextSpan): Promise<readonly QueryColumn[]>;
  /** Binds the query with its parameters in place, before they have values. */
  describe(query: TextSpan): Promise<Description>;
  /**
   * Evaluates constant expressions, which are parts of the statement. @returns each value as an SQL literal of its type
   * @throws INVALID_ARGUMENT for an expression that is not constant, with its place; what its evaluation throws
   */
  constants(expressions: readonly TextSpan[]): Promise<readonly string[]>;
  /** Runs the query; its rows are the statement's result. */
  run(query: TextSpan): Promise<Outcome>;
  /** The lines of the query's plan. */
  explain(query: TextSpan, options: ExplainOptions): Promise<readonly string[]>;
  /** Runs the query, throws its rows away, and tells how it went. */
  explainAnalyze(query: TextSpan, format: ExplainFormat): Promise<Outcome & { readonly lines: readonly string[] }>;
}

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

/** The result of a statement before it has the values of its parameters. */
export type Description = {
  /** Null when they depend on data or values. */
  readonly columns: readonly QueryColumn[] | null;
  /** Types of the parameters by number or name, where DuckDB finds them. */
  readonly parameters: ReadonlyMap<string, SqlType>;
};

export type ExplainFormat = 'text' | 'json';
export type ExplainOptions = { readonly type: 'logical' | 'distributed'; readonly format: ExplainFormat };
