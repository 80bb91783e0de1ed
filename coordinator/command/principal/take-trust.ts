import type { RequestOf, TrustCondition } from '#shared/principal/principal-request.ts';
import type { StatementReader } from '../../statement/statement-reader.ts';
import { takeIfExists } from '../clause/exists.ts';
import { takeAnyName, takeText } from './clauses.ts';

/** `SET TRUST OF p WHERE 'sub' = '...' [AND 'claim' = | LIKE '...']`, behind SET TRUST. @throws SYNTAX_ERROR */
export function takeTrust(reader: StatementReader, account: string): RequestOf<'set_trust'> {
  const provider = takeProvider(reader);
  if (!reader.takeWord('WHERE')) throw reader.expected('WHERE');
  const conditions: TrustCondition[] = [];
  do conditions.push(takeCondition(reader));
  while (reader.takeWord('AND'));
  reader.end();
  return { kind: 'set_trust', account, provider, conditions };
}

/** `UNSET TRUST [IF EXISTS] OF p`, behind UNSET TRUST. @throws SYNTAX_ERROR */
export function takeNoTrust(reader: StatementReader, account: string): RequestOf<'drop_trust'> {
  const ifExists = takeIfExists(reader);
  const provider = takeProvider(reader);
  reader.end();
  return { kind: 'drop_trust', account, provider, ifExists };
}

function takeProvider(reader: StatementReader): string {
  if (!reader.takeWord('OF')) throw reader.expected('OF');
  return takeAnyName(reader, 'an identity provider');
}

function takeCondition(reader: StatementReader): TrustCondition {
  const claim = takeText(reader, 'the name of a claim');
  const operator = reader.takeSymbol('=') ? '=' : reader.takeWord('LIKE') ? 'LIKE' : undefined;
  if (operator === undefined) throw reader.expected('= or LIKE');
  return { claim, operator, value: takeText(reader, `the value of ${claim}`) };
}
