import { ACTIONS, type Action } from '#shared/authorization/action.ts';
import type { TablePolicy } from '#shared/authorization/table-policy.ts';
import { SkeinError } from '#shared/error.ts';
import type { KeptRows } from './kept-rows.ts';
import type { TextSpan } from '../statement/statement.ts';
import type { PgRelations } from './pg-rows.ts';
import type { SchemaViews } from './schema-views.ts';
import type { MetadataRows } from './metadata-rows.ts';
import type { RowsBinding, StagedBinding } from './statement-binding.ts';
import type { StorageCredential } from '#shared/storage/credential.ts';
import type { ViewDefinition } from './view-definition.ts';
import type { TableMetadata } from '#shared/iceberg/table-metadata.ts';

/** A table's name, every level spelled out. */
export type TableName = {
  readonly catalog: string;
  readonly namespace: readonly string[];
  readonly table: string;
};

/** A table's name as one key. */
export const tableKey = ({ catalog, namespace, table }: TableName): string =>
  JSON.stringify([catalog, namespace, table]);

/** The result of a table lookup. A table that the principal may not see is `missing`, like an absent one. */
export type LoadedTable =
  | {
      readonly kind: 'found';
      /** The stored name: a lookup folds case when the exact name is absent. */
      readonly name: TableName;
      /** Identifies the metadata document among those of all tables; the path of its file does not, because it can be used again. */
      readonly version: string;
      /** Its number for Postgres' clients; 0 = the catalog has given it none yet. */
      readonly oid: number;
      /** Parsed once per version and shared; never changed. */
      readonly metadata: TableMetadata;
      /** Roots that every file of the table must lie under. */
      readonly allowedRoots: readonly string[];
      /** The actions that the principal may perform on the table. */
      readonly actions: ReadonlySet<string>;
      /** Policies that a reader of the rows must apply; the version changes whenever one of them changes. */
      readonly policies: readonly TablePolicy[];
      readonly policyVersion: string;
      /** The right to read the files below these roots. */
      readonly credential: StorageCredential;
    }
  | LoadedView
  | { readonly kind: 'missing'; readonly code: MissingCode };

export type LoadedView = {
  readonly kind: 'view';
  /** The stored name. */
  readonly name: TableName;
  /** As those of a table. */
  readonly version: string;
  readonly oid: number;
  readonly view: ViewDefinition;
  readonly actions: ReadonlySet<string>;
};

/** @throws FORBIDDEN unless the principal may do the action with the table. */
export function requireTableAction(table: Pick<LoadedView, 'actions'>, action: Action): void {
  if (!table.actions.has(action)) throw new SkeinError('FORBIDDEN', `you may not ${ACTIONS[action]}`);
}

/** The table that was looked for. @throws WRONG_OBJECT_TYPE for a view */
export function requireTable(
  loaded: Exclude<LoadedTable, { kind: 'missing' }>,
): Extract<LoadedTable, { kind: 'found' }> {
  if (loaded.kind === 'found') return loaded;
  const { catalog, namespace, table } = loaded.name;
  throw new SkeinError('WRONG_OBJECT_TYPE', `${[catalog, ...namespace, table].join('.')} is a view, not a table`);
}

export const MISSING_CODES = ['CATALOG_NOT_FOUND', 'SCHEMA_NOT_FOUND', 'TABLE_NOT_FOUND'] as const;
export type MissingCode = (typeof MISSING_CODES)[number];

/** Loads and authorises the tables of one statement in one call. Answers in the order of `names`. */
export interface TableLoader {
  /** @throws SkeinError CATALOG_UNAVAILABLE, FORBIDDEN; a missing table is an answer, not an error. */
  loadTables(names: readonly TableName[], signal: AbortSignal): Promise<readonly LoadedTable[]>;
  /** Returns the tables as the catalog last described them, while a lease says that they still are so; null = it must be asked. */
  leasedTables?(names: readonly TableName[]): readonly LoadedTable[] | null;
}

/** The tables that a principal may read. */
export interface TableSource extends TableLoader {
  /** Returns a name similar to a missing one, among those that the principal may list. Never throws. */
  nearest(name: TableName, missing: MissingCode): Promise<string | undefined>;
}

/** Everything that a name in FROM may mean. */
export interface QueryTables extends TableSource, StatementRows, MetadataRows, SchemaViews, PgRelations {
  /** The tables that policies look up: as they were committed when the statement began, also within a transaction. */
  readonly committed: TableLoader;
}

/** Gives the rows of statements, and the files of stages, that are read like tables. */
export interface StatementRows {
  /** Gives names to rows that a statement makes for itself. */
  readonly kept: KeptRows;
  /**
   * @param text a statement, or a stage with the options of its reading
   * @throws SYNTAX_ERROR, NOT_SUPPORTED for a statement that cannot be read like a table, and what the statement throws
   */
  rows(text: TextSpan): Promise<RowsBinding | StagedBinding>;
}
