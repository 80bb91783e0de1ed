import type { ObjectName } from '../../statement/statement.ts';
import { formAnswer, formColumns, type RowForm } from '../../operation/row-form.ts';
import type { Analyze, Analyzed } from '../../operation/writes.ts';
import type { Command } from '../command.ts';

const COLUMNS: RowForm<Analyzed['columns'][number]> = {
  column_name: ['VARCHAR', (one) => one.name],
  distinct_count: ['BIGINT', (one) => one.distinct],
};

/** `ANALYZE [TABLE] table [(column, ...)]`: distinct counts of columns, kept beside the current snapshot, which estimates use. */
export const analyze: Command<Analyze> = {
  words: ['ANALYZE'],
  queryType: 'maintenance',
  timeout: 'session',
  parse(reader) {
    reader.words(1);
    reader.takeWord('TABLE');
    const table = reader.name('a table', 3);
    const columns: ObjectName[] = [];
    if (reader.takeSymbol('(')) {
      do columns.push(reader.name('a column', 1));
      while (reader.takeSymbol(','));
      if (!reader.takeSymbol(')')) throw reader.expected("',' or ')'");
    }
    reader.end();
    return { table, columns: columns.length === 0 ? null : columns };
  },
  action: () => 'table.commit',
  answers: () => ({ kind: 'rows', columns: formColumns(COLUMNS) }),
  async run(input, context) {
    const { columns, ...cost } = await context.writes.analyze(input);
    return { ...(await context.answer(formAnswer(COLUMNS, columns))), ...cost };
  },
};
