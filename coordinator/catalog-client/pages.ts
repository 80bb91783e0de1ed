import { setImmediate as nextTurn } from 'node:timers/promises';

/** A list that comes in parts, so that one of any length holds up nobody else. */
export type Pages<T> = AsyncGenerator<readonly T[], void>;

/** Returns the first items of a list, at most `itemsMax`; no later page is asked for. */
export async function firstOf<T>(pages: Pages<T>, itemsMax: number): Promise<readonly T[]> {
  const items: T[] = [];
  for await (const page of pages) {
    items.push(...page.slice(0, itemsMax - items.length));
    if (items.length >= itemsMax) break;
  }
  return items;
}

/** A list in memory, in pages of this size, each in a turn of its own. */
export async function* inPages<T>(items: readonly T[], size: number): Pages<T> {
  for (let begin = 0; begin < items.length; begin += size) {
    if (begin > 0) await nextTurn();
    yield items.slice(begin, begin + size);
  }
}

/** A list in memory as a single page. */
export async function* onePage<T>(items: readonly T[]): Pages<T> {
  yield items;
}

/** Asks for one page after the other, each after the last item of the one before; undefined = the first. */
export async function* pages<T>(
  load: (after: T | undefined) => Promise<{ readonly items: readonly T[]; readonly more: boolean }>,
): Pages<T> {
  let after: T | undefined;
  for (let more = true; more;) {
    const page = await load(after);
    yield page.items;
    after = page.items.at(-1);
    more = page.more && after !== undefined;
  }
}
