import type { ObjectName } from '../../statement/statement.ts';
import type { Command } from '../command.ts';
import { loadMaterializedView } from '../view/load-materialized-view.ts';
import { planRefresh, refresh } from './refresh.ts';

/** `REFRESH MATERIALIZED VIEW name`: the rows that its query has now, in one commit */
export const refreshMaterializedView: Command<{ readonly name: ObjectName }> = {
  words: ['REFRESH MATERIALIZED VIEW'],
  queryType: 'maintenance',
  timeout: 'session',
  parse(reader) {
    reader.words(3);
    const name = reader.name('a materialized view', 3);
    reader.end();
    return { name };
  },
  action: () => 'table.commit',
  answers: () => ({ kind: 'count' }),
  async run({ name }, context) {
    const planned = await planRefresh(await loadMaterializedView(name, context), context, name.position);
    const { count, ...outcome } = await refresh(planned, context, name.position);
    return { ...(await context.answerCount(count)), ...outcome };
  },
};
