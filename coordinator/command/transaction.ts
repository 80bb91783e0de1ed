import { SkeinError } from '#shared/error.ts';
import type { Command } from './command.ts';

/** `BEGIN`, `COMMIT`, `ROLLBACK` and their synonyms: they are parsed so that the error can say that transactions are not supported. */
export const transaction: Command<null> = {
  words: ['BEGIN', 'START', 'COMMIT', 'END', 'ROLLBACK', 'ABORT'],
  queryType: 'transaction',
  timeout: 'coordinator',
  parse(reader) {
    const isStart = reader.word() === 'START';
    if (!reader.takeWord('TRANSACTION')) {
      if (isStart) throw reader.expected('TRANSACTION');
      reader.takeWord('WORK');
    }
    reader.end();
    return null;
  },
  action: () => null,
  run: () => Promise.reject(new SkeinError('NOT_SUPPORTED', 'transactions are not served')),
};
