import { PROTECTED_PROPERTY } from '#shared/iceberg/protected-property.ts';
import { foldKeyword } from '#shared/sql/fold-identifier.ts';
import { currentSchema, specById, type TableMetadata } from '#shared/iceberg/table-metadata.ts';
import { printTransform } from '#shared/iceberg/transform.ts';
import type { Field, IcebergType } from '#shared/iceberg/type.ts';
import { partitionExpressions } from '../catalog-client/catalog-browser.ts';
import { columnDefault, sqlTypeName } from '../session/sql-type-name.ts';
import type { FoundTable } from '../catalog-client/loaded-tables.ts';
import { summaryCount, rowsAt, showsRows, snapshotAt, timeOf } from './found-table.ts';

export type TableDetails = {
  readonly catalog: string;
  readonly schema: string;
  readonly name: string;
  readonly uuid: string;
  readonly location: string;
  readonly format_version: number;
  readonly owner: string | null;
  readonly comment: string | null;
  readonly created_at: string | null;
  readonly changed_at: string | null;
  readonly is_protected: boolean;
  readonly hidden_by_policy: boolean;
  readonly rows: number | null;
  readonly bytes: number | null;
  readonly files: number | null;
  readonly delete_files: number | null;
  readonly snapshots: number;
  readonly current_snapshot_id: string | null;
  readonly schema_id: number;
  readonly columns: readonly ShownColumn[];
  readonly columns_total: number;
  readonly partition: readonly ShownPartitionField[];
  readonly partition_expressions: readonly string[];
  readonly sort: readonly ShownSortField[];
  readonly properties: Readonly<Record<string, string>>;
  readonly actions: readonly string[];
};

/** A column, or a part of a nested one, whose `parent_id` is that of the column or part around it. */
type ShownColumn = {
  readonly id: number;
  readonly parent_id: number | null;
  readonly name: string;
  readonly type: string;
  readonly nullable: boolean;
  readonly is_key: boolean;
  readonly default: string | null;
  readonly initial_default: string | null;
  readonly comment: string | null;
};

type ShownPartitionField = { readonly name: string; readonly column: string; readonly transform: string };
type ShownSortField = {
  readonly column: string;
  readonly transform: string;
  readonly direction: 'asc' | 'desc';
  readonly nulls: 'first' | 'last';
};

/** Columns with their parts that are listed. */
const COLUMNS_MAX = 5_000;

/** Everything about a table at a glance. */
export function describeDetails(table: FoundTable): TableDetails {
  const { metadata, name, actions } = table;
  const { properties, currentSnapshotId } = metadata;
  const snapshot = snapshotAt(metadata, undefined);
  const isShown = showsRows(table);
  const count = (key: string): number | null => {
    if (!isShown) return null;
    return snapshot === null ? 0 : summaryCount(snapshot, key);
  };
  const columns = columnsOf(metadata);
  return {
    catalog: name.catalog,
    schema: name.namespace.join('.'),
    name: name.table,
    uuid: metadata.tableUuid,
    location: metadata.location,
    format_version: metadata.formatVersion,
    owner: properties['owner'] ?? null,
    comment: properties['comment'] ?? null,
    created_at: properties['created-at'] ?? properties['created_at'] ?? null,
    changed_at: changedAt(metadata),
    is_protected: foldKeyword(properties[PROTECTED_PROPERTY] ?? '') === 'TRUE',
    hidden_by_policy: !isShown,
    rows: isShown ? rowsAt(snapshot) : null,
    bytes: count('total-files-size'),
    files: count('total-data-files'),
    delete_files: count('total-delete-files'),
    snapshots: metadata.snapshots.size,
    current_snapshot_id: currentSnapshotId?.toString() ?? null,
    schema_id: metadata.currentSchemaId,
    columns: columns.slice(0, COLUMNS_MAX),
    columns_total: columns.length,
    partition: partitionOf(metadata),
    partition_expressions: partitionExpressions(metadata),
    sort: metadata.sortOrder.map(({ sourceId, transform, direction, nullOrder }) => ({
      column: nameOf(metadata, sourceId),
      transform: printTransform(transform),
      direction,
      nulls: nullOrder === 'nulls-first' ? 'first' : 'last',
    })),
    properties,
    actions: [...actions].toSorted(),
  };
}

/** The last change of its rows: the newest snapshot, or when an older one was made the current one. */
function changedAt({ snapshots, snapshotLog }: TableMetadata): string | null {
  let latest = snapshotLog.at(-1)?.timestampMs ?? 0;
  for (const { timestampMs } of snapshots.values()) latest = Math.max(latest, timestampMs);
  return latest === 0 ? null : timeOf(latest);
}

const nameOf = ({ fields }: TableMetadata, id: number): string => fields.get(id)?.name ?? `#${id}`;

const partitionOf = (metadata: TableMetadata): readonly ShownPartitionField[] =>
  specById(metadata, metadata.defaultSpecId)
    .fields.filter(({ transform }) => transform.kind !== 'void')
    .map(({ name, sourceId, transform }) => ({
      name,
      column: nameOf(metadata, sourceId),
      transform: printTransform(transform),
    }));

function columnsOf(metadata: TableMetadata): readonly ShownColumn[] {
  const { fields, identifierFieldIds } = currentSchema(metadata);
  const keys = new Set(identifierFieldIds);
  const columns: ShownColumn[] = [];
  const add = (field: Field, parent: number | null): void => {
    columns.push({
      id: field.id,
      parent_id: parent,
      name: field.name,
      type: sqlTypeName(field.type),
      nullable: !field.required,
      is_key: keys.has(field.id),
      default: columnDefault(field.writeDefault),
      initial_default: columnDefault(field.initialDefault),
      comment: field.doc ?? null,
    });
    for (const part of partsOf(field.type)) add(part, field.id);
  };
  for (const field of fields) add(field, null);
  return columns;
}

function partsOf(type: IcebergType): readonly Field[] {
  if (type.kind === 'struct') return type.fields;
  if (type.kind === 'list') return [type.element];
  return type.kind === 'map' ? [type.key, type.value] : [];
}
