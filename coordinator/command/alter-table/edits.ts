import type { StatementReader } from '../../statement/statement-reader.ts';
import type { Edit } from './edit.ts';
import { addColumn } from './edit/add-column.ts';
import { alterColumn } from './edit/alter-column.ts';
import { dropColumn } from './edit/drop-column.ts';
import { addPartitionField, dropPartitionField, replacePartitionField } from './edit/partition-field.ts';
import { addPrimaryKey, dropPrimaryKey } from './edit/primary-key.ts';
import { renameColumn } from './edit/rename-column.ts';
import { createRef, dropRef } from './edit/snapshot-ref.ts';
import { setProperties, unsetProperties } from './edit/set-properties.ts';
import { setSortedBy } from './edit/set-sorted-by.ts';
import type { TableDraft } from './table-draft.ts';

/** Every edit of ALTER TABLE. */
const EDITS = {
  addColumn,
  alterColumn,
  dropColumn,
  renameColumn,
  addPartitionField,
  dropPartitionField,
  replacePartitionField,
  addPrimaryKey,
  dropPrimaryKey,
  setSortedBy,
  setProperties,
  unsetProperties,
  createRef,
  dropRef,
} as const satisfies Readonly<Record<string, Edit>>;

type EditName = keyof typeof EDITS;

/** An edit as it was read; plain data. */
export type EditClause = { readonly edit: EditName; readonly input: unknown };

/** How edits begin, the longest first. */
const PHRASES = (Object.keys(EDITS) as EditName[])
  .flatMap((edit) => EDITS[edit].words.map((phrase) => ({ phrase, edit })))
  .toSorted((a, b) => b.phrase.split(' ').length - a.phrase.split(' ').length);

/** @throws SYNTAX_ERROR, NOT_SUPPORTED */
export function takeEdit(reader: StatementReader): EditClause {
  const fits = (edit: Edit): boolean => edit.begins?.(reader) ?? true;
  const edit = PHRASES.find((one) => reader.peekPhrase(one.phrase) && fits(EDITS[one.edit] as Edit))?.edit;
  if (edit === undefined)
    throw reader.expected('ADD, ALTER, CREATE, DROP, RENAME, REPLACE PARTITION FIELD, SET or UNSET');
  return { edit, input: EDITS[edit].parse(reader) };
}

export const applyEdit = (draft: TableDraft, { edit, input }: EditClause): TableDraft =>
  (EDITS[edit] as Edit).apply(draft, input);
