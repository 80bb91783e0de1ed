import { setImmediate } from 'node:timers/promises';
import type { Pages } from '../catalog-client/pages.ts';
import { pagedTextResult, type PagedAnswer } from '../operation/answer.ts';
import { matchesLike } from './like.ts';

/** Time for which names are compared with a pattern before others have a turn: one name may take milliseconds. */
const TURN_MS = 20;

/** The names that match `like`, in their order, as a column. */
export const listing = (column: string, names: Pages<string>, like: string | null): PagedAnswer =>
  pagedTextResult([column], matching(names, like));

async function* matching(pages: Pages<string>, like: string | null): Pages<readonly [string]> {
  for await (const names of pages) {
    const found: (readonly [string])[] = [];
    let endMs = performance.now() + TURN_MS;
    for (const name of names) {
      if (matchesLike(name, like)) found.push([name]);
      if (performance.now() < endMs) continue;
      await setImmediate();
      endMs = performance.now() + TURN_MS;
    }
    yield found;
  }
}
