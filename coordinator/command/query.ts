import type { TextSpan } from '../statement/statement.ts';
import type { Command } from './command.ts';
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
  run: ({ query: text }, { queries }) => queries.run(text),
};
