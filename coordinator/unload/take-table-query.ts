import { quoteIdentifier } from '#shared/sql/quote.ts';
import type { StatementReader } from '../statement/statement-reader.ts';
import type { TextSpan } from '../statement/statement.ts';

const WHOLE_TABLE = 'SELECT * FROM ';

/** Takes a query in brackets, or the name of a table, whose rows are then the query's. @throws SYNTAX_ERROR */
export function takeTableQuery(reader: StatementReader): TextSpan {
  if (reader.takeSymbol('(')) {
    const query = reader.clause('a query', ')');
    if (!reader.takeSymbol(')')) throw reader.expected("')'");
    return query;
  }
  const { parts, position } = reader.name('a table, or a query in brackets,', 3);
  // The name stands at the same place of the statement, so that errors point to it.
  return { text: `${WHOLE_TABLE}${parts.map(quoteIdentifier).join('.')}`, offset: position - WHOLE_TABLE.length };
}
