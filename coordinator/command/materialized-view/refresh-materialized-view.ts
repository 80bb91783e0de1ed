import type { ObjectName } from '../../statement/statement.ts';
import type { Command } from '../command.ts';
import { loadMaterializedView, refresh } from './materialized-view.ts';

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
  async run({ name }, context) {
    const { count, ...outcome } = await refresh(await loadMaterializedView(name, context), context, name.position);
    return { ...(await context.answerCount(count)), ...outcome };
  },
};
