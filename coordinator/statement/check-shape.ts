import { SkeinError } from '#shared/error.ts';
import { checkIdentifier } from '#shared/sql/check-identifier.ts';
import { foldKeyword } from '#shared/sql/fold-identifier.ts';
import type { StatementLimits, TextSpan } from './statement.ts';
import { identifierText, Tokenizer, withPlainSpaces, type Token } from '#shared/sql/tokenizer.ts';

const OPEN = new Set(['(', '[', '{']);
const CLOSE = new Set([')', ']', '}']);
const PREFIX_SYMBOLS = new Set(['-', '+', '~', '!', '@']);

/**
 * Checks a text in one pass, before any parser recurses into it: it must hold one statement, within the limits of length and nesting,
 * without a name that is too long.
 * @returns the statement without what surrounds it (space, comments, `;`), its spaces plain.
 * @throws PAYLOAD_TOO_LARGE, STATEMENT_TOO_COMPLEX, NAME_TOO_LONG, SYNTAX_ERROR (nothing there, a second statement, a quote that is not
 * closed).
 */
export function checkShape(text: string, limits: StatementLimits): TextSpan {
  if (Buffer.byteLength(text) > limits.bytesMax) {
    throw new SkeinError('PAYLOAD_TOO_LARGE', `the statement is longer than ${limits.bytesMax} bytes`);
  }
  const nul = text.indexOf('\0');
  if (nul >= 0) throw new SkeinError('SYNTAX_ERROR', 'the statement holds a NUL character', { position: nul });
  const tokens = new Tokenizer(text);
  const depth = new Depth(limits.depthMax);
  let first: Token | null = null;
  let last: Token | null = null;
  let token = tokens.next();
  for (; token.kind !== 'end'; token = tokens.next()) {
    if (token.kind === 'symbol' && text[token.start] === ';') {
      if (first === null) continue;
      break;
    }
    depth.add(text, token);
    if (token.kind === 'word' || token.kind === 'quoted') checkIdentifier(identifierText(text, token), token.start);
    first ??= token;
    last = token;
  }
  if (first === null || last === null) {
    throw new SkeinError('SYNTAX_ERROR', 'the statement is empty', { position: token.start });
  }
  checkReference(text, last.end);
  while (token.kind !== 'end') {
    token = tokens.next();
    if (token.kind === 'end' || text[token.start] === ';') continue;
    throw new SkeinError('SYNTAX_ERROR', 'only one statement at a time', { position: token.start });
  }
  return { text: withPlainSpaces(text).slice(first.start, last.end), offset: first.start };
}

/**
 * A path of a stage that ends in the sign of a comment would be cut off there, and name something else. @throws SYNTAX_ERROR for
 * `LIST @stage/a--b`
 */
function checkReference(text: string, end: number): void {
  const next = text.slice(end, end + 2);
  if (next !== '--' && next !== '/*') return;
  const space = Math.max(...[' ', '\n', '\t'].map((char) => text.lastIndexOf(char, end)));
  if (!text.slice(space + 1, end).includes('@')) return;
  throw new SkeinError('SYNTAX_ERROR', 'a path with the sign of a comment stands in quotes', { position: end });
}

/** Nesting so far: brackets, CASE ... END, and runs of prefix operators (`NOT NOT x`, `- - x`). */
class Depth {
  readonly #max: number;
  #brackets = 0;
  #cases = 0;
  #prefixes = 0;

  constructor(max: number) {
    this.#max = max;
  }

  add(text: string, token: Token): void {
    const char = text.charAt(token.start);
    const word = token.kind === 'word' && token.end - token.start <= 4 ? wordOf(text, token) : '';
    if (token.kind === 'symbol' && OPEN.has(char)) this.#brackets += 1;
    else if (token.kind === 'symbol' && CLOSE.has(char)) this.#brackets -= 1;
    else if (word === 'CASE') this.#cases += 1;
    else if (word === 'END' && this.#cases > 0) this.#cases -= 1;
    const isPrefix = word === 'NOT' || (token.kind === 'symbol' && PREFIX_SYMBOLS.has(char));
    this.#prefixes = isPrefix ? this.#prefixes + 1 : 0;
    if (this.#brackets + this.#cases + this.#prefixes > this.#max) {
      throw new SkeinError('STATEMENT_TOO_COMPLEX', `the statement is nested deeper than ${this.#max} levels`, {
        position: token.start,
      });
    }
  }
}

const wordOf = (text: string, token: Token): string => foldKeyword(text.slice(token.start, token.end));
