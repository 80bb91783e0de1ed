import { randomUUID } from 'node:crypto';
import { link, opendir, rename, rm, stat, utimes } from 'node:fs/promises';
import { join } from 'node:path';
import { makeFolders } from '#shared/storage/make-folders.ts';
import { PRIVATE_MODE } from '#shared/storage/private-folder.ts';
import type { Storage } from '#shared/storage/storage.ts';
import { factsOfCopy, fetchObject } from './fetch-object.ts';

/** Copies of objects on this machine: those that are kept for later tasks, and those that tasks have in use. */
export type ObjectFolderSettings = {
  readonly folder: string;
  /** Bytes that are kept; what tasks have in use may be more. */
  readonly bytesMax: number;
};

/** The copies are made room for down to this share of the limit. */
const SWEPT_SHARE = 0.9;
/** Where kept copies lie, and those in use; below each a folder for each tenant. */
const KEPT = 'kept';
const HELD = 'held';

/** Deletes what the tasks of an earlier process had in use, and copies that were not whole. */
export async function clearHeld({ folder }: ObjectFolderSettings): Promise<void> {
  await rm(join(folder, HELD), { recursive: true, force: true });
  for await (const { path } of files(join(folder, KEPT))) if (path.endsWith('.tmp')) await rm(path, { force: true });
}

/** Deletes the kept copies; those in use go when their tasks end. */
export const clearKept = ({ folder }: ObjectFolderSettings): Promise<void> =>
  rm(join(folder, KEPT), { recursive: true, force: true });

/** An object, and where its copies lie. */
export type WantedObject = {
  readonly storage: Storage;
  readonly location: string;
  /** Names of the tenant's folder, and of the copy: other ones for another object. */
  readonly tenantFolder: string;
  readonly name: string;
};

/**
 * The copies of one slot's thread. A copy in use is a second name (a hard link) of the kept one, so deleting a kept copy takes nothing from
 * a task, and no thread has to know of another.
 */
export class ObjectFolder {
  readonly #settings: ObjectFolderSettings;
  readonly #slot: string;
  /** Copies whose bytes were compared with their checksum since this process began. */
  readonly #checked = new Set<string>();
  #sweeping: Promise<void> | undefined;

  constructor(settings: ObjectFolderSettings, slot: string) {
    this.#settings = settings;
    this.#slot = slot;
  }

  /** The folder of a tenant's copies in use, as DuckDB may read it. */
  heldFolder(tenantFolder: string): string {
    return join(this.#settings.folder, HELD, this.#slot, tenantFolder);
  }

  /** Brings an object, unless a copy is kept. @returns the path of a copy that stays until `release` @throws as `fetchObject` */
  async hold(signal: AbortSignal, { storage, location, tenantFolder, name }: WantedObject): Promise<string> {
    const held = join(this.heldFolder(tenantFolder), name);
    const folder = join(this.#settings.folder, KEPT, tenantFolder);
    await makeFolders(this.heldFolder(tenantFolder), { mode: PRIVATE_MODE });
    const kept = await this.#kept(folder, name);
    if (kept !== undefined && (await linked(kept, held))) return held;
    await makeFolders(folder, { mode: PRIVATE_MODE });
    const temporary = join(folder, `${randomUUID()}.tmp`);
    try {
      const { sizeBytes, crc } = await fetchObject(signal, { storage, location, path: temporary });
      await rm(held, { force: true });
      await link(temporary, held);
      const path = join(folder, `${name}-${sizeBytes}-${crc.toString(16)}`);
      await rename(temporary, path);
      this.#checked.add(path);
    } finally {
      await rm(temporary, { force: true });
    }
    this.#sweeping ??= this.#sweep().finally(() => {
      this.#sweeping = undefined;
    });
    return held;
  }

  /** Deletes a copy in use. */
  async release(path: string): Promise<void> {
    await rm(path, { force: true });
  }

  /** A kept copy that is whole and as it was written. */
  async #kept(folder: string, name: string): Promise<string | undefined> {
    for await (const { path } of files(folder)) {
      const found = new RegExp(`/${name}-(\\d+)-([0-9a-f]+)$`).exec(path);
      if (found === null) continue;
      if (this.#checked.has(path)) return path;
      const facts = await factsOfCopy(path).catch(() => undefined);
      if (facts?.sizeBytes === Number(found[1]) && facts.crc.toString(16) === found[2]) {
        this.#checked.add(path);
        return path;
      }
      await rm(path, { force: true });
    }
    return undefined;
  }

  /** Deletes the copies that were used longest ago, until the rest has its room. */
  async #sweep(): Promise<void> {
    const { folder, bytesMax } = this.#settings;
    const found: { readonly path: string; readonly bytes: number; readonly usedMs: number }[] = [];
    for await (const one of files(join(folder, KEPT))) if (!one.path.endsWith('.tmp')) found.push(one);
    let bytes = found.reduce((sum, one) => sum + one.bytes, 0);
    if (bytes <= bytesMax) return;
    for (const one of found.toSorted((a, b) => a.usedMs - b.usedMs)) {
      if (bytes <= bytesMax * SWEPT_SHARE) return;
      await rm(one.path, { force: true });
      this.#checked.delete(one.path);
      bytes -= one.bytes;
    }
  }
}

/** Gives a kept copy its second name, and notes that it was used; false when it is gone meanwhile. */
async function linked(kept: string, held: string): Promise<boolean> {
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

async function* files(
  folder: string,
): AsyncGenerator<{ readonly path: string; readonly bytes: number; readonly usedMs: number }> {
  const opened = await opendir(folder, { recursive: true }).catch(() => undefined);
  if (opened === undefined) return;
  for await (const entry of opened) {
    if (!entry.isFile()) continue;
    const path = join(entry.parentPath, entry.name);
    const found = await stat(path).catch(() => undefined);
    if (found !== undefined) yield { path, bytes: found.size, usedMs: found.mtimeMs };
  }
}
