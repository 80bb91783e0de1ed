import { join, resolve } from 'node:path';
import type { Config } from '#shared/config/config-schema.ts';

/** The folders of a worker alone, for what it spills and for its copies of data files: nothing in them outlives it. */
export const temporaryFolders = (config: Config): { readonly spillDir: string; readonly copyDir: string } => ({
  spillDir: resolve(config['worker.spill_dir'] || join(config.data_dir, 'spill', config['worker.name'])),
  copyDir: resolve(config['worker.disk_cache_dir'] || join(config.data_dir, 'disk-cache'), config['worker.name']),
});
