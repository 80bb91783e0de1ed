import type { ObjectName } from '../../statement/statement.ts';
import { withNamePosition } from '../../operation/with-name-position.ts';
import type { Command } from '../command.ts';
import { qualify } from '../../operation/qualify.ts';
import { METRIC_COLUMNS, runProcedure, takeCondition, type ProcedureClause } from './procedures.ts';

type OptimizeTable = { readonly name: ObjectName; readonly call: ProcedureClause };

/** `OPTIMIZE [TABLE] table [WHERE condition]`: short for `ALTER TABLE table EXECUTE optimize`. */
export const optimizeTable: Command<OptimizeTable> = {
  words: ['OPTIMIZE'],
  queryType: 'maintenance',
  timeout: 'session',
  parse(reader) {
    const { position } = reader;
    reader.words(1);
    reader.takeWord('TABLE');
    const name = reader.name('a table', 3);
    const where = takeCondition(reader);
    reader.end();
    return { name, call: { procedure: 'optimize', values: [], where, position } };
  },
  action: () => 'table.commit',
  answers: () => ({ kind: 'rows', columns: METRIC_COLUMNS }),
  async run({ name, call }, context) {
    const done = qualify(name, context).then((table) => runProcedure(call, table, context));
    const { answer, cost } = await withNamePosition(name, done);
    return { ...(await context.answer(answer)), ...cost };
  },
};
