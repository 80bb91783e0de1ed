import { createHash } from 'node:crypto';
import { SkeinError } from '#shared/error.ts';
import { foldIdentifier, foldKeyword } from '#shared/sql/fold-identifier.ts';
import { quoteIdentifier } from '#shared/sql/quote.ts';
import { CONTEXT_FUNCTIONS } from '../binding/function-policy.ts';
import { wholeText, type DerivedText } from '../statement/derived-text.ts';
import { EditedText } from '../statement/edited-text.ts';
import type { TextSpan } from '../statement/statement.ts';
import { findStages, type TextRange as Range } from '../statement/stage-references.ts';
import { Tokenizer, type Token } from '#shared/sql/tokenizer.ts';
import { travelClauses, type TravelClause } from './travel-clauses.ts';

/** A query as DuckDB parses it. Names stand in it for statements, which are read like tables. */
export type NamedStatements = {
  readonly text: DerivedText;
  /** The statements by their names; an offset is one in the query. */
  readonly statements: ReadonlyMap<string, TextSpan>;
};

/** DuckDB reserves these words, so that one of them behind a bracket can only begin a statement. SUMMARIZE is one too, and a query. */
const WORDS: ReadonlySet<string> = new Set(['SHOW', 'DESCRIBE', 'DESC']);

/** Tokens that LIST, which is no reserved word, follows where it begins a statement: `FROM (LIST @stage)`. */
const BEFORE_LIST: ReadonlySet<string> = new Set(['FROM', 'JOIN']);

/** Longest query, in characters, that is searched for statements and `FOR VERSION AS OF`. */
const QUERY_LENGTH_MAX = 64 * 1024;
/** Statements within one query, those within statements counted: each asks the catalog. */
const STATEMENTS_MAX = 16;

/**
 * Gives each statement in brackets, and each stage, a name under which the resolver finds its rows, and writes time travel as DuckDB does: behind the alias.
 *
 *     SELECT name FROM (SHOW TABLES) AS t          SELECT name FROM (FROM "rows 5f0c 0" AS "rows") AS t
 *     FROM t FOR VERSION AS OF 11 AS x             FROM t AS x AT (VERSION => 11)
 *     SELECT $1 FROM @stage/a.csv                  SELECT "$1" FROM "rows 5f0c 0"
 *     SELECT pg_catalog.version()                  SELECT version()
 *
 * The names hold a digest of the query, so the query itself cannot name them. @throws STATEMENT_TOO_COMPLEX
 */
export function nameStatements(sql: string): NamedStatements {
  const whole: TextSpan = { text: sql, offset: 0 };
  const isSearched = sql.length <= QUERY_LENGTH_MAX;
  const spans = isSearched && BRACKET.test(sql) ? findStatements(sql) : [];
  const clauses = isSearched ? travelClauses(sql) : [];
  const isWithin = ({ start }: Range): boolean => spans.some((span) => span.start <= start && start < span.end);
  const stages = isSearched ? findStages(sql) : { references: [], columns: [] };
  const rewrites: readonly Rewrite[] = [
    ...spans.map((span) => ({ ...span, kind: 'statement' as const })),
    ...clauses.map((travel) => ({ ...travel, kind: 'travel' as const, travel })).filter((one) => !isWithin(one)),
    ...stages.references.map((range) => ({ ...range, kind: 'stage' as const })).filter((one) => !isWithin(one)),
    ...stages.columns.map((range) => ({ ...range, kind: 'column' as const })).filter((one) => !isWithin(one)),
    ...(isSearched ? contextSchemas(sql) : [])
      .map((range) => ({ ...range, kind: 'schema' as const }))
      .filter((one) => !isWithin(one)),
  ].toSorted((a, b) => a.start - b.start);
  if (rewrites.length === 0) return { text: wholeText(whole), statements: new Map() };
  const digest = createHash('sha256').update(sql).digest('hex').slice(0, 16);
  const text = new EditedText(sql);
  const statements = new Map<string, TextSpan>();
  let at = 0;
  for (const rewrite of rewrites) {
    const { start, end } = rewrite;
    text.slice(at, start, NOTHING);
    if (rewrite.kind === 'travel') insertTravel(text, rewrite.travel);
    else if (rewrite.kind === 'schema') text.insert('');
    else if (rewrite.kind === 'column') text.insert(quoteIdentifier(sql.slice(start, end)));
    else {
      const name = `rows ${digest} ${statements.size}`;
      statements.set(name, { text: sql.slice(start, end), offset: start });
      text.insert(rewrite.kind === 'stage' ? quoteIdentifier(name) : `FROM ${quoteIdentifier(name)} AS "rows"`);
    }
    at = end;
  }
  return { text: text.slice(at, sql.length, NOTHING), statements };
}

