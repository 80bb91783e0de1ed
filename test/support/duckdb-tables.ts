import type { DuckDBConnection } from '@duckdb/node-api';
import { fieldsOf } from '#cli/load/column-type.ts';
import { FieldIds } from '#shared/iceberg/field-ids.ts';
import type { LoadedTable, TableSource } from '#coordinator/binding/table-source.ts';
import { printField } from '#shared/iceberg/type.ts';
import { readTableMetadata } from '#shared/iceberg/table-metadata.ts';
import { quoteIdentifier } from '#shared/sql/quote.ts';
import { FILE_CREDENTIAL } from '#test/support/file-credential.ts';

/**
 * Tables of a plain DuckDB as tables of catalog `lake`, schema for schema, without files: what a query over them binds to. Types are
 * those that Iceberg would have; `rowsOf` says how many rows a table is to have, if not those that it has.
 */
export function duckdbTables(connection: DuckDBConnection, rowsOf?: (table: string) => number): TableSource {
  const known = new Map<string, Promise<LoadedTable>>();
  return {
    loadTables: (names) =>
      Promise.all(
        names.map(({ catalog, namespace, table }) => {
          const schema = namespace.join('.');
          const key = `${catalog}.${schema}.${table}`.toLowerCase();
          const found = known.get(key) ?? loadTable(connection, schema, table, rowsOf);
          known.set(key, found);
          return found;
        }),
      ),
    nearest: () => Promise.resolve(undefined),
  };
}

async function loadTable(
  connection: DuckDBConnection,
  schema: string,
  table: string,
  rowsOf?: (table: string) => number,
): Promise<LoadedTable> {
  const name = `${quoteIdentifier(schema)}.${quoteIdentifier(table)}`;
  let rows;
  try {
    rows = await connection.runAndReadAll(`SELECT * FROM ${name} LIMIT 0`);
  } catch {
    return { kind: 'missing', code: 'TABLE_NOT_FOUND' };
  }
  const types = rows.columnTypes();
  const columns = rows.columnNames().flatMap((column, i) => {
    const type = types[i];
    return type === undefined ? [] : [{ name: column, type }];
  });
  const fields = fieldsOf(columns, new FieldIds()).map(printField);
  const count = rowsOf?.(table) ?? (await connection.runAndReadAll(`SELECT count(*) FROM ${name}`)).getRows()[0]?.[0];
  const metadata = readTableMetadata({
    'format-version': 2,
    'table-uuid': '00000000-0000-4000-8000-000000000001',
    location: `file:///warehouse/${schema}/${table}`,
    'current-schema-id': 0,
    schemas: [{ type: 'struct', 'schema-id': 0, fields }],
    'partition-specs': [{ 'spec-id': 0, fields: [] }],
    'current-snapshot-id': 1n,
    snapshots: [
      {
        'snapshot-id': 1n,
        'timestamp-ms': 0,
        'manifest-list': 'file:///none.avro',
        summary: { 'total-records': String(count) },
        'schema-id': 0,
      },
    ],
    refs: {},
    'snapshot-log': [{ 'timestamp-ms': 0, 'snapshot-id': 1n }],
  });
  return {
    kind: 'found',
    name: { catalog: 'lake', namespace: [schema], table },
    version: `${schema}/${table}.1`,
    oid: 16_384,
    metadata,
    allowedRoots: [`file:///warehouse/${schema}/${table}`],
    actions: new Set(['table.select', 'table.describe']),
    policies: [],
    policyVersion: '0',
    credential: FILE_CREDENTIAL,
  };
}
