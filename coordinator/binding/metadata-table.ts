import { partitionFields } from '#shared/iceberg/address-columns.ts';
import type { Schema } from '#shared/iceberg/schema.ts';
import type { TableMetadata } from '#shared/iceberg/table-metadata.ts';
import { isNested, type Field } from '#shared/iceberg/type.ts';
import { unreachable } from '#shared/must.ts';
import { quoteIdentifier, quoteLiteral } from '#shared/sql/quote.ts';
import { printSqlType } from '../plan/sql-type.ts';
import { icebergSqlType } from '../plan/iceberg-sql-type.ts';

/** A column of a metadata table: its type, and the SQL that makes a value of the text that stands for it. */
type MetadataColumn = { readonly name: string; readonly type: string; readonly fromText: (text: string) => string };

/** The metadata tables of a table, by the names and with the columns that Trino gives them. */
export const METADATA_TABLES = [
  'snapshots',
  'history',
  'refs',
  'properties',
  'manifests',
  'files',
  'partitions',
  'entries',
] as const;
export type MetadataTable = (typeof METADATA_TABLES)[number];

const plain = (name: string, type: string): MetadataColumn => ({
  name,
  type,
  fromText: (text) => `CAST(${text} AS ${type})`,
});
const nested = (name: string, type: string): MetadataColumn => ({
  name,
  type,
  fromText: (text) => `CAST(CAST(${text} AS JSON) AS ${type})`,
});

const FIXED: Readonly<
  Record<'snapshots' | 'history' | 'refs' | 'properties' | 'manifests', readonly MetadataColumn[]>
> = {
  snapshots: [
    plain('committed_at', 'TIMESTAMP WITH TIME ZONE'),
    plain('snapshot_id', 'BIGINT'),
    plain('parent_id', 'BIGINT'),
    plain('operation', 'VARCHAR'),
    plain('manifest_list', 'VARCHAR'),
    nested('summary', 'MAP(VARCHAR, VARCHAR)'),
  ],
  history: [
    plain('made_current_at', 'TIMESTAMP WITH TIME ZONE'),
    plain('snapshot_id', 'BIGINT'),
    plain('parent_id', 'BIGINT'),
    plain('is_current_ancestor', 'BOOLEAN'),
  ],
  refs: [
    plain('name', 'VARCHAR'),
    plain('type', 'VARCHAR'),
    plain('snapshot_id', 'BIGINT'),
    plain('max_reference_age_in_ms', 'BIGINT'),
    plain('min_snapshots_to_keep', 'INTEGER'),
    plain('max_snapshot_age_in_ms', 'BIGINT'),
  ],
  properties: [plain('key', 'VARCHAR'), plain('value', 'VARCHAR')],
  manifests: [
    plain('path', 'VARCHAR'),
    plain('length', 'BIGINT'),
    plain('partition_spec_id', 'INTEGER'),
    plain('added_snapshot_id', 'BIGINT'),
    plain('added_data_files_count', 'INTEGER'),
    plain('added_rows_count', 'BIGINT'),
    plain('existing_data_files_count', 'INTEGER'),
    plain('existing_rows_count', 'BIGINT'),
    plain('deleted_data_files_count', 'INTEGER'),
    plain('deleted_rows_count', 'BIGINT'),
    nested(
      'partition_summaries',
      'STRUCT(contains_null BOOLEAN, contains_nan BOOLEAN, lower_bound VARCHAR, upper_bound VARCHAR)[]',
    ),
    plain('content', 'INTEGER'),
  ],
};

/** Columns of a data or delete file, but for its partition and readable metrics. */
const FILE: readonly MetadataColumn[] = [
  plain('content', 'INTEGER'),
  plain('file_path', 'VARCHAR'),
  plain('record_count', 'BIGINT'),
  plain('file_format', 'VARCHAR'),
  plain('file_size_in_bytes', 'BIGINT'),
  nested('column_sizes', 'MAP(INTEGER, BIGINT)'),
  nested('value_counts', 'MAP(INTEGER, BIGINT)'),
  nested('null_value_counts', 'MAP(INTEGER, BIGINT)'),
  nested('nan_value_counts', 'MAP(INTEGER, BIGINT)'),
  nested('lower_bounds', 'MAP(INTEGER, VARCHAR)'),
  nested('upper_bounds', 'MAP(INTEGER, VARCHAR)'),
  plain('key_metadata', 'BLOB'),
  nested('split_offsets', 'BIGINT[]'),
  nested('equality_ids', 'INTEGER[]'),
  plain('sort_order_id', 'INTEGER'),
  plain('spec_id', 'INTEGER'),
];
const METRICS = plain('readable_metrics', 'JSON');

