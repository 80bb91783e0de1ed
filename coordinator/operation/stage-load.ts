import type { LoadRules } from '#shared/task/load-rules.ts';
import type { DerivedText } from '../statement/derived-text.ts';
import type { TextSpan } from '../statement/statement.ts';
import type { FileTable } from '../binding/file-table.ts';

/** Files of a stage that a statement loads. */
export type StageLoad = {
  /** The part of the statement that the texts were made of. */
  readonly query: TextSpan;
  /** A list of expressions over the files. */
  readonly strict: DerivedText;
  readonly rules: Pick<LoadRules, 'what' | 'onError'>;
  /** The files that the text reads. */
  readonly table: FileTable;
};

/** The parts of `LoadRules` that depend on what the columns of the table get. */
export type LoadGuard = { readonly text: DerivedText; readonly columns: string };
