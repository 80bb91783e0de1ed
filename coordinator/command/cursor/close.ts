import type { CursorName } from '../../operation/cursors.ts';
import { statusResult } from '../../operation/answer.ts';
import type { Command } from '../command.ts';
import { takeCursor } from './cursor-name.ts';

/** `CLOSE name | ALL` (null) */
export const close: Command<CursorName | null> = {
  words: ['CLOSE'],
  queryType: 'transaction',
  timeout: 'coordinator',
  parse(reader) {
    reader.word();
    const isAll = reader.peekWord() === 'ALL';
    const cursor = takeCursor(reader);
    reader.end();
    return isAll ? null : cursor;
  },
  action: () => null,
  run(cursor, { cursors, answer }) {
    cursors.close(cursor);
    return answer(statusResult(cursor === null ? 'CLOSE CURSOR ALL' : 'CLOSE CURSOR'));
  },
};
