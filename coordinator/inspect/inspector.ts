import type { FileChanges } from '#shared/iceberg/sum-changes.ts';
import { isTooMuch, type Sum } from '#shared/iceberg/sum-files.ts';
import { snapshotSchema, type Snapshot } from '#shared/iceberg/table-metadata.ts';
import type { TableReader } from '#shared/iceberg/table-reader.ts';
import { must } from '#shared/must.ts';
import { requireAction, type Caller } from '../auth/authenticate.ts';
import type { CatalogClient } from '../catalog-client/catalog-client.ts';
import { compareSchemas, type SchemaChange } from './compare-schemas.ts';
import { describeDetails, type TableDetails } from './describe-details.ts';
import { findHealth, type Finding } from './find-health.ts';
import type { FoundTable } from '../catalog-client/loaded-tables.ts';
import {
  summaryCount,
  findTable,
  inspectedFiles,
  printName,
  requireFilesReadable,
  rowsAt,
  showsFiles,
  showsRows,
  snapshotAt,
  type TablePath,
} from './found-table.ts';
import { KeptSums } from './kept-sums.ts';
import { listSnapshots, type SnapshotsPage, type SnapshotsRequest } from './list-snapshots.ts';
import { describeView, findView, type ViewVersions } from './describe-view.ts';
import { filesAnswer, type TableFilesAnswer } from './sum-table.ts';

export type InspectorParts = {
  readonly catalog: CatalogClient;
  readonly tables: Pick<TableReader, 'sums' | 'changes'>;
  /** `coordinator.metadata_rows_bytes_max` */
  readonly sumsBytesMax: number;
  /** `snapshot.bookmark_keys` */
  readonly bookmarkKeys: readonly string[];
  readonly nowMs: () => number;
};

export type TableChanges = {
  readonly from: string;
  readonly to: string;
  readonly hidden_by_policy: boolean;
  readonly schema: readonly SchemaChange[];
  readonly rows: Difference | null;
  readonly files: Difference | null;
  readonly bytes: Difference | null;
  /** Null: a policy hides them, or the reader may not read the table, or there are too many files to compare. */
  readonly changes: ShownChanges | null;
};
type ShownChanges = {
  readonly added: Sum;
  readonly removed: Sum;
  readonly added_deletes: Sum;
  readonly removed_deletes: Sum;
  readonly partition_fields: readonly string[];
  readonly partitions: FileChanges['partitions'];
  readonly other_partitions: number;
};
type Difference = { readonly before: number | null; readonly after: number | null };

export type TableHealth = {
  readonly hidden_by_policy: boolean;
  readonly is_whole: boolean;
  readonly findings: readonly Finding[];
};

export type DroppedPage = {
  readonly tables: readonly {
    readonly id: string;
    readonly schema: string;
    readonly namespace: readonly string[];
    readonly name: string;
    readonly state: string;
    readonly dropped_at: string;
    readonly dropped_by: string;
    readonly expires_at: string;
    readonly purge: boolean;
    readonly error: string | null;
  }[];
  readonly next: string | null;
};

type Asked = { readonly caller: Caller; readonly signal: AbortSignal };

/**
 * Looks into tables for a person: under the token, rights and policies of who asks. No record of it is in the history. A policy between the table
 * and the reader hides what tells of rows, and the answers say so.
 */
export class Inspector {
  readonly #parts: InspectorParts;
  readonly #sums: KeptSums;

  constructor(parts: InspectorParts) {
    this.#parts = parts;
    this.#sums = new KeptSums(parts.tables, parts.sumsBytesMax);
  }

