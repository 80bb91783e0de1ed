import { untranslated, type Dialect } from './dialect.ts';

/** `text` is a word as it is written, the name between quotes, the value of a string, or the characters of a number or symbol. */
export type DialectToken = {
  readonly kind: 'word' | 'quoted' | 'string' | 'number' | 'symbol';
  readonly text: string;
  readonly start: number;
  readonly end: number;
};

/** Sticky patterns, each of linear time. */
const SPACE = /[ \t\r\n]+/y;
const LINE_COMMENT = /--[^\n]*/y;
const WORD = /[A-Za-z_][A-Za-z0-9_]*/y;
const NUMBER = /[0-9]+(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?/y;
const SYMBOL = /<>|!=|<=|>=|\|\||[(),.*+\-%=<>]/y;

/** Characters that may not stand directly behind a token: a word would go on with other letters, a number would have a suffix. */
const KINDS = [
  ['word', WORD, /[$\u0080-\uffff]/],
  ['number', NUMBER, /[\w.$\u0080-\uffff]/],
  ['symbol', SYMBOL, /(?!)/],
] as const;

/** Reads the tokens of another engine's query; what is not known is refused, with its place. */
export function dialectTokens(sql: string, dialect: Dialect): readonly DialectToken[] {
  const tokens: DialectToken[] = [];
  for (let at = 0; at < sql.length;) {
    const space = match(SPACE, sql, at) ?? match(LINE_COMMENT, sql, at) ?? commentAt(sql, at, dialect);
    if (space !== null) {
      at += space.length;
      continue;
    }
    const token = tokenAt(sql, at, dialect);
    tokens.push(token);
    at = token.end;
  }
  return tokens;
}

function tokenAt(sql: string, start: number, dialect: Dialect): DialectToken {
  const char = sql.charAt(start);
  if (char === "'") return stringAt(sql, start, dialect);
  if (char === dialect.quote) {
    const end = closing(sql, start, dialect);
    const text = sql.slice(start + 1, end - 1).replaceAll(char + char, char);
    if (text === '') throw untranslated(dialect, 'a name without a character', { sql, position: start });
    return { kind: 'quoted', text, start, end };
  }
  for (const [kind, pattern, notBehind] of KINDS) {
    const text = match(pattern, sql, start);
    if (text === null) continue;
    const end = start + text.length;
    if (notBehind.test(sql.charAt(end))) break;
    return { kind, text, start, end };
  }
  throw untranslated(dialect, JSON.stringify(sql.slice(start, start + 1)), { sql, position: start });
}

function stringAt(sql: string, start: number, dialect: Dialect): DialectToken {
  const end = closing(sql, start, dialect);
  const inside = sql.slice(start + 1, end - 1);
  if (dialect.isSpark && (inside.includes('\\') || inside.includes("''"))) {
    throw untranslated(dialect, 'a text with a backslash or a doubled quote', { sql, position: start });
  }
  if (inside.includes('\0')) throw untranslated(dialect, 'a text with a NUL', { sql, position: start });
  return { kind: 'string', text: inside.replaceAll("''", "'"), start, end };
}

/** The position behind the quote that ends what begins here. */
function closing(sql: string, start: number, dialect: Dialect): number {
  const quote = sql.charAt(start);
  for (let at = sql.indexOf(quote, start + 1); at >= 0; at = sql.indexOf(quote, at + 2)) {
    if (sql.charAt(at + 1) !== quote) return at + 1;
  }
  throw untranslated(dialect, 'a quote that is not closed', { sql, position: start });
}

/** A comment; null when none begins here. Engines differ in what comments within comments and hints are. */
function commentAt(sql: string, start: number, dialect: Dialect): string | null {
  if (!sql.startsWith('/*', start)) return null;
  const end = sql.indexOf('*/', start + 2);
  const text = end < 0 ? null : sql.slice(start, end + 2);
  if (text === null || text.startsWith('/*+') || text.indexOf('/*', 2) >= 0) {
    throw untranslated(dialect, 'a hint, or a comment in a comment', { sql, position: start });
  }
  return text;
}

function match(pattern: RegExp, sql: string, at: number): string | null {
  pattern.lastIndex = at;
  return pattern.exec(sql)?.[0] ?? null;
}
