import type { StatementReader } from '../../statement/statement-reader.ts';
import { takeAnyName } from './clauses.ts';

/** `USER name` or `SERVICE ACCOUNT name` @throws SYNTAX_ERROR */
export function takeHolder(reader: StatementReader): { readonly kind: 'USER' | 'SERVICE'; readonly name: string } {
  if (reader.takeWord('USER')) return { kind: 'USER', name: takeAnyName(reader, 'a user') };
  if (!reader.takeWords('SERVICE', 'ACCOUNT')) throw reader.expected('USER or SERVICE ACCOUNT');
  return { kind: 'SERVICE', name: takeAnyName(reader, 'a service account') };
}

/** `'name' OF p`, behind GROUP. @throws SYNTAX_ERROR */
export function takeGroup(reader: StatementReader): { readonly group: string; readonly provider: string } {
  const group = takeAnyName(reader, 'a group');
  if (!reader.takeWord('OF')) throw reader.expected('OF');
  return { group, provider: takeAnyName(reader, 'an identity provider') };
}
