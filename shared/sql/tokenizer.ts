import { SkeinError } from '#shared/error.ts';

/**
 * The lexical level of SQL, rule by rule that of DuckDB's scanner (`scan.l` of its parser): comments (`--` to the end of the line, nested
 * slash-star), strings ('', E'' with backslashes, dollar quotes; one that goes on after a line break is one token), bit strings, quoted
 * identifiers, words, numbers, parameters. Every other character is a symbol of its own (`::` is two), but for `..`. Offsets are UTF-16
 * positions in the text. `test/fuzz` compares it with DuckDB.
 */
export type Token = {
  readonly kind: 'word' | 'quoted' | 'string' | 'bits' | 'number' | 'parameter' | 'symbol' | 'end';
  readonly start: number;
  readonly end: number;
};

/**
 * Spaces beyond ASCII, which DuckDB's parser turns into plain ones before it scans a text. Every other character from U+0080 is a letter.
 */
const WIDE_SPACES = /[\u00a0\u2000-\u200b\u202f\u205f\u2060\u3000\ufeff]/g;
const SPACE = /[ \t\n\r\f\u00a0\u2000-\u200b\u202f\u205f\u2060\u3000\ufeff]/;
const WORD_START = /[A-Za-z_\u0080-\uffff]/;
const LINE_END = /[\n\r]/g;
/**
 * Sticky: each is tried at the current offset. None repeats more than one class of characters: a group that is repeated millions of times
 * overflows the pattern engine's stack.
 */
const WORD =
  /[A-Za-z0-9_$\u0080-\u009f\u00a1-\u1fff\u200c-\u202e\u2030-\u205e\u2061-\u2fff\u3001-\ufefe\uff00-\uffff]*/y;
const DOLLAR_TAG = /\$(?:[A-Za-z_\u0080-\uffff][A-Za-z0-9_\u0080-\uffff]*)?\$/y;

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

  /** Goes to the end of the text. */
  end(): void {
    this.#offset = this.text.length;
  }

  #read(start: number): Token {
    const { text } = this;
    const char = text.charAt(start);
    if (char === "'") return { kind: 'string', start, end: this.#string(start, doubledQuote) };
    if (char === '"') return { kind: 'quoted', start, end: doubledQuote(text, start, '"') };
    if (text.charAt(start + 1) === "'") {
      if (char === 'e' || char === 'E') return { kind: 'string', start, end: this.#string(start + 1, escapedQuote) };
      if ('bBxX'.includes(char)) return { kind: 'bits', start, end: this.#string(start + 1, firstQuote) };
    }
    if (char === '$') return this.#dollar(start);
    if (char === '?') return this.#parameter(start);
    if (text.startsWith('..', start)) return { kind: 'symbol', start, end: start + 2 };
    const number = numberEnd(text, start);
    if (number > start) return { kind: 'number', start, end: number };
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
    return this.#parameter(start);
  }

  #parameter(start: number): Token {
    const end = digitsEnd(this.text, start + 1);
    return end > start + 1 ? { kind: 'parameter', start, end } : { kind: 'symbol', start, end: start + 1 };
  }

  /** End of a string whose quote stands at `open`, with all the parts in which it goes on. */
  #string(open: number, endOf: EndOfQuoted): number {
    let end = endOf(this.text, open, "'");
    for (let next = continuation(this.text, end); next >= 0; next = continuation(this.text, end)) {
      end = endOf(this.text, next, "'");
    }
    return end;
  }

  #skipSpace(): number {
    const { text } = this;
    let at = this.#offset;
    for (;;) {
      const char = text.charAt(at);
      if (char === '-' && text.charAt(at + 1) === '-') at = lineEnd(text, at);
      else if (char === '/' && text.charAt(at + 1) === '*') at = commentEnd(text, at);
      else if (char !== '' && SPACE.test(char)) at += 1;
      else return at;
    }
  }
}

const isDigit = (code: number): boolean => code >= 0x30 && code <= 0x39;

