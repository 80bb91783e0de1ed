import { createHash } from 'node:crypto';
import type { TenantId } from '#shared/id.ts';
import type { StorageCredential } from '#shared/storage/credential.ts';
import { fileCredential } from '#shared/storage/credential.ts';
import { openStorage } from '#shared/storage/open-storage.ts';
import type { StorageUse } from '#shared/storage/storage-use.ts';
import type { Storage } from '#shared/storage/storage.ts';
import type { ObjectFolder } from './object-folder.ts';

/** Objects that are fetched at once for one task. */
const OBJECTS_AT_ONCE = 3;

/** A file of a table or a stage. */
type ScannedObject = { readonly path: string; readonly sizeBytes: number; readonly etag?: string };

/** The copies of one slot's thread that tasks have in use: two tasks share the copy of one object. */
export class SlotObjects {
  readonly #folder: ObjectFolder;
  readonly #held = new Map<string, { readonly path: Promise<string>; users: number }>();

  constructor(folder: ObjectFolder) {
    this.#folder = folder;
  }

  /** For one task. */
  of(tenant: TenantId, use: StorageUse = {}): HeldObjects {
    return new HeldObjects(this, { tenantFolder: digest(tenant), use });
  }

  tenantFolder(folder: string): string {
    return this.#folder.heldFolder(folder);
  }

  take(
    signal: AbortSignal,
    wanted: {
      readonly storage: Storage;
      readonly location: string;
      readonly tenantFolder: string;
      readonly name: string;
    },
  ): Promise<string> {
    const key = `${wanted.tenantFolder}/${wanted.name}`;
    const held = this.#held.get(key) ?? { path: this.#folder.hold(signal, wanted), users: 0 };
    held.users += 1;
    this.#held.set(key, held);
    // A fetch that another task's end has broken off is begun again.
    return held.path.catch((error: unknown) => {
      if (this.#held.get(key) === held) this.#held.delete(key);
      if (signal.aborted || held.users === 1) throw error;
      return this.take(signal, wanted);
    });
  }

  async giveBack(tenantFolder: string, name: string): Promise<void> {
    const key = `${tenantFolder}/${name}`;
    const held = this.#held.get(key);
    if (held === undefined) return;
    held.users -= 1;
    if (held.users > 0) return;
    this.#held.delete(key);
    await this.#folder.release(await held.path);
  }
}

/** The objects that one task reads, as local files. They are in use until it is disposed. */
export class HeldObjects implements AsyncDisposable {
  /** The signal, keys and repeats that the task lends to its storages. */
  readonly use: StorageUse;
  readonly #slot: SlotObjects;
  readonly #tenantFolder: string;
  readonly #paths = new Map<string, { readonly path: string; readonly name: string }>();

  constructor(slot: SlotObjects, { tenantFolder, use }: { readonly tenantFolder: string; readonly use: StorageUse }) {
    this.#slot = slot;
    this.#tenantFolder = tenantFolder;
    this.use = use;
  }

  /** The folder of all these local files: other tasks of the tenant have theirs there, too. */
  get folder(): string {
    return this.#slot.tenantFolder(this.#tenantFolder);
  }

  /** Brings objects here, as far as their storage is not of this machine. @throws FileNotFound, STORAGE_ERROR */
  async fetch(
    signal: AbortSignal,
    objects: readonly ScannedObject[],
    { tableUuid, credential }: { readonly tableUuid: string; readonly credential: StorageCredential },
  ): Promise<void> {
    if (credential.kind === 'none') return;
    const wanted = objects.filter(({ path }) => !this.#paths.has(path));
    let next = 0;
    const work = async (): Promise<void> => {
      for (let object = wanted[next++]; object !== undefined; object = wanted[next++]) {
        signal.throwIfAborted();
        const { path: location, sizeBytes, etag = '' } = object;
        const name = `${digest(JSON.stringify([tableUuid, location, sizeBytes, etag]))}${extensionOf(location)}`;
        const storage = openStorage(location, credential, this.use);
        const path = await this.#slot.take(signal, { storage, location, tenantFolder: this.#tenantFolder, name });
        this.#paths.set(location, { path, name });
      }
    };
    const results = await Promise.allSettled(Array.from({ length: OBJECTS_AT_ONCE }, work));
    const failed = results.find((result) => result.status === 'rejected');
    if (failed !== undefined) throw failed.reason;
  }

  /** Opens the storage of a location; what was fetched is read from its copy. */
  open(location: string, credential: StorageCredential): Storage {
    // A copy of a part of a stage's file.
    if (location.startsWith('/')) return openStorage(location, fileCredential(location));
    const storage = openStorage(location, credential, this.use);
    if (storage.isLocal) return storage;
    const path = this.#paths.get(location)?.path;
    if (path === undefined) return storage;
    const copy = openStorage(path, fileCredential(path));
    return {
      ...storage,
      read: (_location, bytesMax) => copy.read(path, bytesMax),
      readRange: (_location, offset, length) => copy.readRange(path, offset, length),
      openFile: (_location, tailBytes) => copy.openFile(path, tailBytes),
      localPath: () => path,
    };
  }

  /** A text in which local paths are the locations that they are copies of. */
  withLocations(text: string): string {
    return Array.from(this.#paths).reduce((so, [location, { path }]) => so.replaceAll(path, location), text);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const names = new Set(Array.from(this.#paths.values(), ({ name }) => name));
    this.#paths.clear();
    for (const name of names) await this.#slot.giveBack(this.#tenantFolder, name);
  }
}

/** Digits of a name: no two objects of a machine have the same. */
const NAME_DIGITS = 40;

/** DuckDB takes from it how a text file is packed. */
const extensionOf = (location: string): string => /\.[A-Za-z0-9]{1,8}$/.exec(location)?.[0] ?? '';

const digest = (text: string): string => createHash('sha256').update(text).digest('hex').slice(0, NAME_DIGITS);
