import { createHash } from 'node:crypto';
import type { ScanSpec } from '#shared/task/task.ts';
import type { QueryId, TenantId } from '#shared/id.ts';
import { fileCredential } from '#shared/storage/credential.ts';
import { openStorage } from '#shared/storage/open-storage.ts';
import type { StorageUse } from '#shared/storage/storage-use.ts';
import type { Storage } from '#shared/storage/storage.ts';
import { dataOf } from '../disk-cache/kept-objects.ts';
import type { ObjectCopy, WantedBytes } from './object-copy.ts';
import type { ObjectName } from './object-folder.ts';
import { HeldSpill } from './held-spill.ts';
import { openObject, type OpenedObject, type SlotObject, type SlotObjects } from './slot-objects.ts';

/** Objects that are fetched at once for one task. */
const OBJECTS_AT_ONCE = 3;
/** Last bytes of objects that a task remembers between reading their footers and fetching their columns. */
const TAILS_BYTES_MAX = 16 * 2 ** 20;

/** A file of a table or a stage, and the bytes of it that are needed; without them it is all of them. */
export type WantedObject = {
  readonly path: string;
  readonly sizeBytes: number;
  readonly etag?: string;
  readonly wanted?: WantedBytes | undefined;
  /** A copy without compression would serve the task. */
  readonly isWorthCopying?: boolean;
};

/** The table that refers to objects, and the right to read them. */
type Owner = Pick<ScanSpec, 'tableName' | 'tableUuid' | 'credential' | 'files'>;

type HeldOptions = {
  readonly tenant: TenantId;
  readonly queryId: QueryId;
  /** Bytes of objects that are not kept in the cache. */
  readonly spillBytesMax: number;
  readonly use?: StorageUse;
};

type Held = {
  readonly name: string;
  readonly object: SlotObject;
  /** How it was opened, until it is fetched. */
  opened?: OpenedObject | undefined;
  /** Where DuckDB may read what was fetched. */
  copy?: ObjectCopy;
};

/** The objects that one task reads, as local files. They are in use until it is disposed. */
export class HeldObjects implements AsyncDisposable {
  /** The signal, keys and repeats that the task lends to its storages. */
  readonly use: StorageUse;
  readonly #slot: SlotObjects;
  readonly #spill: HeldSpill;
  readonly #tenantFolder: string;
  readonly #queryId: QueryId;
  /** By location. */
  readonly #held = new Map<string, Held>();
  readonly #files = new Map<Owner['files'], ReadonlyMap<string, WantedObject>>();
  #tailBytes = 0;

  constructor(slot: SlotObjects, { tenant, queryId, spillBytesMax, use = {} }: HeldOptions) {
    this.#queryId = queryId;
    this.#spill = new HeldSpill(spillBytesMax);
    this.#slot = slot;
    this.#tenantFolder = digest(tenant);
    this.use = use;
  }

  /** The folder of all these local files: other tasks of the tenant have theirs there, too. */
  get folder(): string {
    return this.#slot.heldFolder(this.#tenantFolder);
  }

  /** A larger object comes in part: only those bytes are fetched that are needed. */
  get wholeBytesMax(): number {
    return this.#slot.wholeBytesMax;
  }

  /** Brings objects here, as far as their storage is not of this machine. @throws FileNotFound, STORAGE_ERROR, SPILL_LIMIT */
  async fetch(signal: AbortSignal, objects: readonly WantedObject[], owner: Owner): Promise<void> {
    if (owner.credential.kind === 'file') return;
    let next = 0;
    const work = async (): Promise<void> => {
      for (let object = objects[next++]; object !== undefined; object = objects[next++]) {
        signal.throwIfAborted();
        await this.#fetch(signal, object, owner);
      }
    };
    const results = await Promise.allSettled(Array.from({ length: OBJECTS_AT_ONCE }, work));
    const failed = results.find((result) => result.status === 'rejected');
    if (failed !== undefined) throw failed.reason;
  }

