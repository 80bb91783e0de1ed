import type { PartitionSpec } from '../partition-spec.ts';
import type { Schema } from '../schema.ts';
import type { TableMetadata } from '../table-metadata.ts';
import type { LoadsChange } from '#shared/iceberg/stage-loads.ts';
import type { SnapshotChange } from './snapshot-change.ts';

/** The branch whose snapshot is a table's current one. */
export const MAIN_BRANCH = 'main';

export type TableName = { readonly catalog: string; readonly namespace: readonly string[]; readonly table: string };

/** The change of one table by one statement: one snapshot, and before it a new shape when the table is created or replaced. */
export type TableWrite = {
  /** Unique part of the names of all files of the write. */
  readonly writeId: string;
  readonly name: TableName;
  /** The branch that gets the snapshot; absent = main. */
  readonly branch?: string;
  /** `create`: the table must not exist; `replace`: it gets `schema` and `spec`, and loses its rows; `keep`: it stays as it is. */
  readonly shape: 'keep' | 'create' | 'replace';
  /** The table when the write began; for a new table the metadata that the catalog staged. */
  readonly base: TableMetadata;
  /** The schema and the spec that the files were written with. */
  readonly schema: Schema;
  readonly spec: PartitionSpec;
  /** Properties that a replaced table gets beside those that it has. */
  readonly properties?: Readonly<Record<string, string>>;
  /** The files of a stage whose rows they are, or that those of all are gone. */
  readonly loads?: LoadsChange | undefined;
  readonly change: SnapshotChange;
};
