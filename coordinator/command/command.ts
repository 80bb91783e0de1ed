import type { Action } from '#shared/authorization/action.ts';
import type { QueryType } from '../statement/query-type.ts';
import type { TextSpan } from '../statement/statement.ts';
import type { AnswerForm, Description } from '../operation/description.ts';
import type { StatementReader } from '../statement/statement-reader.ts';
import type { PagedAnswer } from '../operation/answer.ts';
import type { Outcome } from '../operation/outcome.ts';
import type { CommandContext } from '../operation/command-context.ts';

/**
 * A statement of the grammar: its words, its parser, who may run it, its name in history, and what it does. `commands.ts` lists them all;
 * a new statement is a file beside this one and a line there. A parser may run in a thread that reads long texts, so a command imports
 * types and small helpers only, and does its work through `CommandContext`.
 */
export interface Command<Input = unknown> {
  /** How the statement may begin: words in capitals with one space between them, or a symbol. The longest that fits decides. */
  readonly words: readonly string[];
  /** As in `ResultShape`; absent = its first words. */
  readonly tag?: string;
  /** Name of the statement's kind in history (service specification, Query history record). */
  readonly queryType: QueryType;
  /** The same for statements whose kind depends on what they say; it comes before `queryType`. */
  typeOf?(input: Input): QueryType;
  /**
   * The source of the timeout when the request gives none: the session's `skein.query_timeout`, or the coordinator's. The coordinator's is
   * for what a user needs in a session whose own timeout is too short for any statement: SET and RESET, SHOW of settings and names.
   */
  readonly timeout: 'session' | 'coordinator';
  /**
   * Reads the statement, whose words are not taken yet, to its end. The result is plain data, which can go from a thread to another.
   * @throws SYNTAX_ERROR with a position, NOT_SUPPORTED
   */
  parse(reader: StatementReader): Input;
  /**
   * Whether a statement of the types ddl, ctas, maintenance and copy belongs to the session's transaction. Absent = it cannot run inside one.
   * Statements of other types can, without this member.
   */
  inTransaction?(input: Input): boolean;
  /** The action that the caller must be allowed; null = none. It is checked before the command runs. */
  action(input: Input): Action | null;
  /**
   * The statement's result where it is read like a table: `FROM (SHOW TABLES)`. Absent when it cannot be. @throws SkeinError of the
   * catalogue
   */
  rows?(input: Input, context: CommandContext): Promise<PagedAnswer>;
  /**
   * Checks the statement for PREPARE, with NULL in the place of each parameter. Absent when it cannot be prepared.
   * @throws SkeinError of the catalogue
   */
  describe?(input: Input, context: CommandContext): Promise<Description>;
  /**
   * The form of the answer of a statement that cannot be prepared and gives no rows like a table; null for one that can. Absent = it
   * answers its status.
   */
  answers?(input: Input): AnswerForm | null;
  /** The same where it depends on the session. @throws SkeinError of the catalogue */
  formOf?(input: Input, context: CommandContext): AnswerForm;
  /** The query within such a statement, whose parameters are its own. */
  queryIn?(input: Input): TextSpan | null;
  /** @throws SkeinError of the catalogue */
  run(input: Input, context: CommandContext): Promise<Outcome>;
}
