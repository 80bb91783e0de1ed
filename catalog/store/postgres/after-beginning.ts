const LAST = 0x10_ff_ff;
/** The surrogates of UTF-16, which are no characters, lie behind it. */
const BEFORE_SURROGATES = 0xd7_ff;
const AFTER_SURROGATES = 0xe0_00;

/**
 * The first text in the order of code points (collation "C") behind all that begin with this one; undefined: there is none. A plan that was made
 * for any parameter finds such a range in an index, which it cannot for LIKE.
 */
export function afterBeginning(beginning: string): string | undefined {
  const points = Array.from(beginning.toWellFormed(), (character) => character.codePointAt(0) ?? 0);
  while (points.at(-1) === LAST) points.pop();
  const last = points.pop();
  if (last === undefined) return undefined;
  return String.fromCodePoint(...points, last === BEFORE_SURROGATES ? AFTER_SURROGATES : last + 1);
}
