/** Maximum length of a name for which near ones are searched. */
const NAME_LENGTH_MAX = 128;
/** Maximum edits between a name and a near one; fewer for a short name. */
const EDITS_MAX = 6;
/** Maximum steps of one search, a few milliseconds: names beyond it are not compared. */
const STEPS_MAX = 250_000;

/**
 * Returns the name of `names` with the fewest edits from `name`, ignoring case, for "did you mean"; undefined when none is near (within a
 * third of its length). It takes a few milliseconds, however many and long the names are.
 */
export function nearestName(name: string, names: Iterable<string>): string | undefined {
  if (name.length > NAME_LENGTH_MAX) return undefined;
  const wanted = name.toLowerCase();
  let best: string | undefined;
  let editsMax = Math.min(EDITS_MAX, Math.max(1, Math.ceil(name.length / 3)));
  let steps = 0;
  for (const candidate of names) {
    if (Math.abs(candidate.length - wanted.length) > editsMax) continue;
    const edits = editDistance(wanted, candidate.toLowerCase(), editsMax);
    if (edits <= editsMax && edits < wanted.length) {
      best = candidate;
      if (edits === 0) return best;
      editsMax = edits - 1;
    }
    steps += (wanted.length + 1) * (2 * editsMax + 1);
    if (steps > STEPS_MAX) return best;
  }
  return best;
}

/** Returns the end of a message: `; did you mean x?`, or nothing. */
export const didYouMean = (name: string | undefined): string => (name === undefined ? '' : `; did you mean ${name}?`);

/**
 * Returns the Levenshtein distance (insertions, deletions, replacements), computed within a band of `max` around the diagonal; any value
 * above `max` means more than `max`.
 */
function editDistance(a: string, b: string, max: number): number {
  const beyond = max + 1;
  let row = Array.from({ length: b.length + 1 }, (_, j) => (j <= max ? j : beyond));
  for (let i = 1; i <= a.length; i++) {
    const next = Array.from(row, () => beyond);
    if (i <= max) next[0] = i;
    let fewest = beyond;
    for (let j = Math.max(1, i - max); j <= Math.min(b.length, i + max); j++) {
      const replaced = (row[j - 1] ?? beyond) + (a[i - 1] === b[j - 1] ? 0 : 1);
      const edits = Math.min(replaced, (row[j] ?? beyond) + 1, (next[j - 1] ?? beyond) + 1);
      next[j] = edits;
      fewest = Math.min(fewest, edits);
    }
    if (fewest > max) return beyond;
    row = next;
  }
  return row[b.length] ?? beyond;
}
