import { SkeinError } from '#shared/error.ts';
import { foldKeyword } from '#shared/sql/fold-identifier.ts';
import type { TextSpan } from './statement.ts';
import { Tokenizer } from '#shared/sql/tokenizer.ts';

/**
 * The parts of a statement of a client that are put into another text:
 * - `expression`: one value, without an alias or a star
 * - `tables`: a list of tables, as it stands behind FROM
 * - `list`: the list of a SELECT, which may have aliases and stars
 * - `query`: one query
 */
export type PartKind = 'expression' | 'tables' | 'list' | 'query';

declare const proof: unique symbol;
/** A part of a statement of which DuckDB's parser has said that it is one thing of its kind. Only `prove` makes it. */
export type Proven<Kind extends PartKind = PartKind> = TextSpan & { readonly [proof]: Kind };

/** The parts of a statement as a client has written them. */
export type AsWritten = { readonly [Kind in PartKind]: TextSpan };
/** The same once they are proven. */
export type AsProven = { readonly [Kind in PartKind]: Proven<Kind> };

/** Names a part that is to be proven; null stays null. */
export type TakePart = <Kind extends PartKind, Part extends TextSpan | null>(
  kind: Kind,
  part: Part,
) => Part extends TextSpan ? Proven<Kind> : null;

export type Part = { readonly kind: PartKind; readonly span: TextSpan };

/**
 * Proves the parts of a statement before they are put into other texts. `read` names them and returns what is made of them, which the caller
 * gets once all of them are proven.
 * @param check has `openParts` and DuckDB's parser judge them; it throws for a part that is not of its kind @throws SYNTAX_ERROR with the place
 */
export async function prove<T>(
  read: (take: TakePart) => T,
  check: (parts: readonly Part[]) => Promise<void>,
): Promise<T> {
  const parts: Part[] = [];
  const take = (kind: PartKind, span: TextSpan | null): TextSpan | null => {
    if (span !== null) parts.push({ kind, span });
    return span;
  };
  const made = read(take as TakePart);
  const unknown = parts.filter(({ span }) => span.isLiteral !== true);
  const isShort = unknown.reduce((sum, { span }) => sum + span.text.length, 0) <= SHORT_PARTS;
  const open = isShort ? openParts(unknown) : unknown;
  if (open.length > OPEN_PARTS_MAX) {
    const message = `a statement has at most ${OPEN_PARTS_MAX} expressions that are more than a literal`;
    throw new SkeinError('STATEMENT_TOO_COMPLEX', message);
  }
  if (open.length > 0) await check(open);
  return made;
}

/** Characters of parts that the caller's thread, on which all clients wait, reads itself; longer ones are read by a planner alone. */
const SHORT_PARTS = 64 * 1024;
/** Parts of a statement that a planner is asked about. */
const OPEN_PARTS_MAX = 100_000;

/** Returns the parts that only a parser can judge. @throws SYNTAX_ERROR for one that is open at its end, or closes what it did not open */
export function openParts(parts: readonly Part[]): readonly Part[] {
  for (const part of parts) requireClosed(part);
  return parts.filter(({ kind, span }) => kind !== 'expression' || !isLiteral(span));
}

const CLOSES: Readonly<Record<string, string>> = { '(': ')', '[': ']', '{': '}' };

/**
 * @throws SYNTAX_ERROR for a bracket whose other half is not in the part, because the part could end the brackets around it, and for a comma at
 * its end, which DuckDB takes in a list, or anywhere outside of brackets in an expression
 */
function requireClosed({ kind, span: { text, offset } }: Part): void {
  const open: string[] = [];
  const tokens = new Tokenizer(text);
  let symbol = '';
  let last = 0;
  for (let token = tokens.next(); token.kind !== 'end'; token = tokens.next()) {
    last = token.start;
    symbol = token.kind === 'symbol' ? text.slice(token.start, token.end) : '';
    const closes = CLOSES[symbol];
    if (closes !== undefined) open.push(closes);
    else if ((symbol === ')' || symbol === ']' || symbol === '}') && open.pop() !== symbol) {
      throw syntaxError(`syntax error at "${symbol}"`, offset + token.start);
    } else if (symbol === ';' || (symbol === ',' && open.length === 0 && kind === 'expression')) {
      throw syntaxError(`syntax error at "${symbol}"`, offset + token.start);
    }
  }
  if (symbol === ',') throw syntaxError('syntax error at ","', offset + last);
  const missing = open.pop();
  if (missing !== undefined) throw syntaxError(`expected '${missing}' behind this part`, offset + text.length);
}

const syntaxError = (message: string, position: number): SkeinError =>
  new SkeinError('SYNTAX_ERROR', message, { position });

const WORDS: ReadonlySet<string> = new Set(['NULL', 'TRUE', 'FALSE']);

/** Whether a part is a literal by its tokens alone, as nearly every value of a long VALUES list is: `1`, `-1.5`, `('a')`, `NULL`. */
export function isLiteral({ text }: TextSpan): boolean {
  const tokens = new Tokenizer(text);
  let token = tokens.next();
  const isSymbol = (symbols: string): boolean =>
    token.kind === 'symbol' && symbols.includes(text.slice(token.start, token.end));
  let depth = 0;
  for (; isSymbol('('); token = tokens.next()) depth += 1;
  const isSigned = isSymbol('-+');
  if (isSigned) token = tokens.next();
  const isValue =
    token.kind === 'number' ||
    (!isSigned && token.kind === 'string') ||
    (!isSigned && token.kind === 'word' && WORDS.has(foldKeyword(text.slice(token.start, token.end))));
  if (!isValue) return false;
  token = tokens.next();
  for (; isSymbol(')'); token = tokens.next()) depth -= 1;
  return depth === 0 && token.kind === 'end';
}
