import { SkeinError } from '#shared/error.ts';

/**
 * The lexical level of SQL, as DuckDB's scanner sees it: comments (`--`, nested slash-star), strings ('', E'' with backslashes,
 * dollar quotes), quoted identifiers, words, numbers, parameters. Every other character is a symbol of its own (`::` is two).
 * Offsets are UTF-16 positions in the text.
 */
export type Token = {
  readonly kind: 'word' | 'quoted' | 'string' | 'number' | 'parameter' | 'symbol' | 'end';
  readonly start: number;
  readonly end: number;
};

/** Spaces beyond ASCII, which DuckDB's parser turns into plain ones before it scans a text. */
const WIDE_SPACES = /[\u00a0\u2000-\u200d\u202f\u205f\u2060\u3000\ufeff]/g;
const SPACE = /[\s\u200b-\u200d\u2060]/;
const WORD_START = /[A-Za-z_\u0080-\uffff]/;
/** Sticky: each is tried at the current offset. */
const WORD = /(?:[A-Za-z0-9_$]|(?![\s\u200b-\u200d\u2060])[\u0080-\uffff])*/y;
const NUMBER = /(?:0[xX][0-9a-fA-F_]+|0[bB][01_]+|(?:\d[\d_]*)?\.?\d[\d_]*(?:[eE][+-]?\d+)?\.?)/y;
const DOLLAR_TAG = /\$(?:[A-Za-z_\u0080-\uffff][A-Za-z0-9_\u0080-\uffff]*)?\$/y;
const PARAMETER = /\$[A-Za-z0-9_]+/y;

/** Reads the tokens of a text one by one; nothing is kept, so a long statement costs no memory. */
export class Tokenizer {
  readonly text: string;
  #offset: number;

  constructor(text: string, offset = 0) {
    this.text = text;
    this.#offset = offset;
  }

  /** The next token; at the end of the text one of kind `end`, again and again. @throws SYNTAX_ERROR for what is never closed. */
  next(): Token {
    const start = this.#skipSpace();
    if (start >= this.text.length) return { kind: 'end', start, end: start };
    const token = this.#read(start);
    this.#offset = token.end;
    return token;
  }

  #read(start: number): Token {
    const { text } = this;
    const char = text.charAt(start);
    if (char === "'") return { kind: 'string', start, end: this.#quoted(start, "'", 'a string') };
    if (char === '"') return { kind: 'quoted', start, end: this.#quoted(start, '"', 'a quoted identifier') };
    if ((char === 'e' || char === 'E') && text.charAt(start + 1) === "'") {
      return { kind: 'string', start, end: this.#escaped(start) };
    }
    if (char === '$') return this.#dollar(start);
    if (isDigit(char) || (char === '.' && isDigit(text.charAt(start + 1)))) {
      return { kind: 'number', start, end: match(NUMBER, text, start) };
    }
    if (WORD_START.test(char)) return { kind: 'word', start, end: match(WORD, text, start) };
    return { kind: 'symbol', start, end: start + 1 };
  }

  #dollar(start: number): Token {
    const tagEnd = match(DOLLAR_TAG, this.text, start);
    if (tagEnd > start) {
      const tag = this.text.slice(start, tagEnd);
      const close = this.text.indexOf(tag, tagEnd);
      if (close < 0) throw unterminated('a dollar-quoted string', start);
      return { kind: 'string', start, end: close + tag.length };
    }
    const end = match(PARAMETER, this.text, start);
    return end > start ? { kind: 'parameter', start, end } : { kind: 'symbol', start, end: start + 1 };
  }

  /** End of a quoted text in which the quote is doubled. */
  #quoted(start: number, quote: string, what: string): number {
    let at = start + 1;
    for (;;) {
      const close = this.text.indexOf(quote, at);
      if (close < 0) throw unterminated(what, start);
      if (this.text.charAt(close + 1) !== quote) return close + 1;
      at = close + 2;
    }
  }

  #escaped(start: number): number {
    let at = start + 2;
    while (at < this.text.length) {
      const char = this.text.charAt(at);
      if (char === '\\') at += 2;
      else if (char !== "'") at += 1;
      else if (this.text.charAt(at + 1) === "'") at += 2;
      else return at + 1;
    }
    throw unterminated('a string', start);
  }

  #skipSpace(): number {
    const { text } = this;
    let at = this.#offset;
    for (;;) {
      const char = text.charAt(at);
      if (char === '-' && text.charAt(at + 1) === '-') at = lineEnd(text, at);
      else if (char === '/' && text.charAt(at + 1) === '*') at = this.#commentEnd(at);
      else if (char !== '' && SPACE.test(char)) at += 1;
      else return at;
    }
  }

  #commentEnd(start: number): number {
    let depth = 0;
    const mark = /\/\*|\*\//g;
    mark.lastIndex = start;
    for (let found = mark.exec(this.text); found !== null; found = mark.exec(this.text)) {
      depth += found[0] === '/*' ? 1 : -1;
      if (depth === 0) return mark.lastIndex;
    }
    throw unterminated('a comment', start);
  }
}

/**
 * The text with plain spaces where it has wide ones outside of quotes: DuckDB does the same, in fewer bytes than before, so that its
 * positions would be none of ours. Each stays one character. @throws SYNTAX_ERROR as `Tokenizer`
 */
export function withPlainSpaces(text: string): string {
  if (text.search(WIDE_SPACES) < 0) return text;
  const tokens = new Tokenizer(text);
  const parts: string[] = [];
  let at = 0;
  for (let token = tokens.next(); token.kind !== 'end'; token = tokens.next()) {
    if (token.kind !== 'string' && token.kind !== 'quoted') continue;
    parts.push(text.slice(at, token.start).replaceAll(WIDE_SPACES, ' '), text.slice(token.start, token.end));
    at = token.end;
  }
  return parts.join('') + text.slice(at).replaceAll(WIDE_SPACES, ' ');
}

/** The name that an identifier token stands for. */
export function identifierText(text: string, token: Token): string {
  const raw = text.slice(token.start, token.end);
  return token.kind === 'quoted' ? raw.slice(1, -1).replaceAll('""', '"') : raw;
}

const ESCAPES: Readonly<Record<string, string>> = { b: '\b', f: '\f', n: '\n', r: '\r', t: '\t' };

/** The value of a string token, its quotes and escapes resolved. */
export function stringText(text: string, token: Token): string {
  const raw = text.slice(token.start, token.end);
  if (raw.startsWith('$')) {
    const tagLength = raw.indexOf('$', 1) + 1;
    return raw.slice(tagLength, -tagLength);
  }
  if (raw.startsWith("'")) return raw.slice(1, -1).replaceAll("''", "'");
  return raw
    .slice(2, -1)
    .replace(/\\(.)|''/gs, (whole, c: string | undefined) => (whole === "''" ? "'" : (ESCAPES[c ?? ''] ?? c ?? '')));
}

function match(pattern: RegExp, text: string, at: number): number {
  pattern.lastIndex = at;
  return pattern.test(text) ? pattern.lastIndex : at;
}

function lineEnd(text: string, from: number): number {
  const end = text.indexOf('\n', from);
  return end < 0 ? text.length : end + 1;
}

const isDigit = (char: string): boolean => char >= '0' && char <= '9';

const unterminated = (what: string, position: number): SkeinError =>
  new SkeinError('SYNTAX_ERROR', `${what} is not closed`, { position });
