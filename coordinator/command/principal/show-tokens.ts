import { takeAnyName } from './clauses.ts';
import { principalRows } from './principal-command.ts';

/** `SHOW PERSONAL ACCESS TOKENS [FOR user]` */
export const showTokens = principalRows({
  words: ['SHOW PERSONAL ACCESS TOKENS'],
  parse(reader) {
    reader.words(4);
    const owner = reader.takeWord('FOR') ? takeAnyName(reader, 'a user') : null;
    reader.end();
    return { kind: 'show_tokens', owner };
  },
});
