import type { CatalogContext } from '../context.ts';
import { isBelow } from '../storage/table-location.ts';
import type { DueTable } from '../store/postgres/dropped-table-store.ts';
import { listClaims, requireFree } from '../store/postgres/folder-claims.ts';
import { isPlain, removeOwnFiles } from './own-files.ts';
import { reachedFiles, type Pause } from './reached-files.ts';

/** Number of files that are checked and deleted between two pauses. */
const FILES_AT_ONCE = 16;

type Purge = Pick<CatalogContext, 'store' | 'storages' | 'readers' | 'log' | 'metrics'>;

/**
 * Deletes the files that a dropped table's metadata reaches, as far as they lie in the table's own folders: a file elsewhere (one that was
 * added where it lay) may belong to another table. Safe to run again after an interruption.
 * @throws STORAGE_ERROR; TABLE_DATA_TOO_COMPLEX; INVALID_REQUEST when another table claims one of its folders, which the rule of claims
 * excludes.
 */
export async function purgeTable(purge: Purge, table: DueTable, pause: Pause): Promise<void> {
  const { store, storages, readers, log, metrics } = purge;
  const folders = await listClaims(store.db, table.id);
  await requireFree(store.db, folders, table.id);
  const onUnreadable = (file: string, err: unknown): void =>
    log.warn({ err, file, table: table.id }, 'a purge passed over a manifest that cannot be read');
  let spared = 0;
  const remove = async (files: readonly string[]): Promise<void> => {
    for (let start = 0; start < files.length; start += FILES_AT_ONCE) {
      await pause();
      const batch = files.slice(start, start + FILES_AT_ONCE);
      const deleted = await removeOwnFiles(storages, batch, { roots: table.roots, folders });
      spared += batch.length - deleted;
      metrics.purgedFiles.inc(deleted);
    }
  };
  const reach = { storages, readers, tableId: table.id, roots: table.roots, onUnreadable, pause };
  for await (const files of reachedFiles(reach, table.metadata)) await remove(files);
  await remove([table.metadataLocation]);
  for (const folder of folders) {
    if (!isBelow(folder, table.roots) || !(await isPlain(storages, folder, table.roots))) continue;
    await (await storages.open(folder)).removeEmptyFolders(folder);
  }
  if (spared > 0) log.info({ table: table.id, spared }, 'a purge left files outside of the table’s own folders');
}
