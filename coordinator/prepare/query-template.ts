import type { CompareOp } from '#shared/iceberg/predicate.ts';
import { foldIdentifier, foldKeyword } from '#shared/sql/fold-identifier.ts';
import { must } from '#shared/must.ts';
import { identifierText, stringText, Tokenizer, type Token } from '#shared/sql/tokenizer.ts';

/**
 * A query's text without the literals that columns are compared with. Texts with the same template have the same syntax tree but for the
 * values of these literals.
 *
 *     SELECT b FROM t WHERE a = 17 AND b < 'x'        SELECT b FROM t WHERE a =  AND b <
 *                               ^^           ^^^      literals, in the order of the text
 */
export type QueryTemplate = {
  /** Equal for texts that differ in the values of their literals only. */
  readonly key: string;
  readonly literals: readonly ComparedLiteral[];
};

export type ComparedLiteral = {
  readonly start: number;
  readonly end: number;
  /** The column that it is compared with, folded, without the name of its table. */
  readonly column: string;
  readonly op: CompareOp;
  readonly value: bigint | string;
};

/** Literals of one query; the others count as a part of its text. */
const LITERALS_MAX = 16;
/** Digits of an integer: any number of them fits a BIGINT. */
const DIGITS_MAX = 18;
const OPERATORS: Readonly<Record<string, CompareOp>> = {
  '=': 'eq',
  '<>': 'ne',
  '!=': 'ne',
  '<': 'lt',
  '<=': 'le',
  '>': 'gt',
  '>=': 'ge',
};
/** The words before `column op literal`, and behind it: nothing there binds more tightly than the comparison. */
const BEFORE: ReadonlySet<string> = new Set(['WHERE', 'AND']);
const BEHIND: ReadonlySet<string> = new Set(['AND', 'GROUP', 'HAVING', 'ORDER', 'LIMIT']);

/** The template of a query; null for one without such literals. The text is one that DuckDB's parser may refuse. */
export function queryTemplate(text: string): QueryTemplate | null {
  // Positions of the parser are bytes.
  if (!ASCII.test(text) || !COMPARED.test(text)) return null;
  const literals = findLiterals(text);
  if (literals.length === 0) return null;
  const parts: string[] = [];
  let at = 0;
  for (const { start, end, value } of literals) {
    parts.push(text.slice(at, start), typeof value);
    at = end;
  }
  return { key: JSON.stringify([...parts, text.slice(at)]), literals };
}

const ASCII = /^[\0-\x7f]*$/;
const COMPARED = /[=<>]\s*['\d]/;

/** A position in a text as one in its template; names never begin within a literal. */
export function toTemplate(position: number, literals: QueryTemplate['literals']): number {
  return literals.reduce((at, { start, end }) => (start < position ? at - (end - start) : at), position);
}

/** A position in a template as one in a text that has it. */
export function fromTemplate(position: number, literals: QueryTemplate['literals']): number {
  return literals.reduce((at, { start, end }) => (start < at ? at + (end - start) : at), position);
}

function findLiterals(text: string): readonly ComparedLiteral[] {
  const found: ComparedLiteral[] = [];
  const tokens = new Tokenizer(text);
  /** The tokens since the last WHERE or AND; undefined when they cannot become `column op literal`. */
  let comparison: Token[] | undefined;
  try {
    for (let token = tokens.next(); ; token = tokens.next()) {
      const word = token.kind === 'word' ? foldKeyword(text.slice(token.start, token.end)) : '';
      const isBehind = token.kind === 'end' || BEHIND.has(word) || text[token.start] === ')';
      const literal = comparison !== undefined && isBehind ? comparedLiteral(text, comparison) : undefined;
      if (literal !== undefined && literal.end < token.start + (word === '' ? 1 : 0)) found.push(literal);
      if (token.kind === 'end' || found.length === LITERALS_MAX) return found;
      if (BEFORE.has(word)) comparison = [];
      else if (isBehind || comparison === undefined || comparison.length === TOKENS_MAX) comparison = undefined;
      else comparison.push(token);
    }
  } catch {
    // A quote that is not closed: the parser refuses the query.
    return [];
  }
}

/** Tokens of `catalog.schema.table.column <= literal`. */
const TOKENS_MAX = 10;

function comparedLiteral(text: string, tokens: readonly Token[]): ComparedLiteral | undefined {
  const textOf = ({ start, end }: Token): string => text.slice(start, end);
  const literal = tokens.at(-1);
  const value = literal === undefined ? undefined : valueOf(text, literal);
  let at = 0;
  const isName = ({ kind }: Token): boolean => kind === 'word' || kind === 'quoted';
  while (
    at + 1 < tokens.length &&
    isName(must(tokens[at], 'a token')) &&
    textOf(must(tokens[at + 1], 'a token')) === '.'
  )
    at += 2;
  const column = tokens[at];
  const between = tokens.slice(at + 1, -1);
  const last = between.at(-1);
  // DATE '2020-01-01'
  const isDate = typeof value === 'string' && last?.kind === 'word' && foldKeyword(textOf(last)) === 'DATE';
  const symbols = isDate ? between.slice(0, -1) : between;
  if (literal === undefined || value === undefined || column === undefined || !isName(column)) return undefined;
  const isAdjacent = symbols.every((symbol, i) => i === 0 || symbol.start === symbols[i - 1]?.end);
  const op = isAdjacent ? OPERATORS[symbols.map(textOf).join('')] : undefined;
  if (op === undefined) return undefined;
  const { start, end } = literal;
  return { start, end, column: foldIdentifier(identifierText(text, column)), op, value };
}

/** The value of an integer, or of a string between plain quotes; undefined for anything else. */
function valueOf(text: string, token: Token): bigint | string | undefined {
  const raw = text.slice(token.start, token.end);
  if (token.kind === 'number') return raw.length <= DIGITS_MAX && /^\d+$/.test(raw) ? BigInt(raw) : undefined;
  return token.kind === 'string' && PLAIN_STRING.test(raw) ? stringText(text, token) : undefined;
}

/** A string without escapes and line breaks. */
const PLAIN_STRING = /^'[^'\n\r\0]*'$/;
