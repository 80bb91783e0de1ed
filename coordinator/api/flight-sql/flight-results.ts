import { randomBytes } from 'node:crypto';
import { SkeinError } from '#shared/error.ts';
import type { Principal } from '#shared/authorization/principal.ts';
import { must } from '#shared/must.ts';
import type { FlightResult } from './flight-result.ts';

/** Bytes of results that have been read, and are kept for those who ask again: of one principal, and of all. */
const READ_BYTES_PER_PRINCIPAL_MAX = 16 * 2 ** 20;
const READ_BYTES_MAX = 64 * 2 ** 20;

type Entry = { readonly result: FlightResult; readonly owner: string; timer: NodeJS.Timeout | undefined };

type Options = {
  /** Time for which a result can be read after its statement has ended, or its last byte was taken. */
  readonly ttlMs: number;
  /** Results of one principal that are there at once. */
  readonly perPrincipalMax: number;
};

const HANDLE_BYTES = 16;

/** The results that wait for their readers. A handle is worth something in the hands of its principal only. */
export class FlightResults implements Disposable {
  readonly #options: Options;
  readonly #results = new Map<string, Entry>();
  /** Results of each principal that nobody has read yet. */
  readonly #held = new Map<string, number>();
  /** Bytes of those that have been read and are kept; of each principal the one that was read first comes first. */
  readonly #read = new Map<string, Map<string, number>>();
  #readBytes = 0;

  constructor(options: Options) {
    this.#options = options;
  }

  get size(): number {
    return this.#results.size;
  }

  /** Keeps a result; answers its handle. @throws QUEUE_FULL when the principal has too many */
  add(principal: Principal, result: FlightResult): string {
    const owner = ownerOf(principal);
    const held = this.#held.get(owner) ?? 0;
    if (held >= this.#options.perPrincipalMax) {
      throw new SkeinError('QUEUE_FULL', `you have ${held} results that wait to be read, as many as a user may`);
    }
    this.#held.set(owner, held + 1);
    const handle = randomBytes(HANDLE_BYTES).toString('hex');
    this.#results.set(handle, { result, owner, timer: undefined });
    void result.ended.then(() => this.renew(handle));
    return handle;
  }

  /** @throws NOT_FOUND for another principal's, too */
  find(principal: Principal, handle: string): FlightResult {
    const entry = this.#results.get(handle);
    if (entry?.owner !== ownerOf(principal)) {
      throw new SkeinError('NOT_FOUND', 'no such result: the ticket is wrong, or it has expired');
    }
    return entry.result;
  }

  /** Starts the time of a result anew; answers how long it is. That of a statement which still runs begins when it ends. */
  renew(handle: string): number {
    const { ttlMs } = this.#options;
    const entry = this.#results.get(handle);
    if (entry === undefined) return 0;
    this.#expire(handle, entry, ttlMs);
    return ttlMs;
  }

  /** Forgets a result after a time, unless its reader takes a byte until then. */
  #expire(handle: string, entry: Entry, afterMs: number): void {
    clearTimeout(entry.timer);
    if (!entry.result.hasEnded) return;
    const look = (): void => {
      const leftMs = entry.result.takenAtMs + this.#options.ttlMs - performance.now();
      if (leftMs > 0) this.#expire(handle, entry, leftMs);
      else this.remove(handle, EXPIRED);
    };
    entry.timer = setTimeout(look, afterMs).unref();
  }

  /**
   * A reader has got all of a result. One of few bytes is kept until it expires, as long as there is room for it, and no longer counts
   * among the principal's; another is forgotten.
   */
  wasRead(handle: string): void {
    const entry = this.#results.get(handle);
    if (entry === undefined) return;
    const bytes = entry.result.keptBytes;
    if (bytes === undefined) {
      this.remove(handle, READ);
      return;
    }
    this.renew(handle);
    const own = this.#read.get(entry.owner) ?? new Map<string, number>();
    if (own.has(handle)) return;
    this.#release(entry.owner);
    this.#read.set(entry.owner, own.set(handle, bytes));
    this.#readBytes += bytes;
    const isFull = (): boolean =>
      own.size > this.#options.perPrincipalMax || sum(own.values()) > READ_BYTES_PER_PRINCIPAL_MAX;
    while (isFull()) this.#removeFirst(own);
    while (this.#readBytes > READ_BYTES_MAX)
      this.#removeFirst(must(this.#read.values().next().value, 'bytes are somebody’s'));
  }

  /** Forgets a result; its statement is cancelled when it still runs. */
  remove(handle: string, reason: SkeinError): void {
    const entry = this.#results.get(handle);
    if (entry === undefined) return;
    clearTimeout(entry.timer);
    this.#results.delete(handle);
    const own = this.#read.get(entry.owner);
    const bytes = own?.get(handle);
    if (bytes === undefined) {
      this.#release(entry.owner);
    } else {
      this.#readBytes -= bytes;
      own?.delete(handle);
      if (own?.size === 0) this.#read.delete(entry.owner);
    }
    entry.result.cancel(reason);
  }

  /** One result less of a principal's that nobody has read. */
  #release(owner: string): void {
    const held = (this.#held.get(owner) ?? 1) - 1;
    if (held === 0) this.#held.delete(owner);
    else this.#held.set(owner, held);
  }

  #removeFirst(own: ReadonlyMap<string, number>): void {
    const [first = ''] = own.keys();
    this.remove(first, READ);
  }

  [Symbol.dispose](): void {
    const closing = new SkeinError('QUERY_CANCELLED', 'the coordinator ends');
    for (const handle of this.#results.keys()) this.remove(handle, closing);
  }
}

const READ = new SkeinError('QUERY_CANCELLED', 'the result has been read');
const EXPIRED = new SkeinError('QUERY_CANCELLED', 'the result was not read in time');

const ownerOf = ({ tenant, sub }: Principal): string => JSON.stringify([tenant, sub]);

const sum = (numbers: Iterable<number>): number => Iterator.from(numbers).reduce((total, one) => total + one, 0);
