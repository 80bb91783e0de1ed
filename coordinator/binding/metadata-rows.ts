import type { TenantId } from '#shared/id.ts';
import type { InspectedTable } from '#shared/iceberg/inspect-snapshot.ts';
import type { Schema } from '#shared/iceberg/schema.ts';
import type { Snapshot, TableMetadata } from '#shared/iceberg/table-metadata.ts';
import type { OrphansRequest } from '#shared/iceberg/orphan-files.ts';
import type { UnreachableRequest } from '#shared/iceberg/unreachable-files.ts';
import type { ReadCall, TableReader } from '#shared/iceberg/table-reader.ts';
import { unreachable } from '#shared/must.ts';
import { foldIdentifier } from '#shared/sql/fold-identifier.ts';
import type { StorageCredential } from '#shared/storage/credential.ts';
import { encodeRows, rowsBudget, type TakeBytes } from './encode-rows.ts';
import { textColumns } from './made-columns.ts';
import {
  metadataColumns,
  PLAIN_COLUMNS,
  statisticsFields,
  columnsFromTexts,
  type MetadataTable,
} from './metadata-table.ts';
import type { TableRows } from './table-rows.ts';

export type MetadataRowsRequest = {
  readonly what: MetadataTable;
  /** The name of the metadata table, for messages. */
  readonly title: string;
  readonly metadata: TableMetadata;
  readonly snapshot: Snapshot | null;
  readonly schema: Schema;
  readonly allowedRoots: readonly string[];
  readonly credential: StorageCredential;
  /** False where policies stand between the table and the reader: its `PLAIN_COLUMNS` are shown. */
  readonly withValues: boolean;
  /** Folded names; only columns of these names are made. Null = all. */
  readonly named: ReadonlySet<string> | null;
  readonly signal: AbortSignal;
};

/** The files of tables, as the statements of one tenant may look for them. */
export interface TableFiles {
  /** Finds the files that only the expired snapshots reach, in portions. @throws as `TableReader` does */
  unreachable(request: Omit<UnreachableRequest, 'tenant'>, call: ReadCall): AsyncIterable<readonly string[]>;
  /** Finds the candidates that no snapshot reaches, in portions. @throws as `TableReader` does */
  orphans(request: Omit<OrphansRequest, 'tenant'>, call: ReadCall): AsyncIterable<readonly string[]>;
}

/** Gives the rows of metadata tables. */
export interface MetadataRows {
  /** @throws STATEMENT_TOO_COMPLEX when they take too much memory, and as `TableReader` does */
  metadataRows(request: MetadataRowsRequest): Promise<TableRows>;
}

/** The metadata tables of one statement; their rows take at most `bytesMax` together. */
export function metadataRows(tables: TableReader, tenant: TenantId, bytesMax: number): MetadataRows {
  const take = rowsBudget(bytesMax, { what: "the metadata tables' rows", key: 'coordinator.metadata_rows_bytes_max' });
  return { metadataRows: (request) => makeRows(request, { tables, tenant, take }) };
}

type Parts = { readonly tables: TableReader; readonly tenant: TenantId; readonly take: TakeBytes };

async function makeRows(request: MetadataRowsRequest, parts: Parts): Promise<TableRows> {
  const { what, title, metadata, schema, named, withValues } = request;
  const columns = metadataColumns(what, metadata, schema);
  // The others are NULL.
  const shown = withValues ? columns : columns.filter(({ name }) => PLAIN_COLUMNS[what]?.includes(name));
  const used = shown.filter(({ name }) => named === null || named.has(foldIdentifier(name)));
  // Rows that nobody looks into are counted.
  const wanted = (used.length === 0 ? shown.slice(0, 1) : used).map(({ name }) => name);
  const rows = await encodeRows({ title, columns: textColumns(wanted) }, pagesOf(request, wanted, parts), parts.take);
  return { ...rows, select: columnsFromTexts(columns, wanted) };
}

async function* pagesOf(
  request: MetadataRowsRequest,
  wanted: readonly string[],
  { tables, tenant }: Parts,
): AsyncGenerator<readonly TextRow[]> {
  const { what, title, metadata, snapshot, schema, allowedRoots, credential, signal } = request;
  const ofMetadata = metadataValues(request);
  if (ofMetadata !== null) {
    yield ofMetadata.map((row) => wanted.map((name) => row[name] ?? null));
    return;
  }
  if (snapshot === null) return;
  const { tableUuid, formatVersion, location, fields, specs, defaultSpecId } = metadata;
  const { snapshotId } = snapshot;
  const snapshots = new Map([[snapshotId, snapshot]]);
  const inspected = {
    tenant,
    table: { tableUuid, formatVersion, location, fields, specs, defaultSpecId, snapshots },
    snapshotId,
    allowedRoots,
    credential,
    what: what as InspectedTable,
    columns: wanted,
    fields: statisticsFields(schema),
  };
  yield* tables.inspect(inspected, { tableName: title, signal });
}

type TextRow = readonly (string | null)[];
type Row = Readonly<Record<string, string | null>>;

/** The rows of a metadata table that the table's metadata holds; null for the others, which are read from manifests. */
function metadataValues({ what, metadata }: MetadataRowsRequest): readonly Row[] | null {
  const { snapshots, snapshotLog, refs, properties } = metadata;
  switch (what) {
    case 'snapshots':
      return [...snapshots.values()].map(({ summary: { operation = null, ...summary }, ...snapshot }) => ({
        committed_at: instant(snapshot.timestampMs),
        snapshot_id: snapshot.snapshotId.toString(),
        parent_id: snapshot.parentSnapshotId?.toString() ?? null,
        operation,
        manifest_list: snapshot.manifestList,
        summary: JSON.stringify(summary),
      }));
    case 'history': {
      const ancestors = ancestorsOf(metadata);
      return snapshotLog.map(({ timestampMs, snapshotId }) => ({
        made_current_at: instant(timestampMs),
        snapshot_id: snapshotId.toString(),
        parent_id: snapshots.get(snapshotId)?.parentSnapshotId?.toString() ?? null,
        is_current_ancestor: String(ancestors.has(snapshotId)),
      }));
    }
    case 'refs':
      return [...refs].map(([name, { snapshotId, type, retention }]) => ({
        name,
        type: type.toUpperCase(),
        snapshot_id: snapshotId.toString(),
        max_reference_age_in_ms: retention['max-ref-age-ms']?.toString() ?? null,
        min_snapshots_to_keep: retention['min-snapshots-to-keep']?.toString() ?? null,
        max_snapshot_age_in_ms: retention['max-snapshot-age-ms']?.toString() ?? null,
      }));
    case 'properties':
      return Object.entries(properties).map(([key, value]) => ({ key, value }));
    case 'manifests':
    case 'files':
    case 'partitions':
    case 'entries':
      return null;
    default:
      return unreachable(what);
  }
}

const instant = (timestampMs: number): string => new Date(timestampMs).toISOString();

/** The current snapshot and those that it was made from. */
function ancestorsOf({ currentSnapshotId, snapshots }: TableMetadata): ReadonlySet<bigint> {
  const found = new Set<bigint>();
  for (let id = currentSnapshotId; id !== null && !found.has(id); id = snapshots.get(id)?.parentSnapshotId ?? null) {
    found.add(id);
  }
  return found;
}
