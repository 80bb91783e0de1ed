import type { Command } from '../command.ts';
import { takeMove, type Move } from './take-move.ts';

/** `MOVE [direction] [FROM | IN] name`: FETCH without the rows. It answers how many they are. */
export const move: Command<Move> = {
  words: ['MOVE'],
  queryType: 'transaction',
  timeout: 'session',
  parse: takeMove,
  action: () => null,
  answers: () => ({ kind: 'count' }),
  run: async (cursor, { cursors, answerCount }) => answerCount(cursors.move(cursor, cursor.move)),
};
