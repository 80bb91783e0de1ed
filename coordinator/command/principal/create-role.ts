import { takeIfNotExists } from '../clause/exists.ts';
import { defined, takeAnyName, takeClauses } from './clauses.ts';
import { principalCommand } from './principal-command.ts';

/** `CREATE ROLE [IF NOT EXISTS] name [SCOPE 'words'] [COMMENT 'text']` */
export const createRole = principalCommand({
  words: ['CREATE ROLE'],
  parse(reader) {
    reader.words(2);
    const ifNotExists = takeIfNotExists(reader);
    const name = takeAnyName(reader, 'a role');
    const given = takeClauses(reader, { SCOPE: 'text', COMMENT: 'text' });
    reader.end();
    return { kind: 'create_role', name, ifNotExists, ...defined({ scope: given.SCOPE, comment: given.COMMENT }) };
  },
});