  async #fetch(signal: AbortSignal, object: WantedObject, owner: Owner): Promise<void> {
    const { path: location } = object;
    const held = this.#hold(object, owner);
    const storage = openStorage(location, owner.credential, this.use);
    const { wanted } = object;
    held.copy = await held.object.fetch(signal, { storage, location, opened: held.opened, wanted });
    this.#forget(held);
    this.#spill.add(held.copy, owner.tableName);
    const { journal } = held.copy;
    if (object.isWorthCopying !== true || wanted === undefined || journal === undefined) return;
    this.#slot.completeHot(this.#queryId, {
      // Under the name that the cache has for it: that of the task ends with the task.
      copy: held.copy.at(dataOf(journal)),
      credential: owner.credential,
      location,
      wanted,
    });
  }

  /** The path of an object that is here whole and that the cache keeps. */
  keptPath(location: string): string | undefined {
    const copy = this.#held.get(location)?.copy;
    return copy?.isWhole === true && copy.journal !== undefined ? dataOf(copy.journal) : undefined;
  }

  /** Bytes of the disk that the objects take beyond what the cache keeps: the task has so many fewer for its spill. */
  get spilledBytes(): number {
    return this.#spill.bytes;
  }

  #hold({ path, sizeBytes, etag = '' }: WantedObject, { tableUuid }: Owner): Held {
    const found = this.#held.get(path);
    if (found !== undefined) return found;
    const name = `${digest(JSON.stringify([tableUuid, path, sizeBytes, etag]))}${extensionOf(path)}`;
    const held: Held = { name, object: this.#slot.take(this.#named(name)) };
    this.#held.set(path, held);
    return held;
  }

  #named(name: string): ObjectName {
    return { tenantFolder: this.#tenantFolder, name };
  }

  /** Opens the storage of a location; what is here is read from its copy. */
  open(location: string, owner: Owner): Storage {
    // A copy of a part of a stage's file.
    if (location.startsWith('/')) return openStorage(location, fileCredential(location));
    const storage = openStorage(location, owner.credential, this.use);
    if (storage.isLocal) return storage;
    const file = this.#filesOf(owner).get(location);
    return {
      ...storage,
      openFile: async (_location, tailBytes) => {
        const held = file === undefined ? this.#held.get(location) : this.#hold(file, owner);
        if (held === undefined) return await storage.openFile(location, tailBytes);
        const copy = await held.object.copy();
        const tail = await copy?.tail(tailBytes);
        const here = copy === undefined || (tail?.length === 0 && tailBytes > 0) ? undefined : copy;
        const { facts, tail: last } =
          here && tail ? { facts: here.facts, tail } : await openObject({ storage, location }, tailBytes);
        if (here === undefined) this.#remember(held, { facts, tail: last });
        return {
          ...facts,
          tail: last,
          read: async (offset, length) =>
            (await here?.read(offset, length)) ?? (await storage.readRange(location, offset, length, facts.etag)),
          [Symbol.asyncDispose]: () => Promise.resolve(),
        };
      },
      read: async (_location, bytesMax) => {
        const copy = this.#held.get(location)?.copy;
        const isHere = copy?.isWhole === true && copy.facts.sizeBytes <= bytesMax;
        const bytes = isHere ? await copy.read(0, copy.facts.sizeBytes) : undefined;
        return bytes ?? (await storage.read(location, bytesMax));
      },
      readRange: async (_location, offset, length) =>
        (await this.#held.get(location)?.copy?.read(offset, length)) ??
        (await storage.readRange(location, offset, length)),
      localPath: () => this.#held.get(location)?.copy?.path ?? storage.localPath(location),
    };
  }

  /** The files of a scan by their locations. */
  #filesOf({ files }: Owner): ReadonlyMap<string, WantedObject> {
    const known = this.#files.get(files) ?? new Map(files.map((file) => [file.path, file]));
    this.#files.set(files, known);
    return known;
  }

  #remember(held: Held, opened: OpenedObject): void {
    const bytes = opened.tail.length;
    if (held.opened !== undefined || this.#tailBytes + bytes > TAILS_BYTES_MAX) return;
    this.#tailBytes += bytes;
    held.opened = opened;
  }

  #forget(held: Held): void {
    this.#tailBytes -= held.opened?.tail.length ?? 0;
    held.opened = undefined;
  }

  /** A text in which local paths are the locations that they are copies of. */
  withLocations(text: string): string {
    return Array.from(this.#held).reduce(
      (so, [location, { copy }]) => (copy === undefined ? so : so.replaceAll(copy.path, location)),
      text,
    );
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const held = [...this.#held.values()];
    this.#held.clear();
    for (const { name } of held) await this.#slot.giveBack(this.#named(name));
  }
}

/** Digits of a name: no two objects of a machine have the same. */
const NAME_DIGITS = 40;

/** DuckDB takes from it how a text file is packed. */
const extensionOf = (location: string): string => /\.[A-Za-z0-9]{1,8}$/.exec(location)?.[0] ?? '';

const digest = (text: string): string => createHash('sha256').update(text).digest('hex').slice(0, NAME_DIGITS);
