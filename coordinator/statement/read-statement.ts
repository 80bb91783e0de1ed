import { SkeinError, type ErrorData } from '#shared/error.ts';
import { sizedWork } from '#shared/thread/sized-work.ts';
import type { Statement } from '../command/commands.ts';
import { applyEdits, bindParameters, type Edit } from './bind-parameters.ts';
import type { Parameters } from './parameters.ts';
import { parseStatement } from './parse-statement.ts';
import { redactStatement, type RedactedStatement } from './redact-statement.ts';
import type { StatementLimits } from './statement.ts';

/** A statement after one reading of its text: the parsed command or the reason of its refusal, and the text that history may keep. */
export type StatementText = {
  readonly redacted: RedactedStatement;
  /** The values that took the place of its parameters; positions of the statement are behind them. */
  readonly edits: readonly Edit[];
  readonly parsed:
    | { readonly kind: 'statement'; readonly statement: Statement }
    | { readonly kind: 'refused'; readonly error: ErrorData };
};

/** A statement without values may have no parameter. */
const NO_PARAMETERS: Parameters = { kind: 'positional', values: [] };

type ReadInput = {
  readonly sql: string;
  /** Values for its parameters; null = it has none. */
  readonly parameters: Parameters | null;
  readonly limits: StatementLimits;
};

/** Never throws, because history keeps a statement that is refused, too. */
export function readStatement({ sql, parameters, limits }: ReadInput): StatementText {
  const redacted = redactStatement(sql);
  let edits: readonly Edit[] = [];
  try {
    if (parameters !== null || /[?$]/.test(sql))
      edits = bindParameters(sql, parameters ?? NO_PARAMETERS, limits.bytesMax);
    const text = edits.length === 0 ? sql : applyEdits(sql, edits).text;
    return { redacted, edits, parsed: { kind: 'statement', statement: parseStatement(text, limits) } };
  } catch (error) {
    return { redacted, edits, parsed: { kind: 'refused', error: SkeinError.of(error).toData() } };
  }
}

const MODULE = new URL('../texts-in-thread.ts', import.meta.url);

export const READ_STATEMENT = sizedWork(readStatement, MODULE, 'readLargeStatement');
