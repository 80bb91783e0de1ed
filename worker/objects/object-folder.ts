import { randomUUID } from 'node:crypto';
import { link, opendir, readdir, rename, rm, rmdir, stat, utimes } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { makeFolders } from '#shared/storage/make-folders.ts';
import { PRIVATE_MODE } from '#shared/storage/private-folder.ts';
import type { Storage } from '#shared/storage/storage.ts';
import { factsOfCopy, fetchObject } from './fetch-object.ts';

/**
 * Copies of objects on this machine:
 * ```
 * kept/<tenant>/<object>/<size>-<checksum>     kept for later tasks, and for the time after a restart
 * held/<slot>/<tenant>/<object>                a second name (a hard link) of a copy that a task has in use
 * ```
 * Deleting a kept copy takes nothing from a task, so no thread has to know what the others do.
 */
export type ObjectFolderSettings = {
  readonly folder: string;
  /** Bytes that are kept; what tasks have in use may be more. */
  readonly bytesMax: number;
  /** A folder of other copies, which have their room of the same bytes. */
  readonly beside: string;
};

/** Room is made down to this share of the limit. */
const SWEPT_SHARE = 0.9;
const UNFINISHED = '.tmp';

const keptFolder = ({ folder }: ObjectFolderSettings): string => join(folder, 'kept');
const heldFolder = ({ folder }: ObjectFolderSettings): string => join(folder, 'held');

/** Deletes what the tasks of an earlier process had in use, and copies that were not whole. */
export async function clearHeld(settings: ObjectFolderSettings): Promise<void> {
  await rm(heldFolder(settings), { recursive: true, force: true });
  for await (const { path } of copies(keptFolder(settings))) {
    if (path.endsWith(UNFINISHED)) await rm(path, { force: true });
  }
}

/** Deletes the copies that are kept; those in use stay until their tasks end. @returns their bytes */
export async function clearKept(settings: ObjectFolderSettings): Promise<number> {
  let bytes = 0;
  for await (const copy of copies(keptFolder(settings))) {
    await rm(copy.path, { force: true });
    bytes += copy.bytes;
  }
  return bytes;
}

/** An object, and what its copy is called. */
export type WantedObject = {
  readonly storage: Storage;
  readonly location: string;
  readonly tenantFolder: string;
  /** Another one for another object. */
  readonly name: string;
};

/** The copies as one slot's thread uses them. */
export class ObjectFolder {
  readonly #settings: ObjectFolderSettings;
  readonly #slot: string;
  /** Copies whose bytes were compared with their checksum since this process began. */
  readonly #checked = new Set<string>();
  #isSweeping = false;

  constructor(settings: ObjectFolderSettings, slot: string) {
    this.#settings = settings;
    this.#slot = slot;
  }

  /** The folder of a tenant's copies in use, as DuckDB may read it. */
  heldFolder(tenantFolder: string): string {
    return join(heldFolder(this.#settings), this.#slot, tenantFolder);
  }

  /** Brings an object, unless a copy is kept. @returns the path of a copy that stays until `release` @throws as `fetchObject` */
  async hold(signal: AbortSignal, { storage, location, tenantFolder, name }: WantedObject): Promise<string> {
    const held = join(this.heldFolder(tenantFolder), name);
    const folder = join(keptFolder(this.#settings), tenantFolder, name);
    await makeFolders(this.heldFolder(tenantFolder), { mode: PRIVATE_MODE });
    const kept = await this.#kept(folder);
    if (kept !== undefined && (await gotSecondName(kept, held))) return held;
    const temporary = `${held}-${randomUUID()}${UNFINISHED}`;
    try {
      const { sizeBytes, crc } = await fetchObject(signal, { storage, location, path: temporary });
      await this.#keep(temporary, join(folder, `${sizeBytes}-${crc.toString(16)}`));
      await rename(temporary, held);
    } finally {
      await rm(temporary, { force: true });
    }
    return held;
  }

  /** Deletes the name of a copy in use. */
  release(path: string): Promise<void> {
    return rm(path, { force: true });
  }

  /** Keeps a copy that was just fetched. Without a place for it the task does with its own. */
  async #keep(fetched: string, path: string): Promise<void> {
    try {
      await makeFolders(dirname(path), { mode: PRIVATE_MODE });
      await link(fetched, path);
      this.#checked.add(path);
    } catch {
      return;
    }
    if (this.#isSweeping) return;
    this.#isSweeping = true;
    // Deletions that fail are tried again with the next copy.
    void this.#sweep()
      .catch(() => undefined)
      .finally(() => {
        this.#isSweeping = false;
      });
  }

  /** A kept copy that is whole and as it was written. */
  async #kept(folder: string): Promise<string | undefined> {
    for (const name of await readdir(folder).catch(() => [])) {
      const path = join(folder, name);
      if (this.#checked.has(path)) return path;
      const facts = await factsOfCopy(path).catch(() => undefined);
      if (facts !== undefined && name === `${facts.sizeBytes}-${facts.crc.toString(16)}`) {
        this.#checked.add(path);
        return path;
      }
      await rm(path, { force: true });
    }
    return undefined;
  }

  /** Deletes the copies that were used longest ago, until the rest has its room. */
  async #sweep(): Promise<void> {
    const { bytesMax } = this.#settings;
    const found: Copy[] = [];
    for await (const copy of copies(keptFolder(this.#settings))) found.push(copy);
    let bytes = found.reduce((sum, one) => sum + one.bytes, 0);
    for await (const copy of copies(this.#settings.beside)) bytes += copy.bytes;
    if (bytes <= bytesMax) return;
    for (const { path, bytes: own } of found.toSorted((a, b) => a.usedMs - b.usedMs)) {
      if (bytes <= bytesMax * SWEPT_SHARE) return;
      await rm(path, { force: true });
      await rmdir(dirname(path)).catch(() => undefined);
      this.#checked.delete(path);
      bytes -= own;
    }
  }
}

/** Gives a kept copy its second name, and notes that it was used; false when it is gone meanwhile. */
async function gotSecondName(kept: string, held: string): Promise<boolean> {
  try {
    await rm(held, { force: true });
    await link(kept, held);
    const now = new Date();
    await utimes(kept, now, now);
    return true;
  } catch {
    return false;
  }
}

type Copy = { readonly path: string; readonly bytes: number; readonly usedMs: number };

async function* copies(folder: string): AsyncGenerator<Copy> {
  const opened = await opendir(folder, { recursive: true }).catch(() => undefined);
  if (opened === undefined) return;
  for await (const entry of opened) {
    if (!entry.isFile()) continue;
    const path = join(entry.parentPath, entry.name);
    const found = await stat(path).catch(() => undefined);
    if (found !== undefined) yield { path, bytes: found.size, usedMs: found.mtimeMs };
  }
}
