import type { CopyInto } from './copy-into.ts';
import type { TablePolicy } from '#shared/authorization/table-policy.ts';
import type { JsonObject } from '#shared/json.ts';
import type { TableWrite } from '#shared/iceberg/write/table-write.ts';
import type { StorageCredential } from '#shared/storage/credential.ts';
import type { SqlField } from '../plan/sql-type.ts';
import type { TableName } from '../binding/table-source.ts';
import type { Description } from './description.ts';
import type { ExplainOptions } from './explain-options.ts';
import type { ObjectName, TextSpan } from '../statement/statement.ts';
import type { Answer } from './answer.ts';
import type { Optimize, Optimized } from './optimize-request.ts';
import type { Refresh } from './refresh-request.ts';
import type { Delete, Insert, Merge, RowWrite, Update } from './row-write.ts';
import type { Outcome } from './outcome.ts';

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
  readonly columns: readonly { readonly name: string; readonly distinct: number | null }[];
};

/** The result of a write; empty before. */
export interface ObservedWrite {
  lines(): readonly string[];
  json(): JsonObject;
}

/** A table that is written, as it will be. */
export type WriteTarget = Omit<TableWrite, 'writeId' | 'change'> & {
  readonly allowedRoots: readonly string[];
  readonly credential: StorageCredential;
  /** The policies that stand between its rows and the caller; a table that is being made has none. */
  readonly policies: readonly TablePolicy[];
};

export type WriteOutcome = Omit<Outcome, 'rowsProduced'> & { readonly count: number };
