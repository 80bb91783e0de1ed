import { ByteBudget } from '#shared/byte-budget.ts';
import { SkeinError } from '#shared/error.ts';
import { covers, type Keeper } from './keeper.ts';
import { KeptResult } from './kept-result.ts';

export type KeptResultsOptions = {
  /** Time for which a result is kept after its statement has ended, or it was last asked for. */
  readonly ttlMs: number;
  readonly bytesMax: number;
  readonly bytesInAllMax: number;
  readonly memoryBytesMax: number;
  /** Results of one principal. */
  readonly perPrincipalMax: number;
  readonly folder: string;
};

type Entry = {
  readonly result: KeptResult;
  readonly keeper: Keeper;
  /** Tells the statement from another one that is sent under its id. */
  readonly print: string;
  timer: NodeJS.Timeout | undefined;
};

const LIMITS = {
  one: 'coordinator.kept_result_bytes_max',
  all: 'coordinator.kept_results_bytes',
  help: 'ask for fewer rows, or do not have it kept',
} as const;
const EXPIRED = new SkeinError('QUERY_CANCELLED', 'the result was not asked for in time, and is no longer kept');
const RIGHTS_CHANGED = new SkeinError('QUERY_CANCELLED', 'the result is no longer kept: your rights have changed');
const REPLACED = new SkeinError('QUERY_CANCELLED', 'the result is no longer kept: later ones needed its room');

/**
 * The results that are kept, each under the id of its query, for its principal alone: under the same id another principal has another one.
 * A token reads what one with no further scope has asked for. A change of the principal's rights, which raises its session epoch, ends them.
 */
export class KeptResults implements Disposable {
  readonly #options: KeptResultsOptions;
  readonly #budget: ByteBudget;
  readonly #memory: ByteBudget;
  /** The one that was not asked for longest comes first. */
  readonly #entries = new Map<string, Entry>();

  constructor(options: KeptResultsOptions) {
    this.#options = options;
    this.#budget = new ByteBudget(options.bytesInAllMax);
    this.#memory = new ByteBudget(options.memoryBytesMax);
  }

  get size(): number {
    return this.#entries.size;
  }

  /** Bytes that are kept. */
  get bytes(): number {
    return this.#budget.bytes;
  }

  /**
   * A new result for the statement of this id, of which there is none yet. `print` says which statement it is.
   * @throws QUEUE_FULL when the principal has too many whose statements run; INVALID_REQUEST when another token has one of this id
   */
  open(keeper: Keeper, queryId: string, { print, sql }: { readonly print: string; readonly sql: string }): KeptResult {
    const { perPrincipalMax, folder, bytesMax } = this.#options;
    const isOwn = (other: Entry): boolean => isSame(other.keeper, keeper);
    const key = keyOf(keeper, queryId);
    if (this.#current(keeper, key) !== undefined)
      throw new SkeinError('INVALID_REQUEST', `the id ${queryId} is that of another statement`);
    while ([...this.#entries.values()].filter(isOwn).length >= perPrincipalMax) {
      if (!this.#dropOldest(isOwn)) {
        throw new SkeinError('QUEUE_FULL', `you have ${perPrincipalMax} statements that run and keep their results`);
      }
    }
    const result = new KeptResult({
      sql,
      folder,
      bytesMax,
      isCut: true,
      owner: keeper.tenant,
      budget: this.#budget,
      memory: this.#memory,
      limits: LIMITS,
      makeRoom: () => this.#dropOldest((other) => other.keeper.tenant === keeper.tenant),
    });
    const entry: Entry = { result, keeper, print, timer: undefined };
    this.#entries.set(key, entry);
    void result.ended.then(() => this.#renew(key, entry));
    return result;
  }

  /** The result of the id's statement, whose time begins anew. @throws INVALID_REQUEST when `print` says that it is another statement's */
  find(keeper: Keeper, queryId: string, print?: string): KeptResult | undefined {
    const key = keyOf(keeper, queryId);
    const entry = this.#current(keeper, key);
    if (entry === undefined || !covers(keeper, entry.keeper)) return undefined;
    if (print !== undefined && print !== entry.print) {
      throw new SkeinError('INVALID_REQUEST', `the id ${queryId} is that of another statement`);
    }
    this.#entries.delete(key);
    this.#entries.set(key, entry);
    this.#renew(key, entry);
    return entry.result;
  }

  /** Forgets a result, so that its id may be used again; false when there is none. A statement that still runs is cancelled. */
  drop(keeper: Keeper, queryId: string, reason: SkeinError): boolean {
    const key = keyOf(keeper, queryId);
    const entry = this.#current(keeper, key);
    if (entry === undefined || !covers(keeper, entry.keeper)) return false;
    this.#drop(key, entry, reason);
    return true;
  }

  [Symbol.dispose](): void {
    const closing = new SkeinError('QUERY_CANCELLED', 'the coordinator ends');
    for (const [key, entry] of this.#entries) this.#drop(key, entry, closing);
  }

  /** The entry of the key; one from before a change of the principal's rights is forgotten. */
  #current(keeper: Keeper, key: string): Entry | undefined {
    const entry = this.#entries.get(key);
    if (entry === undefined || entry.keeper.sess_epoch >= keeper.sess_epoch) return entry;
    this.#drop(key, entry, RIGHTS_CHANGED);
    return undefined;
  }

  #renew(key: string, entry: Entry): void {
    clearTimeout(entry.timer);
    if (!entry.result.hasEnded || this.#entries.get(key) !== entry) return;
    entry.timer = setTimeout(() => this.#drop(key, entry, EXPIRED), this.#options.ttlMs).unref();
  }

  /** Forgets the one that has ended and was not asked for longest; false when there is none. */
  #dropOldest(matches: (entry: Entry) => boolean): boolean {
    for (const [key, entry] of this.#entries) {
      if (!entry.result.hasEnded || !matches(entry)) continue;
      this.#drop(key, entry, REPLACED);
      return true;
    }
    return false;
  }

  #drop(key: string, entry: Entry, reason: SkeinError): void {
    clearTimeout(entry.timer);
    this.#entries.delete(key);
    entry.result.drop(reason);
  }
}

const keyOf = ({ tenant, sub }: Keeper, queryId: string): string =>
  JSON.stringify([tenant, sub, queryId.toLowerCase()]);

const isSame = (one: Keeper, other: Keeper): boolean => one.tenant === other.tenant && one.sub === other.sub;
