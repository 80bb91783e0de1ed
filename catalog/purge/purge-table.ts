import { SkeinError } from '#shared/error.ts';
import { isBelow } from '#shared/iceberg/allowed-roots.ts';
import { isPlain, removeOwnFiles } from '#shared/iceberg/own-files.ts';
import type { CatalogContext } from '../context.ts';
import type { DueTable } from '../store/postgres/dropped-table-store.ts';
import { listClaims, requireFree } from '../store/postgres/folder-claims.ts';
import { reachedFiles, type Pause } from './reached-files.ts';

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
  let stayed = 0;
  const removal = { roots: table.roots, folders, log, table: table.id, pause };
  const remove = async (files: readonly string[]): Promise<void> => {
    const done = await removeOwnFiles(storages, files, removal);
    spared += done.elsewhere;
    stayed += done.stayed;
    metrics.purgedFiles.inc(done.deleted);
  };
  const reach = { storages, readers, tableId: table.id, roots: table.roots, onUnreadable, pause };
  for await (const { kind, files } of reachedFiles(reach, table.metadata)) {
    // Whoever tries again reaches the data by the metadata.
    if (kind === 'metadata') requireNone(stayed);
    await remove(files);
  }
  requireNone(stayed);
  await remove([table.metadataLocation]);
  requireNone(stayed);
  for (const folder of folders) {
    if (!isBelow(folder, table.roots) || !(await isPlain(storages, folder, table.roots))) continue;
    await (await storages.open(folder, table.roots)).removeEmptyFolders(folder);
  }
  if (spared > 0) log.info({ table: table.id, spared }, 'a purge left files outside of the table’s own folders');
}

/** @throws STORAGE_ERROR */
function requireNone(stayed: number): void {
  if (stayed > 0) throw new SkeinError('STORAGE_ERROR', `${stayed} files could not be deleted: the log has each`);
}
