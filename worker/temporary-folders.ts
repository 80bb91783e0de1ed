import { join, resolve } from 'node:path';
import type { Config } from '#shared/config/config-schema.ts';

type WorkerFolders = Readonly<Record<'spillDir' | 'cacheDir' | 'copyDir' | 'keptDir' | 'heldDir', string>>;

/** The folders of a worker alone. Its copies of objects (`keptDir`) outlive it. */
export function workerFolders(config: Config): WorkerFolders {
  const name = config['worker.name'];
  const cacheDir = resolve(config['worker.disk_cache_dir'] || join(config.data_dir, 'disk-cache'), name);
  return {
    spillDir: resolve(config['worker.spill_dir'] || join(config.data_dir, 'spill', name)),
    cacheDir,
    copyDir: join(cacheDir, 'copies'),
    keptDir: join(cacheDir, 'kept'),
    heldDir: join(cacheDir, 'held'),
  };
}

/** Those that go with it: what it spills, its copies of data files, and the second names of objects that its tasks have in use. */
export function temporaryFolders(config: Config): readonly string[] {
  const { spillDir, copyDir, heldDir } = workerFolders(config);
  return [spillDir, copyDir, heldDir];
}
