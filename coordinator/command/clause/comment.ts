import type { StatementReader } from '../../statement/statement-reader.ts';

/** `COMMENT 'text'`, `COMMENT = 'text'`; null when there is none. @throws SYNTAX_ERROR */
export function takeComment(reader: StatementReader): string | null {
  if (!reader.takeWord('COMMENT')) return null;
  reader.takeSymbol('=');
  const text = reader.takeString();
  if (text === null) throw reader.expected('a text in quotes');
  return text;
}
