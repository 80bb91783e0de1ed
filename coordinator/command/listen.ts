import { statusResult } from '../operation/answer.ts';
import type { Command } from './command.ts';

/** `UNLISTEN * | channel`, which has nothing to end; `LISTEN` and `NOTIFY` are refused, because nothing would ever be heard. */
export const listen: Command<null> = {
  words: ['UNLISTEN', 'LISTEN', 'NOTIFY'],
  queryType: 'set',
  timeout: 'coordinator',
  parse(reader) {
    const word = reader.peekWord();
    if (word !== 'UNLISTEN') {
      throw reader.error('NOT_SUPPORTED', `${word} is not served: sessions send no notifications to each other`);
    }
    reader.word();
    if (!reader.takeSymbol('*')) reader.name('a channel, or *', 1);
    reader.end();
    return null;
  },
  action: () => null,
  run: (_input, { answer }) => answer(statusResult('UNLISTEN')),
};
