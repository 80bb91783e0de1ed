import { join } from 'node:path';
import type { Config } from '#shared/config/config-schema.ts';
import type { Logger } from '#shared/log/logger.ts';
import { makeDataDir, makePrivateFolder } from '#shared/storage/private-folder.ts';
import type { CatalogContext } from '../context.ts';

/**
 * Makes the folders of the data directory in which catalogs lie unless somebody names another place, and closes the ones that an earlier
 * release left open. A data directory that cannot be written is no reason not to start: all catalogs may lie elsewhere.
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
 * Makes the roots of a catalog, for the account of the services alone. A folder that is there stays as it is: it is the operator's. A root that
 * cannot be made is only logged: creating a table there says it to the client.
 */
export async function makeRoots(
  { io, log }: Pick<CatalogContext, 'io' | 'log'>,
  roots: readonly string[],
): Promise<void> {
  for (const root of roots) {
    await io.makeFolder(root, 'private').catch((error: unknown) => {
      log.warn({ err: error, root }, 'the root of a catalog cannot be made');
    });
  }
}
