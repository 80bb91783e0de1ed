import type { QueryScope } from '../operation/refresh-request.ts';
import type { StatementRows, TableSource } from '../binding/table-source.ts';
import type { MetadataRows } from '../binding/metadata-rows.ts';
import type { QueryColumn } from '../session/prepared-statement.ts';
import type { SessionState } from '../session/session.ts';
import type { ValuePlace } from '../statement/value-place.ts';
import type { ActiveQuery } from './active-query.ts';
import type { StatementRequest } from './query-service.ts';
import type { RunnerServices } from './runner-services.ts';
import type { StatementTables } from './statement-tables.ts';

export type CheckColumns = (columns: readonly QueryColumn[]) => Promise<void>;

/** State that the queries of one statement share. */
export type StatementParts = {
  readonly services: RunnerServices;
  readonly request: StatementRequest;
  readonly active: ActiveQuery;
  readonly session: SessionState;
  readonly tables: StatementTables & StatementRows & MetadataRows;
  /** Loads tables as they are now, past the statement's cache in `tables`. */
  readonly source: TableSource;
  /** The values of parameters in the statement's text. */
  readonly values: readonly ValuePlace[];
  readonly checkColumns: CheckColumns;
  /** As in `ResultShape`. */
  readonly tag: string;
  /** Absent = the session's, and whole tables. */
  readonly scope?: QueryScope;
};
