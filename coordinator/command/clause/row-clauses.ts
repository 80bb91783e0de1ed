import { RESERVED_WORDS } from '#shared/sql/reserved-words.ts';
import { foldIdentifier } from '#shared/sql/fold-identifier.ts';
import type { TextSpan } from '../../statement/statement.ts';
import { StatementReader } from '../../statement/statement-reader.ts';
import type { SetColumn } from '../../operation/row-write.ts';

/** `[AS] alias`; null when there is none. A word that DuckDB reserves is none unless it is quoted. @throws SYNTAX_ERROR */
export function takeAlias(reader: StatementReader): string | null {
  const isNamed = reader.takeWord('AS');
  const word = reader.peekWord();
  // SET is no reserved word.
  if (!isNamed && (RESERVED_WORDS.has(word) || word === 'SET')) return null;
  const alias = RESERVED_WORDS.has(word) ? null : reader.takeName();
  if (alias === null && isNamed) throw reader.expected('an alias');
  return alias;
}

/** `WHERE condition`; null when there is none. @throws SYNTAX_ERROR */
export const takeWhere = (reader: StatementReader): TextSpan | null =>
  reader.takeWord('WHERE') ? reader.expression('a condition', 'RETURNING') : null;

/** Words that would go on with a query behind its list. */
const QUERY_CLAUSES = `FROM WHERE GROUP HAVING WINDOW QUALIFY ORDER LIMIT OFFSET FETCH UNION INTERSECT EXCEPT USING
  TABLESAMPLE INTO FOR`.split(/\s+/);

/** `RETURNING expression [AS name], ... | *` to the end of the statement; null when there is none. @throws SYNTAX_ERROR, NOT_SUPPORTED */
export function takeReturning(reader: StatementReader): TextSpan | null {
  if (!reader.takeWord('RETURNING')) return null;
  if (reader.peekWord() === 'WITH') throw reader.error('NOT_SUPPORTED', 'RETURNING WITH is not served');
  if (['DISTINCT', 'ALL'].includes(reader.peekWord())) throw reader.expected('an expression');
  const list = reader.rest();
  let end = 0;
  do {
    const { text, offset } = reader.expression('an expression', ...QUERY_CLAUSES);
    end = offset + text.length - list.offset;
  } while (reader.takeSymbol(','));
  reader.end();
  return { text: list.text.slice(0, end), offset: list.offset };
}

/** A query, and the RETURNING behind it: a word outside of brackets. */
export function splitReturning(span: TextSpan): readonly [query: TextSpan, returning: TextSpan | null] {
  if (!/returning/i.test(span.text)) return [span, null];
  const found = new StatementReader(span).find('RETURNING');
  if (found === null) return [span, null];
  const at = found - span.offset;
  const returning = takeReturning(new StatementReader({ text: span.text.slice(at), offset: found }));
  return [{ text: span.text.slice(0, at).trimEnd(), offset: span.offset }, returning];
}

/** `column = value | DEFAULT, ...`, up to one of the words, which are in capitals. @throws SYNTAX_ERROR */
export function takeSet(reader: StatementReader, ...ends: readonly string[]): readonly SetColumn[] {
  const set: SetColumn[] = [];
  do {
    const { parts, position } = reader.name('a column', 1);
    if (!reader.takeSymbol('=')) throw reader.expected("'='");
    set.push({ name: parts[0] ?? '', position, value: notDefault(reader.expression('a value', ...ends)) });
  } while (reader.takeSymbol(','));
  return set;
}

/** Null for DEFAULT. */
export const notDefault = (value: TextSpan): TextSpan | null =>
  foldIdentifier(value.text) === 'default' ? null : value;
