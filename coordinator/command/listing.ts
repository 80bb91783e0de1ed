import { textResult, type Answer } from './answer.ts';
import { matchesLike } from './like.ts';

/** The names that match, in their order, as a column. */
export const listing = (column: string, names: readonly string[], like: string | null): Answer =>
  textResult(
    [column],
    names
      .filter((name) => matchesLike(name, like))
      .toSorted()
      .map((name) => [name]),
  );
