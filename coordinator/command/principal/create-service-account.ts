import { takeIfNotExists } from '../clause/exists.ts';
import { defined, takeAnyName, takeClauses } from './clauses.ts';
import { principalCommand } from './principal-command.ts';

/** `CREATE SERVICE ACCOUNT [IF NOT EXISTS] name [DEFAULT_ROLE = r] [COMMENT = 't']` */
export const createServiceAccount = principalCommand({
  words: ['CREATE SERVICE ACCOUNT'],
  parse(reader) {
    reader.words(3);
    const ifNotExists = takeIfNotExists(reader);
    const name = takeAnyName(reader, 'a service account');
    const given = takeClauses(reader, { DEFAULT_ROLE: 'name', COMMENT: 'text' });
    reader.end();
    const rest = defined({ defaultRole: given.DEFAULT_ROLE, comment: given.COMMENT });
    return { kind: 'create_account', name, ifNotExists, ...rest };
  },
});
