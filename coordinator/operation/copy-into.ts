import type { OnError } from '#shared/task/load-rules.ts';
import type { FileFormat } from '#shared/stage/file-format.ts';
import type { StageReference } from '../stage/stage-reference.ts';
import type { AsWritten } from '../statement/proven.ts';
import type { ObjectName, TextSpan } from '../statement/statement.ts';
import type { ColumnName } from './target-columns.ts';

/** `COPY INTO table FROM @stage` as its command has read it; plain data. */
export type CopyInto<Parts extends AsWritten = AsWritten> = {
  readonly table: ObjectName;
  /** The columns that are filled; null = all. */
  readonly columns: readonly ColumnName[] | null;
  readonly stage: StageReference;
  /** The expressions over each record; null = its values as they are. */
  readonly select: CopySelect<Parts> | null;
  readonly options: CopyOptions;
  /** The statement's text behind the name of the table, of which all others are parts. */
  readonly rest: TextSpan;
};

export type CopySelect<Parts extends AsWritten = AsWritten> = {
  readonly expressions: readonly Parts['expression'][];
  readonly alias: string | null;
};

export type CopyOptions = {
  readonly format: FileFormat;
  /** Paths below that of the stage; null = all files that are there. */
  readonly files: readonly { readonly path: string; readonly position: number }[] | null;
  readonly pattern: Pattern | null;
  readonly onError: OnError;
  /** How values find their columns. */
  readonly match: 'position' | 'name' | 'exact name';
  /** Files that were loaded before are loaded again. */
  readonly force: boolean;
  /** Files that were loaded whole are removed from the stage. */
  readonly purge: boolean;
  readonly validation: Validation | null;
};

/** Nothing is loaded: the rows, or the errors, that there would be. */
export type Validation = { readonly kind: 'rows'; readonly count: number } | { readonly kind: 'errors' };

/** A regular expression, and where it stands in the statement. */
export type Pattern = { readonly text: string; readonly position: number };
