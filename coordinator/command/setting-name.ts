import { foldIdentifier } from '#shared/sql/fold-identifier.ts';
import type { StatementReader } from '../statement/statement-reader.ts';

/** Settings are named without case; a dotted name is one name. */
export function takeSettingName(reader: StatementReader): string {
  return foldIdentifier(reader.name('a setting', 8).parts.join('.'));
}
