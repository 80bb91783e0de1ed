import { foldIdentifier } from '#shared/sql/fold-identifier.ts';
import type { StatementReader } from '../statement/statement-reader.ts';
import { takeAlias, takeWhere } from './clause/row-clauses.ts';
import type { Command, SetColumn, Update } from './command.ts';

/** `UPDATE [catalog.][schema.]table [[AS] alias] SET column = value | DEFAULT, ... [FROM tables] [WHERE condition]` */
export const update: Command<Update> = {
  words: ['UPDATE'],
  queryType: 'update',
  timeout: 'session',
  parse(reader) {
    reader.words(1);
    const table = reader.name('a table', 3);
    const alias = takeAlias(reader);
    const rest = reader.rest();
    if (!reader.takeWord('SET')) throw reader.expected('SET');
    const set: SetColumn[] = [];
    do set.push(takeColumn(reader));
    while (reader.takeSymbol(','));
    const from = reader.takeWord('FROM') ? reader.clause('a table', 'WHERE', 'RETURNING') : null;
    const where = takeWhere(reader);
    reader.end();
    return { table, alias, set, from, where, rest };
  },
  action: () => 'table.commit',
  async run(input, { writes, answerCount }) {
    const { count, ...outcome } = await writes.update(input);
    return { ...(await answerCount(count)), ...outcome };
  },
};

function takeColumn(reader: StatementReader): SetColumn {
  const { parts, position } = reader.name('a column', 1);
  if (!reader.takeSymbol('=')) throw reader.expected("'='");
  const value = reader.expression('a value', 'FROM', 'WHERE', 'RETURNING');
  return { name: parts[0] ?? '', position, value: foldIdentifier(value.text) === 'default' ? null : value };
}
