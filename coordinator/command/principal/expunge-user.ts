import { takeAnyName, takeText } from './clauses.ts';
import { principalCommand } from './principal-command.ts';

/** `EXPUNGE USER name REASON 'text'` */
export const expungeUser = principalCommand({
  words: ['EXPUNGE USER'],
  parse(reader) {
    reader.words(2);
    const name = takeAnyName(reader, 'a user');
    if (!reader.takeWord('REASON')) throw reader.expected('REASON');
    reader.takeSymbol('=');
    const reason = takeText(reader, 'the reason');
    reader.end();
    return { kind: 'expunge_user', name, reason };
  },
});
