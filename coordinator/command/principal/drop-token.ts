import { takeIfExists } from '../clause/exists.ts';
import { takeAnyName } from './clauses.ts';
import { principalCommand } from './principal-command.ts';

/** `DROP PERSONAL ACCESS TOKEN [IF EXISTS] name [FOR user]` */
export const dropToken = principalCommand({
  words: ['DROP PERSONAL ACCESS TOKEN'],
  parse(reader) {
    reader.words(4);
    const ifExists = takeIfExists(reader);
    const name = takeAnyName(reader, 'a token');
    const owner = reader.takeWord('FOR') ? takeAnyName(reader, 'a user') : null;
    reader.end();
    return { kind: 'drop_token', name, owner, ifExists };
  },
});
