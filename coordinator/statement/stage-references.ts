import { SkeinError } from '#shared/error.ts';
import { foldKeyword } from '#shared/sql/fold-identifier.ts';
import { StatementReader } from './statement-reader.ts';
import { Tokenizer, type Token } from '#shared/sql/tokenizer.ts';

/** A part of a text, in its characters. */
export type TextRange = { readonly start: number; readonly end: number };

/** Stages within one query: the files of each are listed. */
const STAGES_MAX = 16;

/** The stages that a query reads like tables, and its columns `$1`, `$2`: where there is a stage, they are no parameters. */
type FoundStages = { readonly references: readonly TextRange[]; readonly columns: readonly TextRange[] };
const NO_STAGES: FoundStages = { references: [], columns: [] };

/** Tokens that stand before a stage in a query. */
const BEFORE_STAGE: ReadonlySet<string> = new Set(['FROM', 'JOIN']);
/** A column of a file by its place. */
const PLACE = /^\$[0-9]+$/;

/** Finds `@stage/path (options)` behind FROM and JOIN, and, where there is one, the columns `$1`, `$2`. @throws STATEMENT_TOO_COMPLEX */
export function findStages(sql: string): FoundStages {
  if (!sql.includes('@')) return NO_STAGES;
  const references: TextRange[] = [];
  const columns: TextRange[] = [];
  let tokens = new Tokenizer(sql);
  let before = '';
  for (let token = tokens.next(); token.kind !== 'end'; token = tokens.next()) {
    if (token.kind === 'parameter' && PLACE.test(sql.slice(token.start, token.end))) columns.push(token);
    const isStage = sql.startsWith(token.kind === 'string' ? "'@" : '@', token.start);
    if (isStage && BEFORE_STAGE.has(before)) {
      const end = stageEnd(sql, token);
      references.push({ start: token.start, end });
      if (references.length > STAGES_MAX) {
        const message = `a query reads at most ${STAGES_MAX} stages`;
        throw new SkeinError('STATEMENT_TOO_COMPLEX', message, { position: token.start });
      }
      tokens = new Tokenizer(sql, end);
    }
    before = token.kind === 'word' ? foldKeyword(sql.slice(token.start, token.end)) : '';
  }
  return references.length === 0 ? NO_STAGES : { references, columns };
}

/** The end of a stage that begins with a token, and of its options. */
function stageEnd(sql: string, { start, end }: Token): number {
  const reference = new StatementReader({ text: sql.slice(start), offset: start }).takeReference();
  const endOfName = sql.startsWith("'", start) ? end : start + (reference?.text.length ?? 0);
  const tokens = new Tokenizer(sql, endOfName);
  const [open, word, sign] = [tokens.next(), tokens.next(), tokens.next()];
  if (sql[open.start] !== '(' || word.kind !== 'word' || sql[sign.start] !== '=') return endOfName;
  for (let depth = 1, token = tokens.next(); token.kind !== 'end'; token = tokens.next()) {
    const symbol = token.kind === 'symbol' ? sql.slice(token.start, token.end) : '';
    if (symbol === '(') depth += 1;
    if (symbol === ')') depth -= 1;
    if (depth === 0) return token.end;
  }
  return endOfName;
}