/** End of digits, each of which may have one underscore before it but the first; `start` when none stands there. */
function digitsEnd(text: string, start: number): number {
  let end = start;
  for (;;) {
    if (isDigit(text.charCodeAt(end))) end += 1;
    else if (end > start && text[end] === '_' && isDigit(text.charCodeAt(end + 1))) end += 2;
    else return end;
  }
}

/** End of a number such as `1`, `1_000.5`, `.5` or `1.e-3`; `start` when none stands there. In `1..2` the number is `1`. */
function numberEnd(text: string, start: number): number {
  let end = digitsEnd(text, start);
  if (text[end] === '.' && text[end + 1] !== '.') {
    const fraction = digitsEnd(text, end + 1);
    if (end > start || fraction > end + 1) end = fraction;
  }
  if (end === start || !/[eE]/.test(text.charAt(end))) return end;
  const exponent = /[+-]/.test(text.charAt(end + 1)) ? end + 2 : end + 1;
  const last = digitsEnd(text, exponent);
  return last > exponent ? last : end;
}

/** Returns the end of the quoted token that begins at `open`, behind the closing quote. */
type EndOfQuoted = (text: string, open: number, quote: string) => number;

/** A doubled quote stands for one. */
const doubledQuote: EndOfQuoted = (text, open, quote) => {
  let at = open + 1;
  for (;;) {
    const close = text.indexOf(quote, at);
    if (close < 0) throw unterminated(quote === '"' ? 'a quoted identifier' : 'a string', open);
    if (text.charAt(close + 1) !== quote) return close + 1;
    at = close + 2;
  }
};

/** A backslash takes the next character with it, and a doubled quote stands for one. */
const escapedQuote: EndOfQuoted = (text, open, quote) => {
  let at = open + 1;
  while (at < text.length) {
    const char = text.charAt(at);
    if (char === '\\') at += 2;
    else if (char !== quote) at += 1;
    else if (text.charAt(at + 1) === quote) at += 2;
    else return at + 1;
  }
  throw unterminated('a string', open);
};

const firstQuote: EndOfQuoted = (text, open, quote) => {
  const close = text.indexOf(quote, open + 1);
  if (close < 0) throw unterminated('a string', open);
  return close + 1;
};

/**
 * Returns the position of the quote with which a string that ends at `from` continues, after a line break and nothing but spaces and `--`
 * comments; -1 when it does not continue.
 */
function continuation(text: string, from: number): number {
  let at = from;
  let hasBreak = false;
  for (;;) {
    const char = text.charAt(at);
    if (char === '-' && text.charAt(at + 1) === '-') {
      at = lineEnd(text, at);
      hasBreak = true;
    } else if (char !== '' && SPACE.test(char)) {
      at += 1;
      hasBreak ||= char === '\n' || char === '\r';
    } else return hasBreak && char === "'" ? at : -1;
  }
}

/**
 * Returns the text, in the same length, as DuckDB's parser must get it. The parser turns wide spaces into plain ones, which moves its
 * positions. It finds them with a scanner that knows neither slash-star comments nor backslashes, so after an apostrophe in one of these it
 * would change characters within quotes. So spaces are made plain here, comments become spaces, and `\'` becomes `''`.
 * @throws SYNTAX_ERROR as `Tokenizer`
 */
export function withPlainSpaces(text: string): string {
  if (text.search(WIDE_SPACES) < 0) return text;
  const tokens = new Tokenizer(text);
  const parts: string[] = [];
  let at = 0;
  for (let token = tokens.next(); ; token = tokens.next()) {
    parts.push(blank(text.slice(at, token.start)));
    if (token.kind === 'end') return parts.join('');
    const raw = text.slice(token.start, token.end);
    const isString = (token.kind === 'string' && !raw.startsWith('$')) || token.kind === 'bits';
    parts.push(isString ? plainString(raw) : raw);
    at = token.end;
  }
}

const blank = (text: string): string => text.replaceAll(/[^\n\r]/g, ' ');

