import type { LoadRules } from '#proto/load-rules.ts';
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
  /** `LoadRules`; asked when the destination of the rows is known. */
  readonly guarded: () => DerivedText;
  readonly columns: () => string;
  /** The files that the text reads. */
  readonly table: FileTable;
};
