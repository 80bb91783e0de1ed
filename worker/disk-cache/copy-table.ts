import { createHash } from 'node:crypto';

/** Copies that a worker has at most. */
export const COPIES_MAX = 4_096;
/** Hexadecimal digits of a copy's key. */
const KEY_DIGITS = 32;
const WORD_DIGITS = 8;
const KEY_WORDS = KEY_DIGITS / WORD_DIGITS;

/** Words of a copy: who holds it, when it was last used, in how many seconds it was, its serial number, its key. */
const [HOLDERS, USED, USES, SERIAL, KEY] = [0, 1, 2, 3, 4];
const PLACE_WORDS = KEY + KEY_WORDS;
/** Words before those of the copies: the number of changes. */
const [CHANGES, HEAD_WORDS] = [0, 1];
/** `HOLDERS` of a place without a copy. */
const FREE = -1;

/** A hold of a copy; its file stays until `release`. The same file may be copied again later, under another serial number. */
export type HeldCopy = { readonly place: number; readonly serial: number };

/**
 * The copies of a worker, in memory that its threads share: the main thread adds and removes them, the slots' threads find and hold them
 * without a message. One that is held is not removed.
 */
export class CopyTable {
  readonly buffer: SharedArrayBuffer;
  readonly #words: Int32Array<SharedArrayBuffer>;
  /** Places by key, as of the change `#seen`. */
  #places = new Map<string, number>();
  #seen = 0;

  constructor(buffer = new SharedArrayBuffer((HEAD_WORDS + COPIES_MAX * PLACE_WORDS) * 4)) {
    this.buffer = buffer;
    this.#words = new Int32Array(buffer);
  }

  /** An empty table. */
  static create(): CopyTable {
    const table = new CopyTable();
    for (let place = 0; place < COPIES_MAX; place++) table.#words[at(place, HOLDERS)] = FREE;
    return table;
  }

  /** Adds a copy, for the main thread; undefined when there are too many. */
  add(key: string, serial: number, nowMs: number): number | undefined {
    for (let place = 0; place < COPIES_MAX; place++) {
      if (Atomics.load(this.#words, at(place, HOLDERS)) !== FREE) continue;
      wordsOf(key).forEach((word, i) => Atomics.store(this.#words, at(place, KEY) + i, word));
      Atomics.store(this.#words, at(place, SERIAL), serial);
      Atomics.store(this.#words, at(place, USED), seconds(nowMs));
      Atomics.store(this.#words, at(place, USES), 0);
      Atomics.store(this.#words, at(place, HOLDERS), 0);
      Atomics.add(this.#words, CHANGES, 1);
      return place;
    }
    return undefined;
  }

  /** Removes a copy, for the main thread; false when somebody holds it. */
  remove(place: number): boolean {
    if (Atomics.compareExchange(this.#words, at(place, HOLDERS), 0, FREE) !== 0) return false;
    Atomics.add(this.#words, CHANGES, 1);
    return true;
  }

  isHeld(place: number): boolean {
    return Atomics.load(this.#words, at(place, HOLDERS)) > 0;
  }

  /** Time of its last hold, in ms since the epoch, to the second. */
  usedMs(place: number): number {
    return (Atomics.load(this.#words, at(place, USED)) >>> 0) * 1_000;
  }

  /** Number of seconds in which it was held, since it was added. */
  uses(place: number): number {
    return Atomics.load(this.#words, at(place, USES)) >>> 0;
  }

  /** Finds a copy and holds it, for any thread; undefined when there is none. */
  hold(key: string, nowMs: number): HeldCopy | undefined {
    const place = this.#find(key);
    if (place === undefined) return undefined;
    for (let holders = this.#load(place, HOLDERS); holders !== FREE; holders = this.#load(place, HOLDERS)) {
      const before = Atomics.compareExchange(this.#words, at(place, HOLDERS), holders, holders + 1);
      if (before !== holders) continue;
      // The place may have another copy by now; this one cannot go any more.
      if (this.#keyAt(place) === key) {
        const second = seconds(nowMs);
        if (Atomics.exchange(this.#words, at(place, USED), second) !== second)
          Atomics.add(this.#words, at(place, USES), 1);
        return { place, serial: this.#load(place, SERIAL) };
      }
      this.release(place);
      return undefined;
    }
    return undefined;
  }

  release(place: number): void {
    Atomics.sub(this.#words, at(place, HOLDERS), 1);
  }

  #find(key: string): number | undefined {
    const changes = Atomics.load(this.#words, CHANGES);
    if (changes !== this.#seen) {
      this.#places = new Map();
      for (let place = 0; place < COPIES_MAX; place++) {
        if (this.#load(place, HOLDERS) !== FREE) this.#places.set(this.#keyAt(place), place);
      }
      this.#seen = changes;
    }
    return this.#places.get(key);
  }

  #keyAt(place: number): string {
    const words = Array.from({ length: KEY_WORDS }, (_, i) => this.#load(place, KEY + i) >>> 0);
    return words.map((word) => word.toString(16).padStart(WORD_DIGITS, '0')).join('');
  }

  #load(place: number, word: number): number {
    return Atomics.load(this.#words, at(place, word));
  }
}

/** The key of a file as a table of a tenant refers to it: a path may later belong to another table. */
export const copyKey = (
  tenant: string,
  tableUuid: string,
  { path, sizeBytes }: { readonly path: string; readonly sizeBytes: number },
): string => digest(JSON.stringify([tenant, tableUuid, sizeBytes, path]));

/** The folder of a tenant's copies, below that of all. */
export const tenantFolder = (tenant: string): string => digest(tenant);

/** The name of a copy's file. */
export const copyName = (key: string, serial: number): string => `${key}-${serial}.parquet`;

const digest = (text: string): string => createHash('sha256').update(text).digest('hex').slice(0, KEY_DIGITS);

const at = (place: number, word: number): number => HEAD_WORDS + place * PLACE_WORDS + word;
const seconds = (ms: number): number => Math.floor(ms / 1_000) | 0;
const wordsOf = (key: string): number[] =>
  Array.from({ length: KEY_WORDS }, (_, i) => Number.parseInt(key.slice(i * WORD_DIGITS, (i + 1) * WORD_DIGITS), 16));
