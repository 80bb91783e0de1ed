import type { StatementReader } from '../../statement/statement-reader.ts';
import type { TableDraft } from './table-draft.ts';

/**
 * A change that ALTER TABLE makes of a table's metadata: its first words, its parser, and what it does. `edits.ts` lists them all; several
 * may stand in one statement, separated by commas, and are one commit.
 */
export interface Edit<Input = unknown> {
  /** How the edit may begin: words in capitals with one space between them. The longest that fits decides. */
  readonly words: readonly string[];
  /** Whether words that fit do begin this edit; absent = they do. */
  begins?(reader: StatementReader): boolean;
  /** Reads the edit, whose words are not taken yet. The result is plain data. @throws SYNTAX_ERROR, NOT_SUPPORTED */
  parse(reader: StatementReader): Input;
  /** @throws SkeinError of the catalogue, with a position */
  apply(draft: TableDraft, input: Input): TableDraft;
}
