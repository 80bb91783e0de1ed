import { takeIfNotExists } from '../clause/exists.ts';
import { takeAnyName } from './clauses.ts';
import { principalCommand } from './principal-command.ts';
import { takeProviderSettings } from './provider-clauses.ts';

/** `CREATE IDENTITY PROVIDER [IF NOT EXISTS] p ISSUER 'https://...' AUDIENCES ('...') [CLIENT_ID, CLIENT_SECRET, ...]`: `docs/identity.md` has all clauses */
export const createProvider = principalCommand({
  words: ['CREATE IDENTITY PROVIDER'],
  parse(reader) {
    reader.words(3);
    const ifNotExists = takeIfNotExists(reader);
    const name = takeAnyName(reader, 'an identity provider');
    const { issuer, ...settings } = takeProviderSettings(reader);
    if (issuer === undefined) throw reader.expected('ISSUER');
    reader.end();
    return { kind: 'create_provider', name, ifNotExists, issuer, ...settings };
  },
});
