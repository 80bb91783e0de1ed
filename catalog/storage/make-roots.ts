import { join } from 'node:path';
import type { Config } from '#shared/config/config-schema.ts';
import type { Logger } from '#shared/log/logger.ts';
import { fileCredential } from '#shared/storage/credential.ts';
import { isInBucket, normalizeLocation } from '#shared/storage/location.ts';
import { openStorage } from '#shared/storage/open-storage.ts';
import { makeDataDir, makePrivateFolder } from '#shared/storage/private-folder.ts';

/**
 * Creates the folders of the data directory in which catalogs lie by default, and restricts the permissions of those that an earlier
 * release left open. A read-only data directory does not stop the start: all catalogs may lie elsewhere.
 */
export function prepareDataDir(config: Config, log: Logger): void {
  const names = config['bootstrap.warehouse'] === '' ? ['warehouse', 'catalogs'] : ['catalogs'];
  try {
    makeDataDir(config.data_dir);
    for (const name of names) makePrivateFolder(join(config.data_dir, name));
  } catch (error) {
    log.warn({ err: error }, 'the data directory cannot be written');
  }
}

/**
 * Creates the roots of a catalog, accessible to the services' account only. An existing folder belongs to the operator and stays as it is.
 * A root that cannot be created is only logged: creating a table there reports it to the client.
 */
export async function makeRoots({ log }: { readonly log: Logger }, roots: readonly string[]): Promise<void> {
  for (const root of roots) {
    // A bucket has no folders.
    if (isInBucket(normalizeLocation(root))) continue;
    try {
      await openStorage(root, fileCredential(root)).makeFolder(root, 'private');
    } catch (error) {
      log.warn({ err: error, root }, 'the root of a catalog cannot be made');
    }
  }
}
