import { PRIVILEGES } from '#shared/principal/privilege.ts';
import { takeAnyName } from './clauses.ts';
import { principalCommand } from './principal-command.ts';
import { takeGroup, takeHolder } from './take-holder.ts';
import type { StatementReader } from '../../statement/statement-reader.ts';
import type { RequestOf } from '#shared/principal/principal-request.ts';

/**
 * `GRANT | REVOKE ROLE r TO | FROM USER | SERVICE ACCOUNT n`, `GRANT | REVOKE MANAGE USERS | PATS | SERVICE ACCOUNTS | POLICIES TO | FROM USER n`,
 * `GRANT | REVOKE ROLE r TO | FROM GROUP 'name' OF p [WITH ADMINISTRATION]`, `GRANT | REVOKE BYPASS POLICIES TO | FROM USER | SERVICE ACCOUNT n`
 */
export const grant = principalCommand({
  words: ['GRANT ROLE', 'GRANT MANAGE', 'GRANT BYPASS', 'REVOKE ROLE', 'REVOKE MANAGE', 'REVOKE BYPASS'],
  parse(reader) {
    const isRevoke = reader.word() === 'REVOKE';
    const preposition = isRevoke ? 'FROM' : 'TO';
    const takePreposition = (): void => {
      if (!reader.takeWord(preposition)) throw reader.expected(preposition);
    };
    if (reader.takeWord('ROLE')) {
      const role = takeAnyName(reader, 'a role');
      takePreposition();
      if (reader.takeWord('GROUP')) return takeGroupGrant(reader, role, isRevoke);
      const holder = takeHolder(reader);
      reader.end();
      return { kind: 'grant_role', role, holder, isRevoke };
    }
    const privilege = PRIVILEGES.find((one) => reader.takeWords(...one.split(' ')));
    if (privilege === undefined) throw reader.expected(`one of ${PRIVILEGES.join(', ')}`);
    takePreposition();
    // Programs read whole tables, too; all other privileges are for people.
    if (privilege === 'BYPASS POLICIES') {
      const { kind, name } = takeHolder(reader);
      reader.end();
      return {
        kind: 'grant_privilege',
        privilege,
        user: name,
        ...(kind === 'SERVICE' ? { isAccount: true } : {}),
        isRevoke,
      };
    }
    if (!reader.takeWord('USER')) throw reader.expected('USER');
    const user = takeAnyName(reader, 'a user');
    reader.end();
    return { kind: 'grant_privilege', privilege, user, isRevoke };
  },
});

function takeGroupGrant(reader: StatementReader, role: string, isRevoke: boolean): RequestOf<'grant_group_role'> {
  const named = takeGroup(reader);
  const withAdministration = !isRevoke && reader.takeWords('WITH', 'ADMINISTRATION');
  reader.end();
  return { kind: 'grant_group_role', role, ...named, withAdministration, isRevoke };
}
