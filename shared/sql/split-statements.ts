/** The complete statements of a text, each without its semicolon, and the rest after the last one. */
export type Split = { readonly statements: readonly string[]; readonly rest: string };

/** Sticky, so that it matches at the scan's position. A dollar tag is an identifier or empty. */
const DOLLAR_TAG = /\$(?:[a-zA-Z_\u0080-\uffff][\w\u0080-\uffff]*)?\$/y;
const WORD = /[\w$\u0080-\uffff]/;

/** A statement of a text, without its semicolon, and where it stands: `text.slice(start, end)`. */
export type PlacedStatement = { readonly sql: string; readonly start: number; readonly end: number };

/**
 * Splits SQL at semicolons outside of strings ('', "", E'', $tag$), line comments and (nested) block comments. Blanks and comments
 * before a statement's first word are dropped.
 */
export function splitStatements(text: string): Split {
  const { placed, restStart } = scan(text);
  return { statements: placed.map(({ sql }) => sql), rest: restStart === undefined ? '' : text.slice(restStart) };
}

/** All statements of a text with their places; the last one needs no semicolon. */
export function placeStatements(text: string): readonly PlacedStatement[] {
  const { placed, restStart } = scan(text);
  if (restStart === undefined || !isStatement(text.slice(restStart))) return placed;
  return [...placed, place(text, restStart, text.length)];
}

/** The statement that a cursor stands in: the last one that begins before it, else the first. */
export function statementAt(text: string, position: number): PlacedStatement | undefined {
  const all = placeStatements(text);
  return all.findLast(({ start }) => start <= position) ?? all[0];
}

type Scan = { readonly placed: readonly PlacedStatement[]; readonly restStart: number | undefined };

function scan(text: string): Scan {
  const placed: PlacedStatement[] = [];
  let start = 0;
  let at = 0;
  let empty = true;
  while (at < text.length) {
    const char = text[at];
    if (char === ';') {
      if (!empty) placed.push(place(text, start, at));
      at += 1;
      empty = true;
      continue;
    }
    const end = tokenEnd(text, at);
    if (empty) start = at;
    if (end === undefined) return { placed, restStart: start };
    if (!isBlank(text, at)) empty = false;
    at = end;
  }
  return { placed, restStart: empty ? undefined : start };
}

function place(text: string, start: number, end: number): PlacedStatement {
  const sql = text.slice(start, end).trimEnd();
  return { sql, start, end: start + sql.length };
}

/** Whether what follows a text of `splitStatements` is a statement, not only blanks and comments. */
export const isStatement = (rest: string): boolean => splitStatements(`${rest}\n;`).statements.length > 0;

const isBlank = (text: string, at: number): boolean =>
  /\s/.test(text[at] ?? '') || text.startsWith('--', at) || text.startsWith('/*', at);

/** End of the token that begins at `at`; undefined when the text ends inside it. A line comment may end with the text. */
function tokenEnd(text: string, at: number): number | undefined {
  const scan = TOKENS[text[at] ?? ''];
  return scan === undefined ? at + 1 : scan(text, at);
}

/** Scanners of longer tokens by first character; every other token is one character. */
const TOKENS: Readonly<Record<string, (text: string, at: number) => number | undefined>> = {
  "'": (text, at) => stringEnd(text, at, isEscapeString(text, at)),
  '"': (text, at) => stringEnd(text, at, false),
  '-': (text, at) => {
    if (!text.startsWith('--', at)) return at + 1;
    const newline = text.indexOf('\n', at);
    return newline === -1 ? text.length : newline + 1;
  },
  '/': (text, at) => (text.startsWith('/*', at) ? commentEnd(text, at) : at + 1),
  $: (text, at) => dollarEnd(text, at),
};

/** `E'...'`, where a backslash escapes; the E must not be the end of a word. */
const isEscapeString = (text: string, quote: number): boolean =>
  /[eE]/.test(text[quote - 1] ?? '') && !WORD.test(text[quote - 2] ?? ' ');

function stringEnd(text: string, at: number, escapes: boolean): number | undefined {
  const quote = text[at];
  for (let i = at + 1; i < text.length; i++) {
    if (escapes && text[i] === '\\') i += 1;
    else if (text[i] === quote) return i + 1;
  }
  return undefined;
}

function commentEnd(text: string, at: number): number | undefined {
  let depth = 0;
  for (let i = at; i < text.length; i++) {
    if (text.startsWith('/*', i)) {
      depth += 1;
      i += 1;
    } else if (text.startsWith('*/', i)) {
      depth -= 1;
      i += 1;
      if (depth === 0) return i + 1;
    }
  }
  return undefined;
}

function dollarEnd(text: string, at: number): number | undefined {
  DOLLAR_TAG.lastIndex = at;
  const tag = WORD.test(text[at - 1] ?? ' ') ? undefined : DOLLAR_TAG.exec(text)?.[0];
  if (tag === undefined) return at + 1;
  const end = text.indexOf(tag, at + tag.length);
  return end === -1 ? undefined : end + tag.length;
}