/** The columns of a metadata table. */
export function metadataColumns(
  what: MetadataTable,
  metadata: TableMetadata,
  schema: Schema,
): readonly MetadataColumn[] {
  switch (what) {
    case 'files':
      return [...FILE, ...partitionColumn(metadata), METRICS];
    case 'entries': {
      const file = FILE.map(({ name, type }) => `${name} ${type}`).join(', ');
      return [
        plain('status', 'INTEGER'),
        plain('snapshot_id', 'BIGINT'),
        plain('sequence_number', 'BIGINT'),
        plain('file_sequence_number', 'BIGINT'),
        nested('data_file', `STRUCT(${file})`),
        METRICS,
      ];
    }
    case 'partitions': {
      const data = statisticsFields(schema).map(({ name, type }) => {
        const sqlType = printSqlType(icebergSqlType(type));
        const parts = `"min" ${sqlType}, "max" ${sqlType}, null_count BIGINT, nan_count BIGINT`;
        return `${quoteIdentifier(name)} STRUCT(${parts})`;
      });
      return [
        ...partitionColumn(metadata),
        plain('record_count', 'BIGINT'),
        plain('file_count', 'BIGINT'),
        plain('total_size', 'BIGINT'),
        ...(data.length === 0 ? [] : [nested('data', `STRUCT(${data.join(', ')})`)]),
      ];
    }
    case 'snapshots':
    case 'history':
    case 'refs':
    case 'properties':
    case 'manifests':
      return FIXED[what];
    default:
      return unreachable(what);
  }
}

/**
 * Columns that are shown to a reader between whom and the table policies stand: no values, no counts of rows or bytes, no places of files. Null =
 * the table is not shown: its rows are files or partitions, and whether a row of one's own has made another one tells that no hidden row has
 * the same value.
 */
export const PLAIN_COLUMNS: Readonly<Record<MetadataTable, readonly string[] | null>> = {
  snapshots: ['committed_at', 'snapshot_id', 'parent_id', 'operation'],
  history: ['made_current_at', 'snapshot_id', 'parent_id', 'is_current_ancestor'],
  refs: ['name', 'type', 'snapshot_id', 'max_reference_age_in_ms', 'min_snapshots_to_keep', 'max_snapshot_age_in_ms'],
  properties: ['key', 'value'],
  manifests: null,
  files: null,
  entries: null,
  partitions: null,
};

/** Columns at the top level, which have statistics. */
export const statisticsFields = ({ fields }: Schema): readonly Field[] =>
  fields.filter(({ type }) => !isNested(type) && !WITHOUT_BOUNDS.has(type.kind));
const WITHOUT_BOUNDS: ReadonlySet<string> = new Set(['unknown', 'variant', 'geometry', 'geography']);

/** The column `partition`, a struct of the fields of all partition specs; a table that never had one has no such column. */
function partitionColumn(metadata: TableMetadata): readonly MetadataColumn[] {
  const fields = partitionFields(metadata);
  if (fields.length === 0) return [];
  const parts = fields.map(({ id, name, type }) => ({ id, name, type: printSqlType(icebergSqlType(type)) }));
  const type = `STRUCT(${parts.map((part) => `${quoteIdentifier(part.name)} ${part.type}`).join(', ')})`;
  const fromText = (text: string): string => {
    const values = parts.map((part) => {
      const value = `json_extract_string(CAST(${text} AS JSON), ${quoteLiteral(`$.p${part.id}`)})`;
      return `${quoteIdentifier(part.name)} := CAST(${value} AS ${part.type})`;
    });
    return `CASE WHEN ${text} IS NOT NULL THEN struct_pack(${values.join(', ')}) END`;
  };
  return [{ name: 'partition', type, fromText }];
}

/** The SELECT list that gives texts, of which `wanted` are there, their names and types. */
export const columnsFromTexts = (columns: readonly MetadataColumn[], wanted: readonly string[]): string =>
  columns
    .map(({ name, type, fromText }) => {
      const value = wanted.includes(name) ? fromText(quoteIdentifier(name)) : `CAST(NULL AS ${type})`;
      return `${value} AS ${quoteIdentifier(name)}`;
    })
    .join(', ');
