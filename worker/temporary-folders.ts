import { join, resolve } from 'node:path';
import type { Config } from '#shared/config/config-schema.ts';

/** The folders of a worker alone. What it spills, and its copies of data files, do not outlive it; its copies of objects do. */
export const temporaryFolders = (
  config: Config,
): { readonly spillDir: string; readonly copyDir: string; readonly objectDir: string } => ({
  spillDir: resolve(config['worker.spill_dir'] || join(config.data_dir, 'spill', config['worker.name'])),
  copyDir: resolve(config['worker.disk_cache_dir'] || join(config.data_dir, 'disk-cache'), config['worker.name']),
  objectDir: resolve(
    config['worker.disk_cache_dir'] || join(config.data_dir, 'disk-cache'),
    OBJECTS,
    config['worker.name'],
  ),
});

/** No worker has this name. */
const OBJECTS = '.objects';
