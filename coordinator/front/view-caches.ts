import type { CompareReply, TranslateRequest } from '../planner/planner.ts';
import { FairCache } from './fair-cache.ts';

/** Entries and memory of each of the two caches. */
const BOUNDS = { entriesMax: 1_000, bytesMax: 4 * 2 ** 20 };
/** Bytes of an entry without its texts. */
const ENTRY_BYTES = 200;

/** Answers of planners about the queries of other engines' views. Each entry belongs to one user. */
export class ViewCaches {
  readonly #translations = new FairCache<string>(BOUNDS, (sql) => ENTRY_BYTES + 2 * sql.length);
  readonly #comparisons = new FairCache<CompareReply>(
    BOUNDS,
    ({ different }) => ENTRY_BYTES + 2 * (different?.length ?? 0),
  );

  translated(owner: string, { dialect, sql }: TranslateRequest, work: () => Promise<string>): Promise<string> {
    return kept(this.#translations, { owner, key: JSON.stringify([owner, dialect, sql]) }, work);
  }

  /** @param key the query with its tables as they are */
  compared(owner: string, key: string, work: () => Promise<CompareReply>): Promise<CompareReply> {
    return kept(this.#comparisons, { owner, key }, work);
  }
}

async function kept<T>(
  cache: FairCache<T>,
  { owner, key }: { readonly owner: string; readonly key: string },
  work: () => Promise<T>,
): Promise<T> {
  const known = cache.get(key);
  if (known !== undefined) return known;
  const made = await work();
  cache.set(owner, key, made);
  return made;
}
