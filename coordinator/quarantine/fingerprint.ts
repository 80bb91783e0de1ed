import { foldIdentifier } from '#shared/sql/fold-identifier.ts';
import { hash } from 'node:crypto';
import { Tokenizer } from '#shared/sql/tokenizer.ts';

/** Only this many characters count: statements that differ only after them have the same shape. */
const TEXT_MAX = 32 * 1024;
const DIGITS = 16;

/**
 * The shape of a statement: its words and symbols without comments, case, spacing and the values of literals; a list of literals is as
 * one. Two statements of one shape do the same work on other values.
 */
export function fingerprint(sql: string): string {
  // Hashed in one call: a call for each word would take ten times as long.
  const text = [...shape(sql.slice(0, TEXT_MAX)), ''].join('\0');
  return hash('sha256', text).slice(0, DIGITS);
}

/** Characters of a shape that a log has. */
const SHOWN_MAX = 2_000;

/** The shape as a text. */
export const shownShape = (sql: string): string => [...shape(sql.slice(0, TEXT_MAX))].join(' ').slice(0, SHOWN_MAX);

function* shape(text: string): Generator<string> {
  const tokens = new Tokenizer(text);
  let last = '';
  let held = '';
  try {
    for (let token = tokens.next(); token.kind !== 'end'; token = tokens.next()) {
      const isLiteral = token.kind === 'string' || token.kind === 'bits' || token.kind === 'number';
      const words = text.slice(token.start, token.end);
      const part = isLiteral ? '?' : token.kind === 'quoted' ? words : foldIdentifier(words);
      if (part === ',' && last === '?') {
        held = ',';
        continue;
      }
      if (held !== '' && part !== '?') yield held;
      if (held === '' || part !== '?') yield part;
      held = '';
      last = part;
    }
  } catch {
    // An unclosed quote or comment: the shape is made of the tokens before it.
  }
}
