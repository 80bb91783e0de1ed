import type { Principal } from '#shared/authorization/principal.ts';
import { SkeinError } from '#shared/error.ts';
import { currentSchema, type Snapshot, type TableMetadata } from '#shared/iceberg/table-metadata.ts';
import type { PartitionField } from '#shared/iceberg/partition-spec.ts';
import { printTransform } from '#shared/iceberg/transform.ts';
import { must } from '#shared/must.ts';
import { missingTable } from '../binding/missing-table.ts';
import {
  requireTable,
  requireTableAction,
  type LoadedTable,
  type TableName,
  type TableSource,
} from '../binding/table-source.ts';
import type { CatalogClient } from './catalog-client.ts';
import type { Pages } from './pages.ts';

export type TableEntry = { readonly catalog: string; readonly schema: string; readonly name: string };

/** Namespaces whose tables are listed at once. */
const LIST_CONCURRENCY = 8;

/** How levels of a namespace are written as one name. */
export const schemaName = (levels: readonly string[]): string => levels.join('.');

/** All tables of a catalog, namespace by namespace. @throws CATALOG_NOT_FOUND */
export async function* listAllTables(client: CatalogClient, principal: Principal, catalog: string): Pages<TableEntry> {
  for await (const namespaces of client.listNamespaces(principal, catalog, 'schema.resolve')) {
    for (let at = 0; at < namespaces.length; at += LIST_CONCURRENCY) {
      const lists = namespaces
        .slice(at, at + LIST_CONCURRENCY)
        .map((levels) =>
          listOrNone(client.listTables(principal, catalog, levels), { catalog, schema: schemaName(levels) }),
        );
      const firsts = await Promise.all(lists.map((list) => list.next()));
      for (const [i, list] of lists.entries()) {
        yield firsts[i]?.value ?? [];
        yield* list;
      }
    }
  }
}

/** A namespace that was dropped after it was listed has no tables. */
async function* listOrNone(pages: Pages<string>, of: Pick<TableEntry, 'catalog' | 'schema'>): Pages<TableEntry> {
  try {
    for await (const names of pages) yield names.map((name) => ({ ...of, name }));
  } catch (error) {
    if (!(error instanceof SkeinError) || error.code !== 'SCHEMA_NOT_FOUND') throw error;
  }
}

/** Loads a table whose metadata is shown. @throws CATALOG_NOT_FOUND, SCHEMA_NOT_FOUND, TABLE_NOT_FOUND, FORBIDDEN */
export async function loadOneTable(
  tables: TableSource,
  name: TableName,
  signal: AbortSignal,
): Promise<Extract<LoadedTable, { kind: 'found' }>> {
  const [table] = await tables.loadTables([name], signal);
  const loaded = must(table, 'one answer for one name');
  if (loaded.kind === 'missing') throw await missingTable(name, loaded.code, tables);
  requireTableAction(loaded, 'table.describe');
  return requireTable(loaded);
}

/** The default partition spec as expressions over columns: `month(ts)`, `bucket(16, id)`, `region`. */
export function partitionExpressions(metadata: TableMetadata): string[] {
  const fields = metadata.specs.find((spec) => spec.specId === metadata.defaultSpecId)?.fields ?? [];
  return fields.filter((field) => field.transform.kind !== 'void').map((field) => partitionExpression(metadata, field));
}

function partitionExpression(metadata: TableMetadata, field: PartitionField): string {
  const column = metadata.fields.get(field.sourceId)?.name ?? `#${field.sourceId}`;
  if (field.transform.kind === 'identity') return column;
  const [, name = '', width] = /^(\w+)(?:\[(\d+)\])?$/.exec(printTransform(field.transform)) ?? [];
  return width === undefined ? `${name}(${column})` : `${name}(${width}, ${column})`;
}

const currentSnapshot = (metadata: TableMetadata): Snapshot | undefined =>
  metadata.currentSnapshotId === null ? undefined : metadata.snapshots.get(metadata.currentSnapshotId);

/** Rows by the current snapshot's summary, position deletes taken off; 0 without a snapshot. */
export function recordCount(metadata: TableMetadata): number {
  const summary = currentSnapshot(metadata)?.summary ?? {};
  const count = (key: string): number => Number(summary[key] ?? 0);
  return Math.max(0, count('total-records') - count('total-position-deletes'));
}

export const fieldsOf = (metadata: TableMetadata): TableColumns => currentSchema(metadata).fields;
type TableColumns = ReturnType<typeof currentSchema>['fields'];
