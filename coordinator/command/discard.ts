import { SkeinError } from '#shared/error.ts';
import { EMPTY_SESSION } from '../session/session.ts';
import { statusResult } from '../operation/answer.ts';
import type { Command } from './command.ts';

const KINDS = ['ALL', 'PLANS', 'SEQUENCES', 'TEMPORARY', 'TEMP'] as const;

/** `DISCARD ALL | PLANS | SEQUENCES | TEMP`: ALL makes the session as its client has begun it; the others have nothing to discard here. */
export const discard: Command<(typeof KINDS)[number]> = {
  words: ['DISCARD'],
  queryType: 'set',
  timeout: 'coordinator',
  parse(reader) {
    reader.word();
    const kind = KINDS.find((word) => reader.takeWord(word));
    if (kind === undefined) throw reader.expected('ALL, PLANS, SEQUENCES or TEMP');
    reader.end();
    return kind === 'TEMPORARY' ? 'TEMP' : kind;
  },
  action: () => null,
  run(kind, { transactions, cursors, updateSession, answer }) {
    if (kind === 'ALL') {
      if (transactions.isInside())
        throw new SkeinError('IN_TRANSACTION', 'DISCARD ALL cannot run inside a transaction');
      cursors.close(null);
      updateSession(({ catalog, initial }) => ({ ...EMPTY_SESSION, catalog, initial }));
    }
    return answer(statusResult(`DISCARD ${kind}`));
  },
};
