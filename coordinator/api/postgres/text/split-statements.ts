import { foldKeyword } from '#shared/sql/fold-identifier.ts';
import { SkeinError } from '#shared/error.ts';
import { Tokenizer } from '#shared/sql/tokenizer.ts';

/** A statement of a text that has several, and where it begins. */
export type PartOfText = { readonly sql: string; readonly offset: number };

/** Statements of one text: each is kept until the last of them has run. */
const STATEMENTS_MAX = 100_000;

/**
 * The statements of a text, without the empty ones. One that never closes a quote goes to the end: its own error says so.
 * @throws STATEMENT_TOO_COMPLEX
 */
export function splitStatements(text: string): readonly PartOfText[] {
  const parts: PartOfText[] = [];
  const tokens = new Tokenizer(text);
  let first: number | undefined;
  try {
    for (let token = tokens.next(); ; token = tokens.next()) {
      const isEnd = token.kind === 'end';
      const isBetween = isEnd || (token.kind === 'symbol' && text[token.start] === ';');
      if (!isBetween) first ??= token.start;
      else if (first !== undefined) {
        if (parts.length === STATEMENTS_MAX) throw tooMany();
        parts.push({ sql: text.slice(first, token.start), offset: first });
        first = undefined;
      }
      if (isEnd) return parts;
    }
  } catch (error) {
    if (!(error instanceof SkeinError) || error.code === 'STATEMENT_TOO_COMPLEX') throw error;
    const offset = first ?? parts.reduce((end, { sql, offset: at }) => Math.max(end, at + sql.length), 0);
    return [...parts, { sql: text.slice(offset), offset }];
  }
}

const tooMany = (): SkeinError =>
  new SkeinError('STATEMENT_TOO_COMPLEX', `a text has at most ${STATEMENTS_MAX} statements`);

/** Words up to the one that says to what ROLLBACK goes back: `ROLLBACK TRANSACTION TO`. */
const WORDS_MAX = 3;

/** The first word of a statement, in capitals; `ROLLBACK TO` for that, which does not end a transaction. */
export function controlWord(sql: string): string {
  const first = firstWord(sql);
  if (first !== 'ROLLBACK') return first;
  const words: string[] = [];
  const tokens = new Tokenizer(sql);
  try {
    for (let token = tokens.next(); token.kind === 'word' && words.length < WORDS_MAX; token = tokens.next()) {
      words.push(foldKeyword(sql.slice(token.start, token.end)));
    }
  } catch {
    return first;
  }
  const next = words[1] === 'WORK' || words[1] === 'TRANSACTION' ? words[2] : words[1];
  return next === 'TO' ? 'ROLLBACK TO' : first;
}

/** The first word of a statement, in capitals; empty when it begins with something else. */
function firstWord(sql: string): string {
  try {
    const token = new Tokenizer(sql).next();
    return token.kind === 'word' ? foldKeyword(sql.slice(token.start, token.end)) : '';
  } catch {
    return '';
  }
}
