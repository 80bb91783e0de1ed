import { SkeinError, type ErrorData } from '#shared/error.ts';
import { foldKeyword } from '#shared/sql/fold-identifier.ts';
import { sizedWork } from '#shared/thread/sized-work.ts';
import { COMMANDS, type Statement } from '../command/commands.ts';
import { applyEdits, bindParameters, type ParameterEdit } from '../statement/bind-parameters.ts';
import type { Parameters } from '../statement/parameters.ts';
import { parseStatement } from './parse-statement.ts';
import { beginsPrivately, isPrivateKind } from '#shared/sql/private-statement.ts';
import { redactStatement, type Privacy, type RedactedStatement } from '../statement/redact-statement.ts';
import type { StatementLimits } from '../statement/statement.ts';
import { Tokenizer } from '#shared/sql/tokenizer.ts';

/** A statement after one reading of its text: the parsed command or the reason of its refusal, and the text that history may keep. */
export type StatementText = {
  readonly redacted: RedactedStatement;
  /** The values that took the place of its parameters; positions of the statement are behind them. */
  readonly edits: readonly ParameterEdit[];
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
  const command = firstWord(sql);
  let edits: readonly ParameterEdit[] = [];
  let parsed: StatementText['parsed'];
  try {
    edits = editsOf(sql, command, { parameters, bytesMax: limits.bytesMax });
    const text = edits.length === 0 ? sql : applyEdits(sql, edits).text;
    parsed = { kind: 'statement', statement: parseStatement(text, limits) };
  } catch (error) {
    parsed = { kind: 'refused', error: SkeinError.of(error).toData() };
  }
  const isPrivate = privacyOf(sql, parsed, limits) === 'private';
  const redacted = redactStatement(sql, isPrivate ? 'private' : command === 'EXECUTE' ? 'values' : 'open');
  // The values that came beside a private statement are not known here, so no message that may hold one is kept.
  return { redacted: isPrivate && parameters !== null ? { ...redacted, secrets: null } : redacted, edits, parsed };
}

/** Its command decides; of a text that does not parse, its first words. */
function privacyOf(sql: string, parsed: StatementText['parsed'], limits: StatementLimits): Privacy {
  if (parsed.kind === 'refused') return beginsPrivately(sql) ? 'private' : 'open';
  const { command, input } = parsed.statement;
  if (command === 'prepare') return beginsPrivately(sql) ? privacyWithin(input.statement.text, limits) : 'open';
  return isPrivateKind(COMMANDS[command].words) ? 'private' : 'open';
}

/** The same for the statement within a PREPARE whose first words are those of a private one. It may be a query of a column `token`. */
function privacyWithin(sql: string, limits: StatementLimits): Privacy {
  try {
    const { command } = parseStatement(sql, limits);
    return command === 'prepare' || isPrivateKind(COMMANDS[command].words) ? 'private' : 'open';
  } catch {
    return 'private';
  }
}

type Given = { readonly parameters: Parameters | null; readonly bytesMax: number };

/** @throws what `bindParameters` throws; WRONG_PARAMETER_COUNT for values that come with a PREPARE */
function editsOf(sql: string, command: string, { parameters, bytesMax }: Given): readonly ParameterEdit[] {
  if (command === 'PREPARE') {
    if (parameters === null || parameters.kind === 'unknown') return [];
    throw new SkeinError('WRONG_PARAMETER_COUNT', 'PREPARE takes no values: EXECUTE gives them');
  }
  if (parameters === null && !/[?$]/.test(sql)) return [];
  return bindParameters(sql, parameters ?? NO_PARAMETERS, bytesMax);
}

/** The first word of a statement, in capitals; empty when it begins with something else. */
function firstWord(sql: string): string {
  const tokens = new Tokenizer(sql);
  try {
    for (let token = tokens.next(); token.kind !== 'end'; token = tokens.next()) {
      if (sql[token.start] === ';') continue;
      return token.kind === 'word' ? foldKeyword(sql.slice(token.start, token.end)) : '';
    }
  } catch {
    // A comment that is not closed: the parser refuses it.
  }
  return '';
}

const MODULE = new URL('./statement-in-thread.ts', import.meta.url);

export const READ_STATEMENT = sizedWork(readStatement, MODULE, 'readLargeStatement');
