import type { PrincipalRequest } from '#shared/principal/principal-request.ts';
import type { StatementReader } from '../../statement/statement-reader.ts';
import { defined, takeAnyName, takeClauses, takeText } from './clauses.ts';
import { principalCommand } from './principal-command.ts';

/**
 * `ALTER USER name SET PASSWORD = 'p' EMAIL = 'e' ...`, `UNSET DISPLAY_NAME, COMMENT`, `SUSPEND`, `UNSUSPEND`, `UNLOCK`, `RESET MFA`, `RENAME TO other`,
 * `SET LEGAL HOLD REASON 't'`, `CLEAR LEGAL HOLD`
 */
export const alterUser = principalCommand({
  words: ['ALTER USER'],
  parse(reader) {
    reader.words(2);
    const name = takeAnyName(reader, 'a user');
    const request = changeOf(reader, name);
    reader.end();
    return request;
  },
});

function changeOf(reader: StatementReader, name: string): PrincipalRequest {
  if (reader.takeWords('SET', 'LEGAL', 'HOLD')) {
    if (!reader.takeWord('REASON')) throw reader.expected('REASON');
    return { kind: 'set_legal_hold', name, reason: takeText(reader, 'the reason') };
  }
  if (reader.takeWords('CLEAR', 'LEGAL', 'HOLD')) return { kind: 'set_legal_hold', name, reason: null };
  if (reader.takeWord('SET')) return setOf(reader, name);
  if (reader.takeWord('UNSET')) return unsetOf(reader, name);
  if (reader.takeWord('SUSPEND')) return { kind: 'set_user_state', name, to: 'SUSPEND' };
  if (reader.takeWord('UNSUSPEND')) return { kind: 'set_user_state', name, to: 'UNSUSPEND' };
  if (reader.takeWord('UNLOCK')) return { kind: 'unlock_user', name };
  if (reader.takeWords('RESET', 'MFA')) return { kind: 'reset_mfa', name };
  if (reader.takeWords('RENAME', 'TO')) return { kind: 'rename_user', name, to: takeAnyName(reader, 'a user') };
  throw reader.expected('SET, UNSET, SUSPEND, UNSUSPEND, UNLOCK, RESET MFA, RENAME TO or CLEAR LEGAL HOLD');
}

function setOf(reader: StatementReader, name: string): PrincipalRequest {
  const given = takeClauses(reader, {
    PASSWORD: 'text',
    EMAIL: 'text',
    DISPLAY_NAME: 'text',
    DEFAULT_ROLE: 'name',
    DEFAULT_WAREHOUSE: 'name',
    MUST_CHANGE_PASSWORD: 'flag',
    COMMENT: 'text',
  });
  const change = defined({
    password: given.PASSWORD,
    email: given.EMAIL,
    displayName: given.DISPLAY_NAME,
    defaultRole: given.DEFAULT_ROLE,
    defaultWarehouse: given.DEFAULT_WAREHOUSE,
    mustChangePassword: given.MUST_CHANGE_PASSWORD,
    comment: given.COMMENT,
  });
  if (Object.keys(change).length === 0) throw reader.expected('a property of the user');
  return { kind: 'alter_user', name, ...change };
}

/** The properties that a user may be without, and their values then. */
const UNSET = {
  DISPLAY_NAME: { displayName: null },
  DEFAULT_ROLE: { defaultRole: null },
  DEFAULT_WAREHOUSE: { defaultWarehouse: null },
  COMMENT: { comment: null },
  MUST_CHANGE_PASSWORD: { mustChangePassword: false },
} as const;
const isUnset = (word: string): word is keyof typeof UNSET => Object.hasOwn(UNSET, word);

function unsetOf(reader: StatementReader, name: string): PrincipalRequest {
  const seen = new Set<keyof typeof UNSET>();
  do {
    const key = reader.peekWord();
    if (!isUnset(key)) throw reader.expected(`one of ${Object.keys(UNSET).join(', ')}`);
    if (seen.has(key)) throw reader.error('SYNTAX_ERROR', `${key} stands twice`);
    seen.add(key);
    reader.word();
  } while (reader.takeSymbol(','));
  return Object.assign({ kind: 'alter_user' as const, name }, ...[...seen].map((key) => UNSET[key]));
}
