import { existsSync, statfsSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { setImmediate } from 'node:timers/promises';
import { unreachable } from '#shared/must.ts';
import { join } from 'node:path';
import { LRUCache } from 'lru-cache';
import type { Logger } from '#shared/log/logger.ts';
import { makePrivateFolder } from '#shared/storage/private-folder.ts';
import { COPY_SHARE } from './cache-size.ts';
import { chooseVictims, type Newcomer } from './choose-victims.ts';
import { Copier } from './copier.ts';
import type { CopyReply, CopyRequest } from './copy-file.ts';
import { COPIES_MAX, CopyTable, copyName, tenantFolder } from './copy-table.ts';
import type { CopySettings, FileRead, ReadsMessage } from './copied-files.ts';
import { hasSecondName, keptObjects, removeKept, type KeptObject } from './kept-objects.ts';
import { addReads, countRead, type ReadRate } from './read-rate.ts';

/** Files whose reads are remembered, and those that are not copied again. */
const SEEN_MAX = 16_384;
const REFUSED_MAX = 16_384;
/** Time after which a file for which there was no room is thought of again. */
const NO_ROOM_MS = 60_000;
/** Files of one tenant that wait to be copied. */
const WANTED_MAX = 1_024;
/** Space of the disk that is left to others. */
const DISK_FREE_MIN = 2 ** 30;
/** Interval at which copies that nobody has used for long are removed. */
const LOOK_MS = 30_000;

const NEVER_READ: ReadRate = { reads: 0, atMs: 0 };

export type DiskCacheOptions = {
  readonly folder: string;
  /** The folder of kept copies of objects. */
  readonly keptFolder: string;
  /** Bytes of all copies; 0 = none are made. */
  readonly bytesMax: number;
  /** Smaller files are not copied. */
  readonly fileBytesMin: number;
  /** A copy that nobody has used for so long is removed. */
  readonly unusedMs: number;
  readonly log: Logger;
};

/**
 * A copy without compression, or of an object. `place`: that of the first kind in the table; `rate`: how often it is read, with the first
 * `uses` uses that the table has counted; `tenant`: the folder of its tenant.
 */
type Copy = {
  readonly key: string;
  readonly place: number | null;
  readonly tenant: string;
  readonly bytes: number;
  readonly path: string;
  rate: ReadRate;
  uses: number;
};
/** Reads of a file that has no copy; `queryId`: of the last of them. `copyBytes`: of a copy that it had, or that was not kept. */
type Seen = { readonly queryId: string; readonly rate: ReadRate; readonly copyBytes?: number | undefined };

/**
 * Copies of data files without compression, on the worker's own disk: unpacking takes a third of the time of a query that reads files from
 * memory, and each of them does it again. A file is copied beside the queries, at a low priority, when a second query has read it; from
 * then on `read_parquet` is given the copy's path (`copied-files.ts`). Files of a table never change once written, so no copy becomes old.
 *
 * Copies of objects of buckets (`kept-objects.ts`) have the same room. The slots make them, and tell of them when they are there.
 */
export class DiskCache implements Disposable {
  readonly #options: DiskCacheOptions;
  readonly #table = CopyTable.create();
  readonly #copier = new Copier();
  /** By key. */
  readonly #copies = new Map<string, Copy>();
  readonly #seen = new LRUCache<string, Seen>({ max: SEEN_MAX });
  readonly #refused = new LRUCache<string, true>({ max: REFUSED_MAX });
  /** By tenant; the one that was served last is at the end. */
  readonly #wanted = new Map<string, Map<string, FileRead>>();
  readonly #timer: NodeJS.Timeout;
  #copying: string | undefined;
  #serial = 0;
  #isClosed = false;

  constructor(options: DiskCacheOptions) {
    this.#options = options;
    this.#timer = setInterval(() => this.#removeUnused(), LOOK_MS);
    this.#timer.unref();
  }

  /** How slots find the copies; null when there are none. */
  get settings(): CopySettings | null {
    const { folder, fileBytesMin, bytesMax } = this.#options;
    return bytesMax === 0 ? null : { table: this.#table.buffer, folder, fileBytesMin };
  }

  get bytes(): number {
    return this.#copies.values().reduce((sum, { bytes }) => sum + bytes, 0);
  }

  get count(): number {
    return this.#copies.size;
  }

  /** Files that are to be copied, the one at work included. */
  get waiting(): number {
    return this.#wanted.values().reduce((sum, { size }) => sum + size, this.#copying === undefined ? 0 : 1);
  }

  /** Takes notice of files that a task reads and that have no copy, or of copies that it could not read. */
  take(message: ReadsMessage): void {
    switch (message.kind) {
      case 'reads':
        for (const read of message.reads) this.#noteRead(read);
        return;
      case 'unreadable':
        return this.#giveUp(message.keys);
      case 'object':
        return this.#noteObject(message);
      default:
        return unreachable(message);
    }
  }

  /** Takes the objects that an earlier process has kept, those that were used last, as far as there is room. */
  async adopt(): Promise<void> {
    for (const object of await keptObjects(this.#options.keptFolder)) {
      const isDouble = this.#copies.has(object.key);
      if (isDouble || this.bytes + object.bytes > this.#options.bytesMax) await removeKept(object.path);
      else this.#setObject(object, { reads: 1, atMs: Date.now() });
    }
  }

  #setObject({ key, tenant, path, bytes }: KeptObject, rate: ReadRate): void {
    this.#copies.set(key, { key, place: null, tenant, bytes, path, rate, uses: 0 });
  }

  /** An object is read; it stays if it is read more often than others whose room it takes. */
  #noteObject(object: KeptObject): void {
    const { key, tenant, path, bytes } = object;
    const known = this.#copies.get(key);
    const rate = countRead(known?.rate ?? this.#seen.get(key)?.rate ?? NEVER_READ, Date.now());
    if (known !== undefined && known.path === path && known.bytes >= bytes) {
      known.rate = rate;
      return;
    }
    this.#copies.delete(key);
    const victims = this.#hasDisk() ? this.#roomFor({ tenant, bytes, reads: rate.reads }) : undefined;
    if (victims?.every((copy) => this.#remove(copy)) === true) {
      this.#setObject(object, rate);
      return;
    }
    this.#remember(key, rate, bytes);
    this.#delete(path, 'object');
  }

  #noteRead(read: FileRead): void {
    const { key, tenant, queryId, sizeBytes } = read;
    const last = this.#seen.get(key);
    if (last?.queryId === queryId) return;
    this.#seen.set(key, { ...last, queryId, rate: countRead(last?.rate ?? NEVER_READ, Date.now()) });
    if (last === undefined || sizeBytes > this.#copyBytesMax) return;
    if (this.#refused.has(key) || this.#copying === key || this.#copies.has(key)) return;
    const own = this.#wanted.get(tenant) ?? new Map<string, FileRead>();
    if (own.size >= WANTED_MAX && !own.has(key)) return;
    this.#wanted.set(tenant, own.set(key, read));
    void this.#copyNext();
  }

  get #copyBytesMax(): number {
    return Math.floor(this.#options.bytesMax / COPY_SHARE);
  }

  /** Copies what is wanted, one file after the other, and by turns for the tenants. */
  async #copyNext(): Promise<void> {
    if (this.#copying !== undefined) return;
    for (let next = this.#pick(); next !== undefined && !this.#isClosed; next = this.#pick()) {
      this.#copying = next.key;
      // A copy that was never made hardly has fewer bytes than the packed file.
      const bytes = this.#seen.get(next.key)?.copyBytes ?? next.sizeBytes;
      const hasRoom = this.#roomFor(this.#newcomer(next, bytes)) !== undefined && this.#hasDisk();
      if (hasRoom) await this.#copy(next);
      else this.#refuse(next.key, NO_ROOM_MS);
      // Looking for room is work, and the files may be many.
      await setImmediate();
      this.#copying = undefined;
    }
  }

  #pick(): FileRead | undefined {
    for (const [tenant, own] of this.#wanted) {
      this.#wanted.delete(tenant);
      for (const [key, wanted] of own) {
        own.delete(key);
        if (own.size > 0) this.#wanted.set(tenant, own);
        return wanted;
      }
    }
    return undefined;
  }

  async #copy(wanted: FileRead): Promise<void> {
    const serial = ++this.#serial;
    const folder = join(this.#options.folder, tenantFolder(wanted.tenant));
    const path = join(folder, copyName(wanted.key, serial));
    const request: CopyRequest = { source: wanted.path, real: wanted.real, target: path, bytesMax: this.#copyBytesMax };
    const reply = await this.#made(folder, request);
    if (this.#isClosed) return;
    if ('refused' in reply) {
      // An object that went meanwhile may come again.
      if (existsSync(wanted.path)) this.#refuse(wanted.key);
      this.#options.log.debug({ path: wanted.path, why: reply.refused }, 'a data file is not copied');
      this.#delete(`${path}.tmp`);
      return;
    }
    const victims = this.#roomFor(this.#newcomer(wanted, reply.bytes));
    if (victims?.every((copy) => this.#remove(copy)) === true) {
      const place = this.#table.add(wanted.key, serial, Date.now());
      if (place !== undefined) {
        const { key } = wanted;
        const tenant = tenantFolder(wanted.tenant);
        this.#copies.set(key, { key, place, tenant, bytes: reply.bytes, path, rate: this.#rateOf(key), uses: 0 });
        return;
      }
    }
    this.#delete(path);
    this.#remember(wanted.key, this.#rateOf(wanted.key), reply.bytes);
    this.#refuse(wanted.key, NO_ROOM_MS);
  }

  /** Remembers how often a file is read that has no copy, and how many bytes a copy of it has. */
  #remember(key: string, rate: ReadRate, copyBytes: number): void {
    this.#seen.set(key, { queryId: this.#seen.get(key)?.queryId ?? '', rate, copyBytes });
  }

  /** @param forMs absent = as long as it is remembered */
  #refuse(key: string, forMs = 0): void {
    this.#refused.set(key, true, { ttl: forMs });
  }

  async #made(folder: string, request: CopyRequest): Promise<CopyReply> {
    try {
      makePrivateFolder(folder);
      return await this.#copier.copy(request);
    } catch (error) {
      return { refused: String(error) };
    }
  }

  #newcomer({ key, tenant }: FileRead, bytes: number): Newcomer {
    return { tenant: tenantFolder(tenant), bytes, reads: this.#rateOf(key).reads };
  }

  /** The copies that make room for a new one; undefined when it is not to be kept. */
  #roomFor(newcomer: Newcomer): readonly Copy[] | undefined {
    const { bytesMax } = this.#options;
    const objects = this.#copies.values().reduce((sum, { place }) => sum + (place === null ? 1 : 0), 0);
    const copies = this.#copies.size - objects;
    if (this.bytes + newcomer.bytes <= bytesMax && copies < COPIES_MAX) return [];
    const residents = Array.from(this.#copies.values(), (copy) => {
      this.#countUses(copy);
      return { copy, tenant: copy.tenant, bytes: copy.bytes, reads: copy.rate.reads, isHeld: this.#isHeld(copy) };
    });
    // Only copies without compression have a place in the table.
    const victims = chooseVictims(residents, newcomer, { bytesMax, countMax: COPIES_MAX + objects });
    return victims?.map(({ copy }) => copy);
  }

  #isHeld({ place, path }: Copy): boolean {
    return place === null ? hasSecondName(path) : this.#table.isHeld(place);
  }

  /** How often a file without a copy is read now. */
  #rateOf(key: string): ReadRate {
    return addReads(this.#seen.get(key)?.rate ?? NEVER_READ, 0, Date.now());
  }

  /** Brings the rate of a copy up to now. */
  #countUses(copy: Copy): void {
    const uses = copy.place === null ? 0 : this.#table.uses(copy.place);
    copy.rate = addReads(copy.rate, uses - copy.uses, Date.now());
    copy.uses = uses;
  }

  #hasDisk(): boolean {
    try {
      const { bavail, bsize } = statfsSync(this.#options.folder);
      return bavail * bsize > DISK_FREE_MIN + this.#copyBytesMax;
    } catch {
      return false;
    }
  }

  /** Removes a copy; false when somebody reads it. */
  #remove(copy: Copy): boolean {
    const { key, place, path } = copy;
    this.#countUses(copy);
    if (place !== null && !this.#table.remove(place)) return false;
    this.#copies.delete(key);
    this.#remember(key, copy.rate, copy.bytes);
    this.#delete(path, place === null ? 'object' : 'copy');
    return true;
  }

  /** Does not wait: the system takes 0.2 s to delete a file of 600 MB. */
  #delete(path: string, kind: 'copy' | 'object' = 'copy'): void {
    (kind === 'object' ? removeKept(path) : rm(path, { force: true })).catch((error: unknown) => {
      this.#options.log.warn({ err: error, path }, 'a copy of a data file cannot be deleted');
    });
  }

  #removeUnused(): void {
    const nowMs = Date.now();
    for (const copy of this.#copies.values()) {
      this.#countUses(copy);
      const { place } = copy;
      if (place !== null && nowMs - this.#table.usedMs(place) > this.#options.unusedMs) this.#remove(copy);
    }
  }

  /** Removes the copies that nobody reads at this moment, and all of objects. @returns their bytes */
  clear(): number {
    let bytes = 0;
    for (const copy of this.#copies.values()) if (this.#remove(copy)) bytes += copy.bytes;
    return bytes;
  }

  /** Removes copies of which a task could not read one. */
  #giveUp(keys: readonly string[]): void {
    for (const key of keys) {
      const copy = this.#copies.get(key);
      if (copy !== undefined) this.#remove(copy);
    }
  }

  [Symbol.dispose](): void {
    this.#isClosed = true;
    clearInterval(this.#timer);
    this.#copier.close();
  }
}
