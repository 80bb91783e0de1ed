import type { StatementReader } from '../../statement/statement-reader.ts';

/** A literal as it is written. */
export type LiteralClause = {
  readonly value: null | boolean | { readonly digits: string } | { readonly text: string };
  readonly position: number;
};

/** Words that may stand before a text to say its type. */
const TYPE_WORDS: readonly (readonly string[])[] = [
  ['TIMESTAMP', 'WITH', 'TIME', 'ZONE'],
  ['TIMESTAMP'],
  ['TIMESTAMPTZ'],
  ['TIMESTAMP_NS'],
  ['DATE'],
  ['TIME'],
  ['UUID'],
  ['BLOB'],
];

/** `NULL`, `TRUE`, `-1.5`, `'text'`, `DATE '2024-02-29'`. @throws SYNTAX_ERROR for any other expression */
export function takeLiteral(reader: StatementReader, what: string): LiteralClause {
  const { position } = reader;
  // As the values of parameters stand in the text.
  if (reader.takeSymbol('(')) {
    const literal = takeLiteral(reader, what);
    if (!reader.takeSymbol(')')) throw reader.expected("')'");
    return literal;
  }
  if (reader.takeWord('NULL')) return { value: null, position };
  if (reader.takeWord('TRUE')) return { value: true, position };
  if (reader.takeWord('FALSE')) return { value: false, position };
  const sign = reader.takeSymbol('-') ? '-' : '';
  if (sign === '') reader.takeSymbol('+');
  const digits = reader.takeNumber();
  if (digits !== null) return { value: { digits: `${sign}${digits.replaceAll('_', '')}` }, position };
  if (sign === '') TYPE_WORDS.some((words) => reader.takeWords(...words));
  const text = sign === '' ? reader.takeString() : null;
  if (text === null) throw reader.expected(`a literal, because ${what} is a value and not an expression,`);
  return { value: { text }, position };
}
