import type { Action } from '#shared/authorization/action.ts';
import { SkeinError } from '#shared/error.ts';
import type { InspectedFiles } from '#shared/iceberg/inspect-snapshot.ts';
import type { Snapshot, TableMetadata } from '#shared/iceberg/table-metadata.ts';
import { managesPolicies, requireAction, type Caller } from '../auth/authenticate.ts';
import { requireTableAction } from '../binding/table-source.ts';
import { loadOneTable } from '../catalog-client/catalog-browser.ts';
import type { CatalogClient } from '../catalog-client/catalog-client.ts';
import type { FoundTable } from '../catalog-client/loaded-tables.ts';
import { isPoliced, showsFigures } from '../operation/policed-table.ts';
import { callersTables } from '../session/callers-tables.ts';

/** A table as a path of the API names it. */
export type TablePath = { readonly catalog: string; readonly namespace: string; readonly table: string };

/** Levels of a namespace in a path: joined by the unit separator (as the Iceberg REST API does), or by dots. */
export const namespaceLevels = (segment: string): string[] => segment.split(segment.includes('\x1F') ? '\x1F' : '.');

/**
 * Finds a table that the caller may look at. Policies hide none of what is told here from whoever manages them.
 * @throws CATALOG_NOT_FOUND, SCHEMA_NOT_FOUND, TABLE_NOT_FOUND, FORBIDDEN
 */
export async function findTable(
  catalog: CatalogClient,
  caller: Caller,
  { path, signal }: { readonly path: TablePath; readonly signal: AbortSignal },
): Promise<FoundTable> {
  requireAction(caller, 'table.describe');
  const name = { catalog: path.catalog, namespace: namespaceLevels(path.namespace), table: path.table };
  const table = await loadOneTable(callersTables(catalog, caller), name, signal);
  return showsFigures(table, managesPolicies(caller)) ? { ...table, policies: [] } : table;
}

/** Whether the caller may see what tells of the table's rows: their number, their bytes, their files. */
export const showsRows = (table: FoundTable): boolean => !isPoliced(table);

/** Whether the caller may see the files of the table, whose partitions are values of rows. */
export const showsFiles = (table: FoundTable): boolean => showsRows(table) && table.actions.has(FILES_ACTION);

const FILES_ACTION: Action = 'table.select';

/** @throws FORBIDDEN unless the caller may read the table */
export const requireFilesReadable = (table: FoundTable): void => requireTableAction(table, FILES_ACTION);

/** The table with the right to read its files, for a thread. */
export function inspectedFiles({ metadata, allowedRoots, credential }: FoundTable, { claims }: Caller): InspectedFiles {
  const { tableUuid, formatVersion, location, fields, specs, defaultSpecId, snapshots } = metadata;
  const table = { tableUuid, formatVersion, location, fields, specs, defaultSpecId, snapshots };
  return { tenant: claims.tenant, table, allowedRoots, credential };
}

export const printName = ({ name }: Pick<FoundTable, 'name'>): string =>
  [name.catalog, ...name.namespace, name.table].join('.');

/** The snapshot of a branch, a tag or an id; null: the table has none yet. @throws SNAPSHOT_NOT_FOUND */
export function snapshotAt(metadata: TableMetadata, ref: string | undefined): Snapshot | null {
  const { currentSnapshotId, refs, snapshots } = metadata;
  if (ref === undefined && currentSnapshotId === null) return null;
  const id = ref === undefined ? currentSnapshotId : (refs.get(ref)?.snapshotId ?? idOf(ref));
  const found = id === null ? undefined : snapshots.get(id);
  if (found !== undefined) return found;
  throw new SkeinError('SNAPSHOT_NOT_FOUND', `the table has no branch, tag or snapshot ${ref ?? currentSnapshotId}`);
}

const idOf = (text: string): bigint | null => (/^\d{1,19}$/.test(text) ? BigInt(text) : null);

/** A count of a snapshot's summary, into which any writer may put any text; null: it has none. */
export function summaryCount(snapshot: Snapshot | null | undefined, key: string): number | null {
  const text = snapshot?.summary[key] ?? '';
  return /^\d{1,15}$/.test(text) ? Number(text) : null;
}

/** Rows of a snapshot, position deletes taken off; null: its writer has not said it. */
export function rowsAt(snapshot: Snapshot | null | undefined): number | null {
  if (snapshot === null) return 0;
  const rows = summaryCount(snapshot, 'total-records');
  return rows === null ? null : Math.max(0, rows - (summaryCount(snapshot, 'total-position-deletes') ?? 0));
}

/** Last moment that a date can be; a writer may put any number there. */
const TIME_MS_MAX = 8.64e15;

export const timeOf = (ms: number): string =>
  new Date(Number.isFinite(ms) && Math.abs(ms) <= TIME_MS_MAX ? ms : 0).toISOString();
