import { settingChange } from '../session/session-place.ts';
import type { TextSpan } from '../statement/statement.ts';
import type { Command } from './command.ts';
import { configCalls } from './set-config.ts';
import { signalCalls } from './signal-calls.ts';
import { QUERY_WORDS } from './query-words.ts';

/** A query: `SELECT`, and whatever else reads rows. It stays text. */
export const query: Command<{ readonly query: TextSpan }> = {
  words: QUERY_WORDS,
  tag: 'SELECT',
  queryType: 'select',
  timeout: 'session',
  parse: (reader) => ({ query: reader.takeRest() }),
  action: () => 'table.select',
  describe: ({ query: text }, { queries }) => queries.describe(text),
  async run({ query: text }, context) {
    for (const { name, value, isLocal } of configCalls(text)) {
      const { names, caller, session: state, config, transactions } = context;
      const scope = isLocal ? 'local' : 'session';
      const change = await settingChange({ names }, { caller, state, config }, { name, value, scope });
      // Outside of a transaction the setting ends with the statement.
      if (!isLocal || transactions.isInside()) context.updateSession(change);
    }
    for (const { signal, pid } of signalCalls(text)) context.records.signal(signal, pid);
    return context.queries.run(text);
  },
};
