import type { PrincipalRequest } from '#shared/principal/principal-request.ts';
import type { StatementReader } from '../../statement/statement-reader.ts';
import { takeText } from './clauses.ts';
import { principalCommand } from './principal-command.ts';

/**
 * `ALTER USER SELF SET PASSWORD 'new' OLD PASSWORD 'old'`, `ENROLL MFA TOTP`, `VERIFY MFA TOTP '123456'`,
 * `DISABLE MFA WITH TOTP CODE '123456'`
 */
export const alterSelf = principalCommand({
  words: ['ALTER USER SELF'],
  parse(reader) {
    reader.words(3);
    const ofFactor = factorOf(reader);
    if (ofFactor !== undefined) return ofFactor;
    if (!reader.takeWords('SET', 'PASSWORD'))
      throw reader.expected('SET PASSWORD, ENROLL MFA, VERIFY MFA or DISABLE MFA');
    reader.takeSymbol('=');
    const password = takeText(reader, 'the new password');
    if (!reader.takeWords('OLD', 'PASSWORD')) throw reader.expected('OLD PASSWORD');
    reader.takeSymbol('=');
    const oldPassword = takeText(reader, 'the old password');
    reader.end();
    return { kind: 'set_own_password', password, oldPassword };
  },
});

/** A statement about the caller's second factor. */
function factorOf(reader: StatementReader): PrincipalRequest | undefined {
  const request = (): PrincipalRequest | undefined => {
    if (reader.takeWords('ENROLL', 'MFA', 'TOTP')) return { kind: 'enroll_mfa' };
    if (reader.takeWords('VERIFY', 'MFA', 'TOTP')) return { kind: 'verify_mfa', code: takeText(reader, 'the code') };
    if (!reader.takeWords('DISABLE', 'MFA', 'WITH', 'TOTP', 'CODE')) return undefined;
    return { kind: 'disable_mfa', code: takeText(reader, 'the code') };
  };
  const found = request();
  if (found !== undefined) reader.end();
  return found;
}
