import type { Schema } from 'apache-arrow';
import { unreachable } from '#shared/must.ts';
import type { ResultBatch } from '../../../sink/result-sink.ts';
import { schemaMessage } from '../arrow-message.ts';
import { METADATA_COMMANDS, type FlightCommand } from '../flight-command.ts';
import type { FlightRows } from '../send-result.ts';
import { TABLE_KINDS, type CatalogEntries, type MetadataTableEntry } from './catalog-entries.ts';
import { bytes, columnBatch, int32s, texts } from '../../../binding/column-data.ts';
import {
  CATALOGS,
  DB_SCHEMAS,
  FOREIGN_KEYS,
  PRIMARY_KEYS,
  SQL_INFO,
  TABLE_TYPES,
  TABLES,
  TABLES_WITH_SCHEMA,
  XDBC_TYPE_INFO,
} from './metadata-schemas.ts';
import { sqlInfo, sqlInfoBatch, type InfoLimits } from './sql-info.ts';
import { tableSchema } from './table-schema.ts';
import { xdbcTypesBatch } from './xdbc-types.ts';

/** A command that asks for metadata. Its bytes are the ticket for its rows, too. */
export type MetadataCommand = Extract<FlightCommand, { kind: (typeof METADATA_COMMANDS)[number] }>;

export const isMetadata = (command: FlightCommand): command is MetadataCommand =>
  METADATA_COMMANDS.some((kind) => kind === command.kind);

/** The columns of a metadata command. */
export function metadataSchema(command: MetadataCommand): Schema {
  switch (command.kind) {
    case 'CommandGetCatalogs':
      return CATALOGS;
    case 'CommandGetDbSchemas':
      return DB_SCHEMAS;
    case 'CommandGetTables':
      return command.fields.include_schema ? TABLES_WITH_SCHEMA : TABLES;
    case 'CommandGetTableTypes':
      return TABLE_TYPES;
    case 'CommandGetPrimaryKeys':
      return PRIMARY_KEYS;
    case 'CommandGetExportedKeys':
    case 'CommandGetImportedKeys':
    case 'CommandGetCrossReference':
      return FOREIGN_KEYS;
    case 'CommandGetSqlInfo':
      return SQL_INFO;
    case 'CommandGetXdbcTypeInfo':
      return XDBC_TYPE_INFO;
    default:
      return unreachable(command);
  }
}

/** The rows of a metadata command, made as they are read. */
export const metadataCommandRows = (
  command: MetadataCommand,
  entries: CatalogEntries,
  limits: InfoLimits,
): FlightRows => ({
  schema: metadataSchema(command),
  batches: batches(command, entries, limits),
});

async function* batches(
  command: MetadataCommand,
  entries: CatalogEntries,
  limits: InfoLimits,
): AsyncGenerator<ResultBatch, void> {
  switch (command.kind) {
    case 'CommandGetCatalogs': {
      const names = await entries.catalogs();
      yield columnBatch(names.length, [texts(names)]);
      return;
    }
    case 'CommandGetDbSchemas': {
      const { catalog, db_schema_filter_pattern: schema } = command.fields;
      for await (const found of entries.schemas({ catalog, schema })) {
        yield columnBatch(found.length, [
          texts(found.map((one) => one.catalog)),
          texts(found.map((one) => one.schema)),
        ]);
      }
      return;
    }
    case 'CommandGetTables':
      yield* tables(command.fields, entries);
      return;
    case 'CommandGetTableTypes':
      yield columnBatch(TABLE_KINDS.length, [texts(TABLE_KINDS)]);
      return;
    case 'CommandGetPrimaryKeys': {
      const { catalog, db_schema: schema, table } = command.fields;
      const entry = await entries.table({ catalog, schema, table });
      if (entry !== undefined) yield primaryKeys(entry);
      return;
    }
    // Iceberg has no foreign keys.
    case 'CommandGetExportedKeys':
    case 'CommandGetImportedKeys':
    case 'CommandGetCrossReference':
      return;
    case 'CommandGetSqlInfo':
      yield sqlInfoBatch(sqlInfo(limits), command.fields.info);
      return;
    case 'CommandGetXdbcTypeInfo':
      yield xdbcTypesBatch(command.fields.data_type);
      return;
    default:
      unreachable(command);
  }
}

type TablesFields = Extract<MetadataCommand, { kind: 'CommandGetTables' }>['fields'];

async function* tables(fields: TablesFields, entries: CatalogEntries): AsyncGenerator<ResultBatch, void> {
  const { catalog, db_schema_filter_pattern: schema, table_name_filter_pattern: table } = fields;
  const { table_types: kinds, include_schema: withColumns } = fields;
  for await (const found of entries.tables({ catalog, schema, table, kinds })) {
    if (found.length === 0) continue;
    yield columnBatch(found.length, [
      texts(found.map((one) => one.catalog)),
      texts(found.map((one) => one.schema)),
      texts(found.map(({ name }) => name)),
      texts(found.map(({ kind }) => kind)),
      ...(withColumns ? [bytes(found.map((one) => schemaMessage(tableSchema(one))))] : []),
    ]);
  }
}

/** The identifier fields of a table, as its primary key. */
function primaryKeys({ catalog, schema, name, columns }: MetadataTableEntry): ResultBatch {
  const { fields, keys: ids } = columns();
  const keys = fields.filter(({ id }) => ids.has(id));
  return columnBatch(keys.length, [
    texts(keys.map(() => catalog)),
    texts(keys.map(() => schema)),
    texts(keys.map(() => name)),
    texts(keys.map((key) => key.name)),
    int32s(keys.map((_, i) => i + 1)),
    texts(keys.map(() => null)),
  ]);
}
