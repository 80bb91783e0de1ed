import { takeText } from './clauses.ts';
import { principalCommand } from './principal-command.ts';

/** `ALTER USER SELF SET PASSWORD 'new' OLD PASSWORD 'old'` */
export const alterSelf = principalCommand({
  words: ['ALTER USER SELF'],
  parse(reader) {
    reader.words(3);
    if (['ENROLL', 'VERIFY', 'DISABLE'].includes(reader.peekWord())) {
      throw reader.error('NOT_SUPPORTED', 'statements about a second factor are not served');
    }
    if (!reader.takeWords('SET', 'PASSWORD')) throw reader.expected('SET PASSWORD');
    reader.takeSymbol('=');
    const password = takeText(reader, 'the new password');
    if (!reader.takeWords('OLD', 'PASSWORD')) throw reader.expected('OLD PASSWORD');
    reader.takeSymbol('=');
    const oldPassword = takeText(reader, 'the old password');
    reader.end();
    return { kind: 'set_own_password', password, oldPassword };
  },
});
