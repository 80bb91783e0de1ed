import { takeIfExists } from '../clause/exists.ts';
import { takeAnyName } from './clauses.ts';
import { principalCommand } from './principal-command.ts';

/** `DROP ROLE [IF EXISTS] name` */
export const dropRole = principalCommand({
  words: ['DROP ROLE'],
  parse(reader) {
    reader.words(2);
    const ifExists = takeIfExists(reader);
    const name = takeAnyName(reader, 'a role');
    reader.end();
    return { kind: 'drop_role', name, ifExists };
  },
});
