import { takeIfExists } from '../clause/exists.ts';
import { takeAnyName } from './clauses.ts';
import { principalCommand } from './principal-command.ts';

/** `DROP IDENTITY PROVIDER [IF EXISTS] p` */
export const dropProvider = principalCommand({
  words: ['DROP IDENTITY PROVIDER'],
  parse(reader) {
    reader.words(3);
    const ifExists = takeIfExists(reader);
    const name = takeAnyName(reader, 'an identity provider');
    reader.end();
    return { kind: 'drop_provider', name, ifExists };
  },
});
