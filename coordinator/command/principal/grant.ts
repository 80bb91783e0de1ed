import { PRIVILEGES } from '#shared/principal/privilege.ts';
import { takeAnyName } from './clauses.ts';
import { principalCommand } from './principal-command.ts';
import { takeHolder } from './take-holder.ts';

/** `GRANT | REVOKE ROLE r TO | FROM USER | SERVICE ACCOUNT n`, `GRANT | REVOKE MANAGE USERS | PATS | SERVICE ACCOUNTS TO | FROM USER n` */
export const grant = principalCommand({
  words: ['GRANT ROLE', 'GRANT MANAGE', 'REVOKE ROLE', 'REVOKE MANAGE'],
  parse(reader) {
    const isRevoke = reader.word() === 'REVOKE';
    const preposition = isRevoke ? 'FROM' : 'TO';
    const takePreposition = (): void => {
      if (!reader.takeWord(preposition)) throw reader.expected(preposition);
    };
    if (reader.takeWord('ROLE')) {
      const role = takeAnyName(reader, 'a role');
      takePreposition();
      const holder = takeHolder(reader);
      reader.end();
      return { kind: 'grant_role', role, holder, isRevoke };
    }
    const privilege = PRIVILEGES.find((one) => reader.takeWords(...one.split(' ')));
    if (privilege === undefined) throw reader.expected(`one of ${PRIVILEGES.join(', ')}`);
    takePreposition();
    if (!reader.takeWord('USER')) throw reader.expected('USER');
    const user = takeAnyName(reader, 'a user');
    reader.end();
    return { kind: 'grant_privilege', privilege, user, isRevoke };
  },
});
