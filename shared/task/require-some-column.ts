import { SkeinError } from '../error.ts';

/** Names that a message shows of each list. */
const SHOWN_MAX = 20;

/**
 * Refuses a file that is loaded by the names of its columns when none of them is wanted: all its rows would be NULL.
 * @param given the names in the file @param key what is compared of a name
 * @throws INVALID_ARGUMENT, with both lists
 */
export function requireSomeColumn(
  file: string,
  given: readonly string[],
  wanted: readonly string[],
  key: (name: string) => string,
): void {
  const found = new Set(given.map(key));
  if (given.length === 0 || wanted.length === 0 || wanted.some((name) => found.has(key(name)))) return;
  throw new SkeinError(
    'INVALID_ARGUMENT',
    `no column of the file ${file} is one of the table: the file has ${listOf(given)}, the table ${listOf(wanted)}`,
  );
}

const listOf = (names: readonly string[]): string =>
  `(${names.slice(0, SHOWN_MAX).join(', ')}${names.length > SHOWN_MAX ? ', ...' : ''})`;
