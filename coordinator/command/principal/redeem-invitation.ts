import { takeText } from './clauses.ts';
import { principalCommand } from './principal-command.ts';

/** `REDEEM INVITATION 'token' WITH PASSWORD 'password'`; who runs it need not be the one who is invited. */
export const redeemInvitation = principalCommand({
  words: ['REDEEM INVITATION'],
  parse(reader) {
    reader.words(2);
    const token = takeText(reader, 'the token of the invitation');
    if (!reader.takeWords('WITH', 'PASSWORD')) throw reader.expected('WITH PASSWORD');
    reader.takeSymbol('=');
    const password = takeText(reader, 'the password');
    reader.end();
    return { kind: 'redeem_invitation', token, password };
  },
});
