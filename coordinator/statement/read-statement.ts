import { SkeinError, type ErrorData } from '#shared/error.ts';
import { sizedWork } from '#shared/thread/sized-work.ts';
import type { Statement } from '../command/commands.ts';
import { parseStatement } from './parse-statement.ts';
import { redactStatement, type RedactedStatement } from './redact-statement.ts';
import type { StatementLimits } from './statement.ts';

/** A statement's text, looked at once: what it asks for, or why it is refused, and what history may keep of it. */
export type StatementText = {
  readonly redacted: RedactedStatement;
  readonly parsed:
    | { readonly kind: 'statement'; readonly statement: Statement }
    | { readonly kind: 'refused'; readonly error: ErrorData };
};

type ReadInput = { readonly sql: string; readonly limits: StatementLimits };

/** Never throws, because history keeps a statement that is refused, too. */
export function readStatement({ sql, limits }: ReadInput): StatementText {
  const redacted = redactStatement(sql);
  try {
    return { redacted, parsed: { kind: 'statement', statement: parseStatement(sql, limits) } };
  } catch (error) {
    return { redacted, parsed: { kind: 'refused', error: SkeinError.of(error).toData() } };
  }
}

const MODULE = new URL('../texts-in-thread.ts', import.meta.url);

export const READ_STATEMENT = sizedWork(readStatement, MODULE, 'readLargeStatement');
