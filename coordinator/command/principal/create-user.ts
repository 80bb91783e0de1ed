import { foldKeyword } from '#shared/sql/fold-identifier.ts';
import { takeIfNotExists } from '../clause/exists.ts';
import { defined, takeAnyName, takeClauses } from './clauses.ts';
import { principalCommand } from './principal-command.ts';

/** `CREATE USER [IF NOT EXISTS] name EMAIL = 'e' [PASSWORD = 'p'] [DISPLAY_NAME = 't'] [DEFAULT_ROLE = r] ...` */
export const createUser = principalCommand({
  words: ['CREATE USER'],
  parse(reader) {
    reader.words(2);
    const ifNotExists = takeIfNotExists(reader);
    const name = takeAnyName(reader, 'a user');
    const given = takeClauses(reader, {
      EMAIL: 'text',
      PASSWORD: 'text',
      DISPLAY_NAME: 'text',
      DEFAULT_ROLE: 'name',
      DEFAULT_WAREHOUSE: 'name',
      MUST_CHANGE_PASSWORD: 'flag',
      COMMENT: 'text',
      IDENTITY_SOURCE: 'text',
    });
    if (given.EMAIL === undefined) throw reader.expected('EMAIL, which CREATE USER needs,');
    if (foldKeyword(given.IDENTITY_SOURCE ?? 'NATIVE') !== 'NATIVE') {
      throw reader.error('NOT_SUPPORTED', "IDENTITY_SOURCE is 'NATIVE'");
    }
    reader.end();
    const profile = defined({
      email: given.EMAIL,
      password: given.PASSWORD,
      displayName: given.DISPLAY_NAME,
      defaultRole: given.DEFAULT_ROLE,
      defaultWarehouse: given.DEFAULT_WAREHOUSE,
      mustChangePassword: given.MUST_CHANGE_PASSWORD,
      comment: given.COMMENT,
    });
    return { kind: 'create_user', name, ifNotExists, ...profile };
  },
});
