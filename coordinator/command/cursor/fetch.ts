import type { Command } from '../command.ts';
import { takeMove, type Move } from './take-move.ts';

/** `FETCH [direction] [FROM | IN] name` */
export const fetch: Command<Move> = {
  words: ['FETCH'],
  queryType: 'transaction',
  timeout: 'session',
  parse: takeMove,
  action: () => null,
  formOf: (cursor, { cursors }) => ({ kind: 'rows', columns: cursors.columns(cursor) }),
  run: (cursor, { cursors }) => cursors.fetch(cursor, cursor.move),
};
