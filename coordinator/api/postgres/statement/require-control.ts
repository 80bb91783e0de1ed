import { parseCommand } from '../../../prepare/parse-statement.ts';
import type { MessageStatement } from '../message/message-statement.ts';
import { StatementError } from '../message/wire-error.ts';

/**
 * Reads a statement about the transaction before the state of that is looked at. One with more words than it has (`COMMIT PREPARED 'x'`, `COMMIT AND
 * CHAIN`) is an error in every state: it must not end a transaction, as what is sent behind it would then be committed by itself.
 * @throws StatementError
 */
export function requireControl({ sql, text, offset }: MessageStatement): void {
  try {
    parseCommand({ text: sql, offset: 0 });
  } catch (error) {
    throw new StatementError(error, { sql: text, offset });
  }
}
