import { statSync } from 'node:fs';
import { opendir, rm, rmdir, stat } from 'node:fs/promises';
import { dirname, join, relative } from 'node:path';

/**
 * Copies of objects of buckets that are kept for later tasks, also over a restart. Tasks have those that they use under a second name (a hard
 * link) elsewhere, so that deleting one here takes nothing from a task.
 *
 * ```
 * <folder>/<tenant>/<object>/<id>.data      bytes of the object, with holes
 * <folder>/<tenant>/<object>/<id>.pieces    a journal: what is there, and the checksums of it
 * ```
 */
export type KeptObject = {
  /** `<tenant>/<object>` */
  readonly key: string;
  /** The folder of its tenant. */
  readonly tenant: string;
  readonly path: string;
  /** Bytes that it takes of the disk. */
  readonly bytes: number;
};

const DATA = '.data';
const PIECES = '.pieces';
/** Unit in which a system counts what a file takes of its disk; holes take nothing. */
const BLOCK_BYTES = 512;

export const dataPath = (folder: string, id: string): string => join(folder, `${id}${DATA}`);
export const journalOf = (path: string): string => `${path.slice(0, -DATA.length)}${PIECES}`;
export const dataOf = (journal: string): string => `${journal.slice(0, -PIECES.length)}${DATA}`;
export const isData = (name: string): boolean => name.endsWith(DATA);

/** Whether a kept object is in use by a task, and one in use is kept. */
export const hasSecondName = (path: string): boolean => (statSync(path, { throwIfNoEntry: false })?.nlink ?? 0) > 1;

/** Deletes a kept object. */
export async function removeKept(path: string): Promise<void> {
  await rm(path, { force: true });
  await rm(journalOf(path), { force: true });
  await rmdir(dirname(path)).catch(() => undefined);
}

/** Deletes all of them; those in use stay until their tasks end. @returns their bytes */
export async function clearKept(folder: string): Promise<number> {
  let bytes = 0;
  for (const object of await keptObjects(folder)) {
    await removeKept(object.path);
    bytes += object.bytes;
  }
  return bytes;
}

/** Finds them, the one that was used last first. */
export async function keptObjects(folder: string): Promise<readonly KeptObject[]> {
  const found: (KeptObject & { readonly usedMs: number })[] = [];
  const opened = await opendir(folder, { recursive: true }).catch(() => undefined);
  if (opened === undefined) return found;
  for await (const entry of opened) {
    if (!entry.isFile() || !isData(entry.name)) continue;
    const path = join(entry.parentPath, entry.name);
    const stats = await stat(path).catch(() => undefined);
    if (stats === undefined) continue;
    const key = relative(folder, entry.parentPath);
    const bytes = stats.blocks * BLOCK_BYTES;
    found.push({ key, tenant: dirname(key), path, bytes, usedMs: stats.atimeMs });
  }
  return found.sort((a, b) => b.usedMs - a.usedMs);
}
