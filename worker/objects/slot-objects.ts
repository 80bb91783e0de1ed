import type { QueryId } from '#shared/id.ts';
import { FileReplaced, type Storage } from '#shared/storage/storage.ts';
import { REQUEST_BYTES } from './fetch-segments.ts';
import type { ObjectCopy, WantedBytes } from './object-copy.ts';
import type { ObjectFolder, ObjectName } from './object-folder.ts';
import { HotObjects, type HotPart } from './hot-objects.ts';
import type { ObjectFacts } from './object-journal.ts';

/** An object as it was opened, and its last bytes. */
export type OpenedObject = { readonly facts: ObjectFacts; readonly tail: Buffer };

/** An object that tasks of one slot have in use: all of them share its copy. */
export class SlotObject {
  readonly #folder: ObjectFolder;
  readonly #name: ObjectName;
  #copy: ObjectCopy | undefined;
  #turn: Promise<unknown> = Promise.resolve();
  users = 0;

  constructor(folder: ObjectFolder, name: ObjectName) {
    this.#folder = folder;
    this.#name = name;
  }

  /** The copy that is here by now, whatever it has. */
  copy(): Promise<ObjectCopy | undefined> {
    return this.#inTurn(async () => (this.#copy ??= await this.#folder.find(this.#name)));
  }

  /** Fetches bytes, one task after another, so that the second one finds what the first has brought. @throws as `ObjectCopy.fetch` */
  fetch(
    signal: AbortSignal,
    from: {
      readonly storage: Storage;
      readonly location: string;
      readonly opened: OpenedObject | undefined;
      /** Absent = the whole object. */
      readonly wanted: WantedBytes | undefined;
    },
  ): Promise<ObjectCopy> {
    return this.#inTurn(async () => {
      const copy = (this.#copy ??= await this.#folder.find(this.#name));
      if (copy !== undefined) {
        try {
          const isSame = from.opened?.facts.etag === copy.facts.etag;
          await copy.fetch(signal, { ...from, tail: isSame ? from.opened?.tail : undefined });
          this.#folder.used(this.#name, copy);
          return copy;
        } catch (error) {
          // Another task may have its file open by now.
          if (!(error instanceof FileReplaced) || this.users > 1) throw error;
        }
      }
      return await this.#fetchNew(signal, from);
    });
  }

  async #fetchNew(signal: AbortSignal, { opened, ...from }: Parameters<SlotObject['fetch']>[1]): Promise<ObjectCopy> {
    // The last bytes of a whole object come with its facts.
    const { facts, tail } = opened ?? (await openObject(from, from.wanted === undefined ? REQUEST_BYTES : 0));
    const copy = await this.#folder.create(this.#name, facts);
    this.#copy = copy;
    await copy.fetch(signal, { ...from, tail });
    await this.#folder.keep(this.#name, copy);
    this.#folder.used(this.#name, copy);
    return copy;
  }

  /** Nobody uses it any more. */
  release(): Promise<void> {
    return this.#inTurn(async () => {
      if (this.#copy !== undefined) await this.#folder.release(this.#copy.path);
      this.#copy = undefined;
    });
  }

  #inTurn<T>(work: () => Promise<T>): Promise<T> {
    const done = this.#turn.then(work);
    this.#turn = done.catch(() => undefined);
    return done;
  }
}

/** Opens an object. @throws FileNotFound, STORAGE_ERROR */
export async function openObject(
  { storage, location }: { readonly storage: Storage; readonly location: string },
  tailBytes: number,
): Promise<OpenedObject> {
  await using file = await storage.openFile(location, tailBytes);
  const { sizeBytes, etag, checksums, tail } = file;
  return { facts: { sizeBytes, etag, checksums }, tail };
}

/** The objects that tasks of one slot have in use. */
export class SlotObjects {
  readonly #folder: ObjectFolder;
  readonly #used = new Map<string, SlotObject>();
  readonly #hot: HotObjects;

  constructor(folder: ObjectFolder) {
    this.#folder = folder;
    this.#hot = new HotObjects(folder.settings.bytesMax);
  }

  /** A larger object comes in part: only those bytes are fetched that are needed. */
  get wholeBytesMax(): number {
    return WHOLE_BYTES_MAX[this.#folder.settings.holes];
  }

  heldFolder(tenantFolder: string): string {
    return this.#folder.heldFolder(tenantFolder);
  }

  /** Begins a use, which ends with `giveBack`. */
  take(name: ObjectName): SlotObject {
    const key = keyOf(name);
    const object = this.#used.get(key) ?? new SlotObject(this.#folder, name);
    object.users += 1;
    this.#used.set(key, object);
    return object;
  }

  /** Begins to fetch what a hot object lacks (`HotObjects`); no task waits for it. */
  completeHot(queryId: QueryId, part: HotPart): void {
    // Each kept copy has a journal of its own: the count begins with it.
    const { journal } = part.copy;
    if (journal !== undefined && this.#hot.isDue(journal, queryId)) void this.#hot.complete(part);
  }

  async giveBack(name: ObjectName): Promise<void> {
    const key = keyOf(name);
    const object = this.#used.get(key);
    if (object === undefined) return;
    object.users -= 1;
    if (object.users > 0) return;
    this.#used.delete(key);
    await object.release();
  }
}

/** A small object is one request; tests want holes in small objects, too. */
const WHOLE_BYTES_MAX = { on: 2 ** 20, off: Infinity, poisoned: 0 };

const keyOf = ({ tenantFolder, name }: ObjectName): string => `${tenantFolder}/${name}`;
