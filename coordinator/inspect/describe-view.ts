import { must } from '#shared/must.ts';
import { SkeinError } from '#shared/error.ts';
import { requireAction, type Caller } from '../auth/authenticate.ts';
import { missingTable } from '../binding/missing-table.ts';
import { requireTableAction, type LoadedView } from '../binding/table-source.ts';
import { ownRepresentation } from '../binding/view-definition.ts';
import type { CatalogClient } from '../catalog-client/catalog-client.ts';
import { callersTables } from '../session/callers-tables.ts';
import { sqlTypeName } from '../session/sql-type-name.ts';
import { namespaceLevels, printName, timeOf, type TablePath } from './found-table.ts';

export type ViewVersions = {
  readonly catalog: string;
  readonly schema: string;
  readonly name: string;
  readonly is_materialized: boolean;
  readonly owner: string | null;
  readonly comment: string | null;
  readonly version_id: number;
  readonly columns: readonly { readonly name: string; readonly type: string; readonly comment: string | null }[];
  /** The reason why its columns cannot be read; null: they can. */
  readonly problem: string | null;
  readonly versions: readonly {
    readonly version_id: number;
    readonly created_at: string;
    readonly dialect: string;
    readonly sql: string;
  }[];
  readonly versions_total: number;
  readonly properties: Readonly<Record<string, string>>;
  readonly actions: readonly string[];
};

/** Versions that are listed, the newest first. */
const VERSIONS_MAX = 100;

/** @throws CATALOG_NOT_FOUND, SCHEMA_NOT_FOUND, TABLE_NOT_FOUND, FORBIDDEN, WRONG_OBJECT_TYPE */
export async function findView(
  catalog: CatalogClient,
  caller: Caller,
  { path, signal }: { readonly path: TablePath; readonly signal: AbortSignal },
): Promise<LoadedView> {
  requireAction(caller, 'view.describe');
  const name = { catalog: path.catalog, namespace: namespaceLevels(path.namespace), table: path.table };
  const tables = callersTables(catalog, caller);
  const [found] = await tables.loadTables([name], signal);
  const loaded = must(found, 'one answer for one name');
  if (loaded.kind === 'missing') throw await missingTable(name, loaded.code, tables);
  if (loaded.kind === 'found') throw new SkeinError('WRONG_OBJECT_TYPE', `${printName(loaded)} is a table, not a view`);
  requireTableAction(loaded, 'table.describe');
  return loaded;
}

/** A view with its versions, whose texts are those that their writers gave: of another engine in its own dialect. */
export function describeView({ name, view, actions }: LoadedView): ViewVersions {
  const { schema, properties, versions } = view;
  const isUnread = schema instanceof SkeinError;
  return {
    catalog: name.catalog,
    schema: name.namespace.join('.'),
    name: name.table,
    is_materialized: view.storageTable !== null,
    owner: properties['owner'] ?? null,
    comment: properties['comment'] ?? null,
    version_id: view.versionId,
    columns: isUnread
      ? []
      : schema.fields.map((field) => ({
          name: field.name,
          type: view.intervals.includes(field.name) ? 'INTERVAL' : sqlTypeName(field.type),
          comment: field.doc ?? null,
        })),
    problem: isUnread ? schema.message : null,
    versions: versions
      .toSorted((a, b) => b.versionId - a.versionId)
      .slice(0, VERSIONS_MAX)
      .map((version) => {
        const text = ownRepresentation(version) ?? version.representations[0];
        return {
          version_id: version.versionId,
          created_at: timeOf(version.timestampMs),
          dialect: text?.dialect ?? '',
          sql: text?.sql ?? '',
        };
      }),
    versions_total: versions.length,
    properties,
    actions: [...actions].toSorted(),
  };
}
