import { randomBytes } from 'node:crypto';
import { SkeinError } from '#shared/error.ts';
import type { Principal } from '#shared/authorization/principal.ts';
import type { FlightResult } from './flight-result.ts';

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
  readonly #held = new Map<string, number>();

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

  /** Starts the time of a result anew; answers how long it is. */
  renew(handle: string): number {
    const { ttlMs } = this.#options;
    const entry = this.#results.get(handle);
    if (entry === undefined) return 0;
    clearTimeout(entry.timer);
    entry.timer = setTimeout(() => this.remove(handle, EXPIRED), ttlMs).unref();
    return ttlMs;
  }

  /** Forgets a result; its statement is cancelled when it still runs. */
  remove(handle: string, reason: SkeinError): void {
    const entry = this.#results.get(handle);
    if (entry === undefined) return;
    clearTimeout(entry.timer);
    this.#results.delete(handle);
    const held = (this.#held.get(entry.owner) ?? 1) - 1;
    if (held === 0) this.#held.delete(entry.owner);
    else this.#held.set(entry.owner, held);
    entry.result.cancel(reason);
  }

  [Symbol.dispose](): void {
    const closing = new SkeinError('QUERY_CANCELLED', 'the coordinator ends');
    for (const handle of this.#results.keys()) this.remove(handle, closing);
  }
}

const EXPIRED = new SkeinError('QUERY_CANCELLED', 'the result was not read in time');

const ownerOf = ({ tenant, sub }: Principal): string => JSON.stringify([tenant, sub]);
