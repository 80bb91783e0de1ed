import { cutText } from '#shared/cut-text.ts';
import { foldIdentifier } from '#shared/sql/fold-identifier.ts';
import { quoteIdentifier } from '#shared/sql/quote.ts';
import { NO_CALLS, type CallText, type Span } from './call-text.ts';

/** Longest name that is made of an expression, in bytes. */
const NAME_MAX = 1_000;

/**
 * Names the columns of queries that have become other text, and have no name: a call by its function, as Postgres does, anything else by its
 * text as it was written, which is how the engine names a column.
 * ```
 * SELECT coalesce(json_agg(a), '[]'), initcap(b) || '!'
 *   ->  SELECT coalesce(..., '[]') AS coalesce, ... || '!' AS "initcap(b) || '!'"
 * ```
 */
export function nameColumns(text: CallText): void {
  for (const select of text.selects()) {
    for (const item of text.columnsOf(select)) {
      if (!text.isChanged(item) || isMany(text, item)) continue;
      const name = functionOf(text, item) ?? textOf(text, item);
      if (name !== undefined) text.append(item.to - 1, ` AS ${name}`);
    }
  }
}

/** Words before a bracket by which no column is named. */
const NAMELESS: ReadonlySet<string> = new Set([...NO_CALLS, 'CAST', 'TRY_CAST']);

/** The function of a column that is one call. */
function functionOf(text: CallText, { from, to }: Span): string | undefined {
  const at = text.symbol(from + 1) === '.' ? from + 2 : from;
  const close = text.symbol(at + 1) === '(' ? text.closing(at + 1) : undefined;
  const word = text.word(at);
  if (word === '' || NAMELESS.has(word) || close === undefined || text.endOfCall(close) !== to - 1) return undefined;
  return foldIdentifier(word);
}

/** The text of a column which ends with what is no name. */
function textOf(text: CallText, item: Span): string | undefined {
  const last = item.to - 1;
  const isValue = text.symbol(last) === ')' || text.symbol(last) === ']' || text.isString(last) || text.isNumber(last);
  if (!isValue || text.word(last - 1) === 'AS') return undefined;
  return quoteIdentifier(cutText(text.written(item), NAME_MAX));
}

/** Whether it stands for many columns: a star, or a call of COLUMNS somewhere. */
function isMany(text: CallText, { from, to }: Span): boolean {
  let star = from;
  while (text.symbol(star + 1) === '.') star += 2;
  if (text.symbol(star) === '*') return true;
  for (let at = from; at < to; at += 1) if (text.word(at) === 'COLUMNS' && text.symbol(at + 1) === '(') return true;
  return false;
}
