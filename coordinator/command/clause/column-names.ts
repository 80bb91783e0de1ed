import type { StatementReader } from '../../statement/statement-reader.ts';
import type { ColumnName } from '../../operation/target-columns.ts';

/** Takes `(column, ...)`, whose first bracket is the next token. @throws SYNTAX_ERROR */
export function takeColumnNames(reader: StatementReader): readonly ColumnName[] {
  reader.takeSymbol('(');
  const names: ColumnName[] = [];
  do {
    const { parts, position } = reader.name('a column', 1);
    names.push({ name: parts[0] ?? '', position });
  } while (reader.takeSymbol(','));
  if (!reader.takeSymbol(')')) throw reader.expected("')'");
  return names;
}
