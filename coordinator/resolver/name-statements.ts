import { createHash } from 'node:crypto';
import { SkeinError } from '#shared/error.ts';
import { foldKeyword } from '#shared/sql/fold-identifier.ts';
import { quoteIdentifier } from '#shared/sql/quote.ts';
import { DerivedText, wholeText } from '../statement/derived-text.ts';
import type { TextSpan } from '../statement/statement.ts';
import { Tokenizer, type Token } from '../statement/tokenizer.ts';

/** A query in which names stand for statements: the statements are read like tables. */
export type NamedStatements = {
  readonly text: DerivedText;
  /** The statements by their names; an offset is one in the query. */
  readonly statements: ReadonlyMap<string, TextSpan>;
};

/** DuckDB reserves these words, so that one of them behind a bracket can only begin a statement. SUMMARIZE is one too, and a query. */
const WORDS: ReadonlySet<string> = new Set(['SHOW', 'DESCRIBE', 'DESC']);

/** Longest query, in characters, that is searched for statements. */
const QUERY_LENGTH_MAX = 64 * 1024;
/** Statements within one query, those within statements counted: each asks the catalog. */
const STATEMENTS_MAX = 16;

/**
 * Gives each statement in brackets a name, under which the resolver finds its rows.
 *
 *     SELECT name FROM (SHOW TABLES) AS t          SELECT name FROM (FROM "rows 5f0c 0" AS "rows") AS t
 *
 * The names hold a digest of the query, so the query itself cannot name them. @throws STATEMENT_TOO_COMPLEX
 */
export function nameStatements(sql: string): NamedStatements {
  const whole: TextSpan = { text: sql, offset: 0 };
  const spans = sql.length > QUERY_LENGTH_MAX || !BRACKET.test(sql) ? [] : findStatements(sql);
  if (spans.length === 0) return { text: wholeText(whole), statements: new Map() };
  const digest = createHash('sha256').update(sql).digest('hex').slice(0, 16);
  const text = new DerivedText(sql);
  const statements = new Map<string, TextSpan>();
  let at = 0;
  for (const { start, end } of spans) {
    const name = `rows ${digest} ${statements.size}`;
    statements.set(name, { text: sql.slice(start, end), offset: start });
    text.slice(at, start, NOTHING).insert(`FROM ${quoteIdentifier(name)} AS "rows"`);
    at = end;
  }
  return { text: text.slice(at, sql.length, NOTHING), statements };
}

const NOTHING: ReadonlyMap<number, string> = new Map();

/** A bracket and a word of a statement, or a comment between them. */
const BRACKET = /\(\s*(?:show|desc|--|\/\*)/i;

type Range = { readonly start: number; readonly end: number };

/** Finds the statements that stand in brackets, the outermost of those within each other. */
function findStatements(sql: string): readonly Range[] {
  const found: Range[] = [];
  const tokens = new Tokenizer(sql);
  const isSymbol = (token: Token, symbol: string): boolean =>
    token.kind === 'symbol' && sql.slice(token.start, token.end) === symbol;
  let count = 0;
  let depth = 0;
  let previous: Token | null = null;
  let open: { readonly start: number; readonly depth: number } | null = null;
  for (let token = tokens.next(); token.kind !== 'end'; token = tokens.next()) {
    const isBehind = previous !== null && isSymbol(previous, '(') && token.kind === 'word';
    if (isBehind && WORDS.has(foldKeyword(sql.slice(token.start, token.end)))) {
      count += 1;
      if (count > STATEMENTS_MAX) {
        const message = `a query reads at most ${STATEMENTS_MAX} SHOW and DESCRIBE statements`;
        throw new SkeinError('STATEMENT_TOO_COMPLEX', message, { position: token.start });
      }
      open ??= { start: token.start, depth };
    }
    if (isSymbol(token, '(')) depth += 1;
    if (isSymbol(token, ')')) {
      if (open?.depth === depth) {
        found.push({ start: open.start, end: token.start });
        open = null;
      }
      depth -= 1;
    }
    previous = token;
  }
  return found;
}
