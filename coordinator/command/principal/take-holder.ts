import type { StatementReader } from '../../statement/statement-reader.ts';
import { takeAnyName } from './clauses.ts';

/** `USER name` or `SERVICE ACCOUNT name` @throws SYNTAX_ERROR */
export function takeHolder(reader: StatementReader): { readonly kind: 'USER' | 'SERVICE'; readonly name: string } {
  if (reader.takeWord('USER')) return { kind: 'USER', name: takeAnyName(reader, 'a user') };
  if (!reader.takeWords('SERVICE', 'ACCOUNT')) throw reader.expected('USER or SERVICE ACCOUNT');
  return { kind: 'SERVICE', name: takeAnyName(reader, 'a service account') };
}
