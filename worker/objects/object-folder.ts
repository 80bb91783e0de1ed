import { randomUUID } from 'node:crypto';
import { link, opendir, readdir, rename, rm, rmdir, stat, utimes, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { LRUCache } from 'lru-cache';
import { makeFolders } from '#shared/storage/make-folders.ts';
import { PRIVATE_MODE } from '#shared/storage/private-folder.ts';
import { bytesOnDisk, makeHoles, ObjectCopy } from './object-copy.ts';
import { encodeFacts, type ObjectFacts } from './object-journal.ts';

/**
 * Copies of objects on this machine, each with holes where nobody has wanted its bytes:
 * ```
 * kept/<tenant>/<object>/<id>.data      kept for later tasks, and for the time after a restart
 * kept/<tenant>/<object>/<id>.pieces    its journal: what is here, and the checksums of it
 * held/<slot>/<tenant>/<object>         a second name (a hard link) of a copy that a task has in use
 * ```
 * Deleting a kept copy takes nothing from a task, so no thread has to know what the others do.
 */
export type ObjectFolderSettings = {
  readonly folder: string;
  /** Bytes that are kept; what tasks have in use may be more. */
  readonly bytesMax: number;
  /** A folder of other copies, which have their room of the same bytes. */
  readonly beside: string;
  /** Whether only the bytes that a scan may read are fetched, not whole objects; in tests the holes are filled with garbage. */
  readonly holes: 'on' | 'off' | 'poisoned';
};

/** Room is made down to this share of the limit. */
const SWEPT_SHARE = 0.9;
const UNFINISHED = '.tmp';
const DATA = '.data';
const PIECES = '.pieces';
/** Copies of which a thread remembers what is here. */
const OPENED_MAX = 4_096;

const keptFolder = ({ folder }: Pick<ObjectFolderSettings, 'folder'>): string => join(folder, 'kept');
const heldFolder = ({ folder }: Pick<ObjectFolderSettings, 'folder'>): string => join(folder, 'held');
const journalOf = (path: string): string => `${path.slice(0, -DATA.length)}${PIECES}`;

/** Deletes what the tasks of an earlier process had in use. */
export async function clearHeld(settings: ObjectFolderSettings): Promise<void> {
  await rm(heldFolder(settings), { recursive: true, force: true });
}

/** Deletes the copies that are kept; those in use stay until their tasks end. @returns their bytes */
export async function clearKept(settings: ObjectFolderSettings): Promise<number> {
  let bytes = 0;
  for await (const copy of copies(keptFolder(settings))) {
    await removeKept(copy.path);
    bytes += copy.bytes;
  }
  return bytes;
}

async function removeKept(path: string): Promise<void> {
  await rm(path, { force: true });
  if (path.endsWith(DATA)) await rm(journalOf(path), { force: true });
  await rmdir(dirname(path)).catch(() => undefined);
}

/** A name of an object, another one for another object, in the folder of a tenant. */
export type ObjectName = { readonly tenantFolder: string; readonly name: string };

/** The copies as one slot's thread uses them. */
export class ObjectFolder {
  readonly settings: ObjectFolderSettings;
  readonly #slot: string;
  /** Kept copies whose bytes were compared with their checksums since this process began, by path. */
  readonly #opened = new LRUCache<string, ObjectCopy>({ max: OPENED_MAX });
  #isSweeping = false;

  constructor(settings: ObjectFolderSettings, slot: string) {
    this.settings = settings;
    this.#slot = slot;
  }

  /** The folder of a tenant's copies in use, as DuckDB may read it. */
  heldFolder(tenantFolder: string): string {
    return join(heldFolder(this.settings), this.#slot, tenantFolder);
  }

  #keptFolder({ tenantFolder, name }: ObjectName): string {
    return join(keptFolder(this.settings), tenantFolder, name);
  }

  /** A kept copy, which stays until `release`. */
  async find(wanted: ObjectName): Promise<ObjectCopy | undefined> {
    const folder = this.#keptFolder(wanted);
    for (const name of await readdir(folder).catch(() => [])) {
      if (!name.endsWith(DATA)) continue;
      const path = join(folder, name);
      const copy = this.#opened.get(path) ?? (await ObjectCopy.open(path, journalOf(path)));
      if (copy === undefined) {
        await removeKept(path);
        continue;
      }
      this.#opened.set(path, copy);
      const held = join(this.heldFolder(wanted.tenantFolder), wanted.name);
      await makeFolders(dirname(held), { mode: PRIVATE_MODE });
      if (await gotSecondName(path, held)) return copy.at(held);
      this.#opened.delete(path);
    }
    return undefined;
  }

  /** A copy of holes, which stays until `release`. */
  async create({ tenantFolder, name }: ObjectName, facts: ObjectFacts): Promise<ObjectCopy> {
    const held = join(this.heldFolder(tenantFolder), name);
    await makeFolders(dirname(held), { mode: PRIVATE_MODE });
    const temporary = `${held}-${randomUUID()}${UNFINISHED}`;
    await makeHoles(temporary, facts.sizeBytes, this.settings.holes === 'poisoned');
    await rename(temporary, held);
    return new ObjectCopy(held, facts);
  }

  /** Deletes the name of a copy in use. */
  release(path: string): Promise<void> {
    return rm(path, { force: true });
  }

  /** Keeps a copy that was created, unless another one of the object is kept. Without a place for it the task does with its own. */
  async keep(wanted: ObjectName, copy: ObjectCopy): Promise<void> {
    const folder = this.#keptFolder(wanted);
    try {
      await makeFolders(folder, { mode: PRIVATE_MODE });
      if ((await readdir(folder)).some((name) => name.endsWith(DATA))) return;
      const path = join(folder, `${randomUUID()}${DATA}`);
      const facts = encodeFacts(copy.facts);
      await writeFile(journalOf(path), facts, { mode: 0o600 });
      await copy.keepJournal(journalOf(path), facts.length);
      await link(copy.path, path);
      this.#opened.set(path, copy.at(path));
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

  /** Deletes the copies that were used longest ago, until the rest has its room. */
  async #sweep(): Promise<void> {
    const { bytesMax } = this.settings;
    const found: Copy[] = [];
    for await (const copy of copies(keptFolder(this.settings))) found.push(copy);
    let bytes = found.reduce((sum, one) => sum + one.bytes, 0);
    for await (const copy of copies(this.settings.beside)) bytes += copy.bytes;
    if (bytes <= bytesMax) return;
    for (const { path, bytes: own } of found.toSorted((a, b) => a.usedMs - b.usedMs)) {
      if (bytes <= bytesMax * SWEPT_SHARE) return;
      await removeKept(path);
      this.#opened.delete(path);
      bytes -= own;
    }
  }
}

/** Gives a kept copy its second name, and notes that it was used; false when it is gone meanwhile. */
async function gotSecondName(kept: string, held: string): Promise<boolean> {
  try {
    await rm(held, { force: true });
    await link(kept, held);
    // DuckDB takes a file for another one when it was changed later.
    await utimes(kept, new Date(), (await stat(kept)).mtime);
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
    if (!entry.isFile() || entry.name.endsWith(PIECES)) continue;
    const path = join(entry.parentPath, entry.name);
    const found = await stat(path).catch(() => undefined);
    if (found !== undefined) yield { path, bytes: bytesOnDisk(found), usedMs: found.atimeMs };
  }
}
