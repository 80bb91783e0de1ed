import type { Schema } from '#shared/iceberg/schema.ts';
import type { JsonObject } from '#shared/json.ts';
import type { NewDataFile } from '#shared/iceberg/write/data-file.ts';
import type { StageLoads } from '#shared/iceberg/stage-loads.ts';
import type { SnapshotChange } from '#shared/iceberg/write/snapshot-change.ts';
import type { DestinationOf, WrittenRows } from '../operation/queries.ts';
import type { WriteTarget } from '../operation/writes.ts';
import type { SqlField } from '../plan/sql-type.ts';
import type { Assignment } from './assign-columns.ts';

/** A query whose rows go to the target. */
export type RowsOf = {
  /** Runs the query. */
  readonly run: (destinationOf: DestinationOf) => Promise<WrittenRows>;
  /** Called once, with the query's columns, before anything runs. */
  readonly assign: (columns: readonly SqlField[]) => Promise<Assigned>;
  /** The columns of the files when they are more than the table's. */
  readonly schema?: Schema;
  /** The query has three more columns (`TableSink.addresses`). */
  readonly isAddressed?: boolean;
  /** The change of the table by the files with these rows; null = there is none. */
  readonly change: (files: readonly NewDataFile[]) => SnapshotChange | null;
  /** As in `CommitOptions`. */
  readonly viewChange?: JsonObject;
  /** The change is that the files are appended. */
  readonly isAppend?: boolean;
  /** The files of a stage whose rows they are; asked before the commit. */
  readonly loads?: () => StageLoads;
  /** Called with these files before the commit. @returns what it has cost */
  readonly read?: (
    files: readonly NewDataFile[],
  ) => Promise<Pick<WrittenRows, 'bytesScanned' | 'fragments'>> | undefined;
  /** Paths of the files that the change adds beside those with rows. */
  readonly others?: () => readonly string[];
};

export type Assigned = { readonly target: WriteTarget; readonly assignments: readonly Assignment[] };