  /** @throws TABLE_NOT_FOUND, WRONG_OBJECT_TYPE for a table */
  async view(path: TablePath, { caller, signal }: Asked): Promise<ViewVersions> {
    return describeView(await findView(this.#parts.catalog, caller, { path, signal }));
  }

  /** The tables of a catalog that were dropped. @throws CATALOG_NOT_FOUND, FORBIDDEN, INVALID_REQUEST */
  async dropped(
    catalog: string,
    page: { readonly after: string | undefined; readonly limit: number },
    { caller }: Pick<Asked, 'caller'>,
  ): Promise<DroppedPage> {
    requireAction(caller, 'table.list');
    const { tables, more } = await this.#parts.catalog.listDropped(caller.claims, catalog, page);
    return {
      tables: tables.map(({ namespace, error, ...table }) => ({
        ...table,
        schema: namespace.join('.'),
        namespace,
        error: error === '' ? null : error,
      })),
      next: more ? (tables.at(-1)?.id ?? null) : null,
    };
  }

  async details(path: TablePath, asked: Asked): Promise<TableDetails> {
    return describeDetails(await this.#find(path, asked));
  }

  /** @throws INVALID_REQUEST */
  async snapshots(path: TablePath, request: SnapshotsRequest, asked: Asked): Promise<SnapshotsPage> {
    return listSnapshots(await this.#find(path, asked), request);
  }

  /** @throws SNAPSHOT_NOT_FOUND, FORBIDDEN */
  async files(path: TablePath, ref: string | undefined, asked: Asked): Promise<TableFilesAnswer> {
    const table = await this.#find(path, asked);
    requireFilesReadable(table);
    const snapshot = snapshotAt(table.metadata, ref);
    return filesAnswer(table, snapshot, await this.#sumsOf(table, snapshot, asked));
  }

  /** @throws FORBIDDEN */
  async health(path: TablePath, asked: Asked): Promise<TableHealth> {
    const table = await this.#find(path, asked);
    requireFilesReadable(table);
    const snapshot = snapshotAt(table.metadata, undefined);
    const isShown = showsRows(table);
    const sums = await this.#sumsOf(table, snapshot, asked);
    const { bookmarkKeys, nowMs } = this.#parts;
    return {
      hidden_by_policy: !isShown,
      is_whole: !isShown || snapshot === null || sums?.isWhole === true,
      findings: isShown ? findHealth(table, { sums, bookmarkKeys, nowMs: nowMs() }) : [],
    };
  }

  /** @throws SNAPSHOT_NOT_FOUND */
  async changes(
    path: TablePath,
    { from, to }: { readonly from: string; readonly to: string },
    asked: Asked,
  ): Promise<TableChanges> {
    const table = await this.#find(path, asked);
    const { metadata } = table;
    const before = must(snapshotAt(metadata, from), 'a snapshot that is named is there');
    const after = must(snapshotAt(metadata, to), 'a snapshot that is named is there');
    const isShown = showsRows(table);
    const difference = (of: (snapshot: Snapshot) => number | null): Difference | null =>
      isShown ? { before: of(before), after: of(after) } : null;
    return {
      from: before.snapshotId.toString(),
      to: after.snapshotId.toString(),
      hidden_by_policy: !isShown,
      schema: compareSchemas(snapshotSchema(metadata, before.snapshotId), snapshotSchema(metadata, after.snapshotId)),
      rows: difference(rowsAt),
      files: difference((snapshot) => summaryCount(snapshot, 'total-data-files')),
      bytes: difference((snapshot) => summaryCount(snapshot, 'total-files-size')),
      changes: showsFiles(table) ? await this.#changesOf(table, { before, after }, asked) : null,
    };
  }

  async #changesOf(
    table: FoundTable,
    { before, after }: { readonly before: Snapshot; readonly after: Snapshot },
    { caller, signal }: Asked,
  ): Promise<ShownChanges | null> {
    const { tables, sumsBytesMax } = this.#parts;
    const pair = { from: before.snapshotId, to: after.snapshotId, bytesMax: sumsBytesMax };
    try {
      const request = { ...inspectedFiles(table, caller), ...pair };
      const found = await tables.changes(request, { tableName: printName(table), signal });
      if (found === null) return null;
      const { added, removed, addedDeletes, removedDeletes, partitionFields, partitions, otherPartitions } = found;
      return {
        added,
        removed,
        added_deletes: addedDeletes,
        removed_deletes: removedDeletes,
        partition_fields: partitionFields,
        partitions,
        other_partitions: otherPartitions,
      };
    } catch (error) {
      if (isTooMuch(error)) return null;
      throw error;
    }
  }

  async #sumsOf(table: FoundTable, snapshot: Snapshot | null, asked: Asked): ReturnType<KeptSums['of']> {
    return snapshot === null || !showsRows(table) ? null : this.#sums.of(table, { ...asked, snapshot });
  }

  #find(path: TablePath, { caller, signal }: Asked): Promise<FoundTable> {
    return findTable(this.#parts.catalog, caller, { path, signal });
  }
}
