import type { PreparedStatement } from '../session/prepared-statement.ts';
import type { Constant } from '../statement/parameters.ts';
import type { TextSpan } from '../statement/statement.ts';
import type { Outcome } from './outcome.ts';

/** The prepared statements of the statement's session. Names are folded; `position` is where a name stands in the statement. */
export interface PreparedStatements {
  /**
   * Checks a statement and keeps it.
   * @throws PREPARED_STATEMENT_EXISTS, TOO_MANY_PREPARED_STATEMENTS, NOT_SUPPORTED outside of a named session and for a statement that
   * cannot be prepared; what the statement is refused for, with its place
   */
  prepare(definition: Definition): Promise<PreparedStatement>;
  /**
   * Runs a prepared statement as it would run now with these values in its text: it is authorised, planned and admitted anew.
   * @throws PREPARED_STATEMENT_NOT_FOUND, SYNTAX_ERROR for other parameters than it has, NOT_SUPPORTED when its columns have changed
   */
  execute(execution: Execution): Promise<Outcome>;
  /** `name` null = all. @throws PREPARED_STATEMENT_NOT_FOUND */
  deallocate(name: string | null, position: number): void;
}

export type Definition = {
  readonly name: string;
  readonly position: number;
  /** Types of `$1`, `$2`, ..., as far as they are declared. */
  readonly types: readonly string[];
  readonly statement: TextSpan;
};

export type Execution = { readonly name: string; readonly position: number; readonly arguments: readonly Argument[] };

/** `name` is null for a value by position; `constant` is the value of a literal, undefined for another expression. */
export type Argument = {
  readonly name: string | null;
  readonly expression: TextSpan;
  readonly constant: Constant | undefined;
};