/** A string with plain spaces and no comments between its parts. */
function plainString(raw: string): string {
  const isEscaped = /^[eE]/.test(raw);
  const endOf = isEscaped ? escapedQuote : raw.startsWith("'") ? doubledQuote : firstQuote;
  const first = raw.indexOf("'");
  const parts = [raw.slice(0, first)];
  for (let open = first; ;) {
    const end = endOf(raw, open, "'");
    const part = raw.slice(open, end);
    parts.push(isEscaped ? part.replaceAll(/\\[^]/g, plainEscape) : part);
    open = continuation(raw, end);
    if (open < 0) return parts.join('');
    parts.push(blank(raw.slice(end, open)));
  }
}

const plainEscape = (pair: string): string => (pair === "\\'" ? "''" : pair);

/** The name that a token stands for where a name is expected: a word, a quoted identifier, or a string. */
export function identifierText(text: string, token: Token): string {
  if (token.kind === 'string') return stringText(text, token);
  const raw = text.slice(token.start, token.end);
  return token.kind === 'quoted' ? raw.slice(1, -1).replaceAll('""', '"') : raw;
}

/** The value of a string token, its quotes and escapes resolved. */
export function stringText(text: string, token: Token): string {
  const raw = text.slice(token.start, token.end);
  if (raw.startsWith('$')) {
    const tagLength = raw.indexOf('$', 1) + 1;
    return raw.slice(tagLength, -tagLength);
  }
  const isEscaped = !raw.startsWith("'");
  const endOf = isEscaped ? escapedQuote : doubledQuote;
  const parts: string[] = [];
  for (let open = isEscaped ? 1 : 0; open >= 0;) {
    const end = endOf(raw, open, "'");
    const part = raw.slice(open + 1, end - 1);
    parts.push(isEscaped ? part.replaceAll(ESCAPE, unescape) : part.replaceAll("''", "'"));
    open = continuation(raw, end);
  }
  return parts.join('');
}

/** The escapes in E'': consecutive bytes, a code point, any other character after a backslash, a doubled quote. */
const ESCAPE = /(?:\\x[0-9A-Fa-f]{1,2}|\\[0-7]{1,3})+|\\u[0-9A-Fa-f]{4}|\\U[0-9A-Fa-f]{8}|\\[^]|''/g;
const BYTE = /\\x([0-9A-Fa-f]{1,2})|\\([0-7]{1,3})/g;
/** Browsers run this, too: the console has no Buffer. */
const UTF8 = new TextDecoder('utf-8', { ignoreBOM: true });
const ESCAPES: Readonly<Record<string, string>> = { b: '\b', f: '\f', n: '\n', r: '\r', t: '\t' };

function unescape(escape: string): string {
  if (escape === "''") return "'";
  const bytes = [...escape.matchAll(BYTE)].map(([, hex, octal = '']) =>
    hex === undefined ? Number.parseInt(octal, 8) : Number.parseInt(hex, 16),
  );
  if (bytes.length > 0) return UTF8.decode(Uint8Array.from(bytes));
  const char = escape.charAt(1);
  if (escape.length === 2) return ESCAPES[char] ?? char;
  const code = Number.parseInt(escape.slice(2), 16);
  return code > 0x10ffff ? '\ufffd' : String.fromCodePoint(code);
}

function match(pattern: RegExp, text: string, at: number): number {
  pattern.lastIndex = at;
  return pattern.test(text) ? pattern.lastIndex : at;
}

/** Behind the first line break from `from` on: `\n` or `\r`. */
function lineEnd(text: string, from: number): number {
  LINE_END.lastIndex = from;
  return LINE_END.test(text) ? LINE_END.lastIndex : text.length;
}

function commentEnd(text: string, start: number): number {
  let depth = 0;
  const mark = /\/\*|\*\//g;
  mark.lastIndex = start;
  for (let found = mark.exec(text); found !== null; found = mark.exec(text)) {
    depth += found[0] === '/*' ? 1 : -1;
    if (depth === 0) return mark.lastIndex;
  }
  throw unterminated('a comment', start);
}

const unterminated = (what: string, position: number): SkeinError =>
  new SkeinError('SYNTAX_ERROR', `${what} is not closed`, { position });