/** A part of the text that is written anew. */
type Rewrite = Range &
  (
    | { readonly kind: 'statement' | 'stage' | 'column' | 'schema' }
    | { readonly kind: 'travel'; readonly travel: TravelClause }
  );

/** The name of a column with the statements and stages of its text as they were written, for which names stand. */
export function asWritten(name: string, statements: ReadonlyMap<string, TextSpan>): string {
  let shown = name;
  for (const [rows, { text }] of statements) {
    const quoted = quoteIdentifier(rows);
    for (const found of [`SELECT * FROM ${quoted} AS "rows"`, `SELECT * FROM ${quoted} AS rows`, quoted]) {
      shown = shown.replaceAll(found, () => text);
    }
  }
  return shown;
}

function insertTravel(text: EditedText, { unit, value, alias }: TravelClause): void {
  if (alias !== null) text.slice(alias.start, alias.end, NOTHING).insert(' ');
  text.insert(`AT (${unit} => `).slice(value.start, value.end, NOTHING).insert(')');
}

const NOTHING: ReadonlyMap<number, string> = new Map();

const SCHEMA = /\bpg_catalog\b/i;

/** The schemas before functions that the statement's context answers: these are macros, and stand in none. */
function contextSchemas(sql: string): readonly Range[] {
  if (!SCHEMA.test(sql)) return [];
  const found: Range[] = [];
  const tokens = new Tokenizer(sql);
  const last: Token[] = [];
  const textOf = (token: Token | undefined): string =>
    token === undefined ? '' : foldIdentifier(sql.slice(token.start, token.end));
  for (let token = tokens.next(); token.kind !== 'end'; token = tokens.next()) {
    const [before, schema, dot, name] = [last.at(-4), last.at(-3), last.at(-2), last.at(-1)];
    const isCall = textOf(schema) === 'pg_catalog' && textOf(dot) === '.' && textOf(token) === '(';
    if (
      isCall &&
      textOf(before) !== '.' &&
      CONTEXT_FUNCTIONS.has(textOf(name)) &&
      schema !== undefined &&
      name !== undefined
    ) {
      found.push({ start: schema.start, end: name.start });
    }
    last.push(token);
    if (last.length > 4) last.shift();
  }
  return found;
}

/** A bracket and a word of a statement, or a comment between them. */
const BRACKET = /\(\s*(?:show|desc|list|--|\/\*)/i;

/** Finds the statements that stand in brackets, the outermost of those within each other. */
function findStatements(sql: string): readonly Range[] {
  const found: Range[] = [];
  const tokens = new Tokenizer(sql);
  const isSymbol = (token: Token, symbol: string): boolean =>
    token.kind === 'symbol' && sql.slice(token.start, token.end) === symbol;
  let count = 0;
  let depth = 0;
  let previous: Token | null = null;
  let before = '';
  let open: { readonly start: number; readonly depth: number } | null = null;
  for (let token = tokens.next(); token.kind !== 'end'; token = tokens.next()) {
    const isBehind = previous !== null && isSymbol(previous, '(') && token.kind === 'word';
    const word = isBehind ? foldKeyword(sql.slice(token.start, token.end)) : '';
    if (WORDS.has(word) || (word === 'LIST' && BEFORE_LIST.has(before))) {
      count += 1;
      if (count > STATEMENTS_MAX) {
        const message = `a query reads at most ${STATEMENTS_MAX} SHOW, DESCRIBE and LIST statements`;
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
    if (!isSymbol(token, '(')) before = token.kind === 'word' ? foldKeyword(sql.slice(token.start, token.end)) : '';
    previous = token;
  }
  return found;
}
