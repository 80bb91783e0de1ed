import type { CursorDefinition } from '../../operation/cursors.ts';
import { statusResult } from '../../operation/answer.ts';
import { startsQuery } from '../query-words.ts';
import type { Command } from '../command.ts';
import { takeCursor } from './cursor-name.ts';

const TAG = 'DECLARE CURSOR';

/** `DECLARE name [BINARY] [ASENSITIVE | INSENSITIVE] [[NO] SCROLL] CURSOR [WITH HOLD | WITHOUT HOLD] FOR query` */
export const declare: Command<CursorDefinition> = {
  words: ['DECLARE'],
  tag: TAG,
  queryType: 'select',
  timeout: 'session',
  parse(reader) {
    reader.word();
    const cursor = takeCursor(reader);
    let canScroll = true;
    for (let isOption = true; isOption;) {
      if (reader.takeWords('NO', 'SCROLL')) canScroll = false;
      else isOption = ['SCROLL', 'ASENSITIVE', 'INSENSITIVE'].some((word) => reader.takeWord(word));
    }
    if (reader.peekWord() === 'BINARY') throw reader.error('NOT_SUPPORTED', 'BINARY cursors are not served');
    if (!reader.takeWord('CURSOR')) throw reader.expected('CURSOR');
    const isHeld = reader.takeWords('WITH', 'HOLD');
    if (!isHeld) reader.takeWords('WITHOUT', 'HOLD');
    if (!reader.takeWord('FOR')) throw reader.expected('FOR');
    if (!startsQuery(reader) && reader.peekWord() !== 'TABLE') throw reader.expected('a query');
    return { ...cursor, canScroll, isHeld, query: reader.takeRest() };
  },
  action: () => 'table.select',
  queryIn: ({ query }) => query,
  async run(definition, { cursors, answer }) {
    const cost = await cursors.declare(definition);
    return { ...(await answer(statusResult(TAG))), ...cost };
  },
};
