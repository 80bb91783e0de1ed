import { foldKeyword } from '#shared/sql/fold-identifier.ts';
import type { RequestOf } from '#shared/principal/principal-request.ts';
import type { StatementReader } from '../../statement/statement-reader.ts';
import { defined, takeClauses } from './clauses.ts';

type Settings = Omit<RequestOf<'create_provider'>, 'kind' | 'name' | 'ifNotExists' | 'issuer'>;

/** Takes the settings of an identity provider, in any order. @throws SYNTAX_ERROR */
export function takeProviderSettings(reader: StatementReader): { readonly issuer: string | undefined } & Settings {
  const given = takeClauses(reader, {
    ISSUER: 'text',
    CLIENT_ID: 'text',
    CLIENT_SECRET: 'text',
    AUDIENCES: 'list',
    USERNAME_CLAIM: 'text',
    EMAIL_CLAIM: 'text',
    GROUPS_CLAIM: 'text',
    PROVISION: 'name',
    DOMAINS: 'list',
    LABEL: 'text',
    ENABLED: 'switch',
  });
  const provision = given.PROVISION === undefined ? undefined : foldKeyword(given.PROVISION);
  if (provision !== undefined && provision !== 'NONE' && provision !== 'USERS') {
    throw reader.error('SYNTAX_ERROR', 'PROVISION is NONE or USERS');
  }
  return {
    issuer: given.ISSUER,
    ...defined({
      clientId: given.CLIENT_ID,
      clientSecret: given.CLIENT_SECRET,
      audiences: given.AUDIENCES && [...given.AUDIENCES],
      usernameClaim: given.USERNAME_CLAIM,
      emailClaim: given.EMAIL_CLAIM,
      groupsClaim: given.GROUPS_CLAIM,
      provision,
      domains: given.DOMAINS && [...given.DOMAINS],
      label: given.LABEL,
      enabled: given.ENABLED,
    }),
  };
}
