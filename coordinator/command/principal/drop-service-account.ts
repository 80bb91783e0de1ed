import { takeIfExists } from '../clause/exists.ts';
import { takeAnyName } from './clauses.ts';
import { principalCommand } from './principal-command.ts';

/** `DROP SERVICE ACCOUNT [IF EXISTS] name` */
export const dropServiceAccount = principalCommand({
  words: ['DROP SERVICE ACCOUNT'],
  parse(reader) {
    reader.words(3);
    const ifExists = takeIfExists(reader);
    const name = takeAnyName(reader, 'a service account');
    reader.end();
    return { kind: 'drop_account', name, ifExists };
  },
});
