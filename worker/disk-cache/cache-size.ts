import { statfs } from 'node:fs/promises';
import { machineMemory } from '#shared/config/machine-memory.ts';
import { makeFolders } from '#shared/storage/make-folders.ts';
import { PRIVATE_MODE } from '#shared/storage/private-folder.ts';
import { keptObjects } from './kept-objects.ts';

/** `auto`: this share of the disk that is free or the cache's own, but at least this share of the memory. */
const SHARE = 0.1;

/** One copy without compression takes at most 1/COPY_SHARE of the cache. */
export const COPY_SHARE = 4;

/** Bytes of the cache in a folder. */
export async function cacheSize(setting: number | 'auto', folder: string): Promise<number> {
  if (setting !== 'auto') return setting;
  await makeFolders(folder, { mode: PRIVATE_MODE });
  const { bavail, bsize } = await statfs(folder);
  const own = (await keptObjects(folder)).reduce((sum, { bytes }) => sum + bytes, 0);
  return Math.floor(SHARE * Math.max(machineMemory(), bavail * bsize + own));
}
