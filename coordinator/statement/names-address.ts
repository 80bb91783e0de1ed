import { isAddressName } from '#shared/iceberg/address-columns.ts';
import { foldIdentifier } from '#shared/sql/fold-identifier.ts';
import { identifierText, Tokenizer } from '#shared/sql/tokenizer.ts';

/** Whether a text may name an address column, in whatever way names are written. */
export function namesAddress(sql: string): boolean {
  if (!/_(?:file|pos|partition|row_id|last_updated)/i.test(sql)) return false;
  const tokens = new Tokenizer(sql);
  for (let token = tokens.next(); token.kind !== 'end'; token = tokens.next()) {
    const isName = token.kind === 'word' || token.kind === 'quoted';
    if (isName && isAddressName(foldIdentifier(identifierText(sql, token)))) return true;
  }
  return false;
}
