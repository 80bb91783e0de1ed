import { takeAnyName } from './clauses.ts';
import { principalCommand } from './principal-command.ts';
import { takeProviderSettings } from './provider-clauses.ts';

/** Settings that UNSET takes away. */
const UNSET = { CLIENT_ID: 'clientId', CLIENT_SECRET: 'clientSecret', LABEL: 'label' } as const;

/** `ALTER IDENTITY PROVIDER p SET <clauses of CREATE but ISSUER>`, `... UNSET CLIENT_ID | CLIENT_SECRET | LABEL, ...` */
export const alterProvider = principalCommand({
  words: ['ALTER IDENTITY PROVIDER'],
  parse(reader) {
    reader.words(3);
    const name = takeAnyName(reader, 'an identity provider');
    if (reader.takeWord('UNSET')) {
      const unset: Partial<Record<(typeof UNSET)[keyof typeof UNSET], null>> = {};
      do {
        const found = (Object.keys(UNSET) as (keyof typeof UNSET)[]).find((word) => reader.takeWord(word));
        if (found === undefined) throw reader.expected(`one of ${Object.keys(UNSET).join(', ')}`);
        unset[UNSET[found]] = null;
      } while (reader.takeSymbol(','));
      reader.end();
      return { kind: 'alter_provider', name, ...unset };
    }
    if (!reader.takeWord('SET')) throw reader.expected('SET or UNSET');
    const { issuer, ...settings } = takeProviderSettings(reader);
    if (issuer !== undefined) {
      throw reader.error('SYNTAX_ERROR', 'the ISSUER of an identity provider stays: its subjects are of that issuer');
    }
    if (Object.keys(settings).length === 0) throw reader.expected('a clause');
    reader.end();
    return { kind: 'alter_provider', name, ...settings };
  },
});
