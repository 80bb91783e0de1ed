import { KEY_ALGORITHMS } from '#shared/principal/key-algorithm.ts';
import { foldKeyword } from '#shared/sql/fold-identifier.ts';
import { takeIfExists } from '../clause/exists.ts';
import { defined, takeAnyName, takeClauses } from './clauses.ts';
import { principalCommand } from './principal-command.ts';
import { takeNoTrust, takeTrust } from './take-trust.ts';

/** `ALTER SERVICE ACCOUNT name ADD KEYPAIR KEY_ID 'k' PUBLIC_KEY 'pem' [ALGORITHM a]`, `... DROP KEYPAIR [IF EXISTS] KEY_ID 'k'`, `... SET TRUST OF p WHERE ...`, `... UNSET TRUST OF p` */
export const alterServiceAccount = principalCommand({
  words: ['ALTER SERVICE ACCOUNT'],
  parse(reader) {
    reader.words(3);
    const account = takeAnyName(reader, 'a service account');
    if (reader.takeWords('SET', 'TRUST')) return takeTrust(reader, account);
    if (reader.takeWords('UNSET', 'TRUST')) return takeNoTrust(reader, account);
    if (reader.takeWords('DROP', 'KEYPAIR')) {
      const ifExists = takeIfExists(reader);
      const { KEY_ID: keyId } = takeClauses(reader, { KEY_ID: 'text' });
      if (keyId === undefined) throw reader.expected('KEY_ID');
      reader.end();
      return { kind: 'drop_keypair', account, keyId, ifExists };
    }
    if (!reader.takeWords('ADD', 'KEYPAIR'))
      throw reader.expected('ADD KEYPAIR, DROP KEYPAIR, SET TRUST or UNSET TRUST');
    const given = takeClauses(reader, { KEY_ID: 'text', PUBLIC_KEY: 'text', ALGORITHM: 'name' });
    const { KEY_ID: keyId, PUBLIC_KEY: publicKey } = given;
    if (keyId === undefined) throw reader.expected('KEY_ID');
    if (publicKey === undefined) throw reader.expected('PUBLIC_KEY');
    const algorithmName = foldKeyword(given.ALGORITHM ?? '');
    const algorithm = KEY_ALGORITHMS.find((one) => one === algorithmName);
    if (given.ALGORITHM !== undefined && algorithm === undefined) {
      throw reader.error('SYNTAX_ERROR', `ALGORITHM is one of ${KEY_ALGORITHMS.join(', ')}`);
    }
    reader.end();
    return { kind: 'add_keypair', account, keyId, publicKey, ...defined({ algorithm }) };
  },
});
