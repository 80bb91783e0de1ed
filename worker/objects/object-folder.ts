import { randomUUID } from 'node:crypto';
import { link, readdir, rename, rm, stat, utimes, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { LRUCache } from 'lru-cache';
import { MemoryUses } from '#shared/memory-uses.ts';
import { makeFolders } from '#shared/storage/make-folders.ts';
import { PRIVATE_MODE } from '#shared/storage/private-folder.ts';
import type { ReadsMessage } from '../disk-cache/copied-files.ts';
import { dataOf, dataPath, isData, journalOf, removeKept } from '../disk-cache/kept-objects.ts';
import { makeHoles, ObjectCopy } from './object-copy.ts';
import { encodeFacts, type ObjectFacts } from './object-journal.ts';

/** Where copies of objects are: those that are kept (`worker/disk-cache/kept-objects.ts`), and those in use as `held/<slot>/<tenant>/<object>`. */
export type ObjectFolderSettings = {
  readonly keptFolder: string;
  readonly heldFolder: string;
  /** Bytes of the cache: a copy that has more is not kept. */
  readonly bytesMax: number;
  /** Whether only the bytes that a scan may read are fetched, not whole objects; in tests the holes are filled with garbage. */
  readonly holes: 'on' | 'off' | 'poisoned';
};

const UNFINISHED = '.tmp';
/** Copies of which a thread remembers what is here. */
const OPENED_MAX = 4_096;
/** Time in which the use of a copy is told once. */
const TOLD_MS = 1_000;

/** A name of an object, another one for another object, in the folder of a tenant. */
export type ObjectName = { readonly tenantFolder: string; readonly name: string };

/** The copies as one slot's thread uses them. */
export class ObjectFolder {
  readonly settings: ObjectFolderSettings;
  readonly #slot: string;
  readonly #tell: (message: ReadsMessage) => void;
  readonly #uses: MemoryUses;
  /** Kept copies whose bytes were compared with their checksums since this process began, by path. */
  readonly #opened = new LRUCache<string, ObjectCopy>({ max: OPENED_MAX });
  /** Bytes of kept copies that were told of late, by path. */
  readonly #told = new LRUCache<string, number>({ max: OPENED_MAX, ttl: TOLD_MS });

  /** @param tell the main thread, which decides what is kept */
  constructor(
    settings: ObjectFolderSettings,
    slot: string,
    tell: (message: ReadsMessage) => void,
    uses: MemoryUses = new MemoryUses(),
  ) {
    this.#uses = uses;
    this.settings = settings;
    this.#slot = slot;
    this.#tell = tell;
  }

  /** The folder of a tenant's copies in use, as DuckDB may read it. */
  heldFolder(tenantFolder: string): string {
    return join(this.settings.heldFolder, this.#slot, tenantFolder);
  }

  #keptFolder({ tenantFolder, name }: ObjectName): string {
    return join(this.settings.keptFolder, tenantFolder, name);
  }

  /** A kept copy, which stays until `release`. */
  async find(wanted: ObjectName): Promise<ObjectCopy | undefined> {
    return this.#uses.of(await this.#findKept(wanted));
  }

  async #findKept(wanted: ObjectName): Promise<ObjectCopy | undefined> {
    const folder = this.#keptFolder(wanted);
    for (const name of await readdir(folder).catch(() => [])) {
      if (!isData(name)) continue;
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
    if (copy.bytes > this.settings.bytesMax) return;
    const folder = this.#keptFolder(wanted);
    try {
      await makeFolders(folder, { mode: PRIVATE_MODE });
      if ((await readdir(folder)).some(isData)) return;
      const path = dataPath(folder, randomUUID());
      const facts = encodeFacts(copy.facts);
      await writeFile(journalOf(path), facts, { mode: 0o600 });
      await copy.keepJournal(journalOf(path), facts.length);
      await link(copy.path, path);
      this.#opened.set(path, copy.at(path));
    } catch {
      return;
    }
  }

  /** Tells of the use of a kept copy, and of the bytes that it has by now. */
  used({ tenantFolder, name }: ObjectName, { journal, bytes }: ObjectCopy): void {
    const path = journal === undefined ? undefined : dataOf(journal);
    if (path === undefined || this.#told.get(path) === bytes) return;
    this.#told.set(path, bytes);
    this.#tell({ kind: 'object', key: join(tenantFolder, name), tenant: tenantFolder, path, bytes });
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
