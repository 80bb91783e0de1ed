import type { SqlText } from '#shared/task/sql-text.ts';
import type { StageSink, UnloadedRows } from '#shared/task/task.ts';
import type { UnloadFormat } from '#shared/stage/file-format.ts';
import type { PlannedRows } from './planned-rows.ts';
import type { StageReference } from '../stage/stage-reference.ts';
import type { TextSpan } from '../statement/statement.ts';

/** `COPY INTO @stage/path FROM query`, as plain data. */
export type Unload = {
  readonly stage: StageReference;
  /** The path is that of a folder, in which the files are called `data_...`; else it begins their names. */
  readonly isFolder: boolean;
  readonly query: TextSpan;
  readonly format: UnloadFormat;
  /** Size at which a file ends and the next one begins; null = all rows go into one file, whose name is the path. */
  readonly fileBytes: number | null;
  /** Files of the same names are replaced. */
  readonly overwrite: boolean;
};

export type Unloaded = {
  readonly rows: number;
  /** Size of the files without compression. */
  readonly plainBytes: number;
  readonly bytes: number;
  /** The cost of the query. */
  readonly bytesScanned: number;
  readonly fragments: number;
};

/** Queries whose rows go into files of a stage. */
export interface UnloadQueries {
  /** Plans the query; the tasks of its last stage write its rows. */
  planUnload(query: TextSpan): Promise<PlannedRows<UnloadedQuery, UnloadDestination>>;
}

/** `sql` wraps a query's text so that its rows are those of the files. `inOneTask`: one task writes all of them. */
export type UnloadDestination = {
  readonly sink: StageSink;
  readonly sql: (text: SqlText) => SqlText;
  readonly inOneTask: boolean;
};

/** `tasks`: what each has written; and what the query has cost. */
export type UnloadedQuery = {
  readonly tasks: readonly UnloadedRows[];
  readonly bytesScanned: number;
  readonly fragments: number;
};
