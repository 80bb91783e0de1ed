import type { CursorName } from '../../operation/cursors.ts';
import type { StatementReader } from '../../statement/statement-reader.ts';

/** @throws SYNTAX_ERROR */
export function takeCursor(reader: StatementReader): CursorName {
  const { parts, position } = reader.name('a cursor', 1);
  return { name: parts.join(''), position };
}
