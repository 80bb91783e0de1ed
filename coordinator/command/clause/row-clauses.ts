import { foldIdentifier } from '#shared/sql/fold-identifier.ts';
import type { TextSpan } from '../../statement/statement.ts';
import type { StatementReader } from '../../statement/statement-reader.ts';
import type { SetColumn } from '../command.ts';

/** Words that may follow the name of the table, and are no alias unless they are quoted. */
const CLAUSES: ReadonlySet<string> = new Set(['SET', 'USING', 'ON', 'WHERE', 'RETURNING']);

/** `[AS] alias`; null when there is none. @throws SYNTAX_ERROR */
export function takeAlias(reader: StatementReader): string | null {
  const isNamed = reader.takeWord('AS');
  if (!isNamed && CLAUSES.has(reader.peekWord())) return null;
  const alias = reader.takeName();
  if (alias === null && isNamed) throw reader.expected('an alias');
  return alias;
}

/** `WHERE condition`; null when there is none. @throws SYNTAX_ERROR, NOT_SUPPORTED for RETURNING */
export function takeWhere(reader: StatementReader): TextSpan | null {
  const where = reader.takeWord('WHERE') ? reader.expression('a condition', 'RETURNING') : null;
  refuseClause(reader, 'RETURNING');
  return where;
}

/** @throws NOT_SUPPORTED when the word is there */
function refuseClause(reader: StatementReader, word: string): void {
  if (reader.peekWord() === word) throw reader.error('NOT_SUPPORTED', `${word} is not served here`);
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
