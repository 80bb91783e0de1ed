import { SkeinError } from '#shared/error.ts';
import { checkIdentifier } from '#shared/sql/check-identifier.ts';
import type { ObjectName } from '../../../statement/statement.ts';
import { COLUMN_PARTS_MAX } from '../../clause/transform.ts';
import { findColumn, requireFreeName, requireOwnName } from '../../../operation/find-column.ts';
import { changeSiblings } from '../change-fields.ts';
import type { Edit } from '../edit.ts';

type RenameColumn = { readonly name: ObjectName; readonly newName: string };

/** `RENAME [COLUMN] name TO new_name` */
export const renameColumn: Edit<RenameColumn> = {
  words: ['RENAME', 'RENAME COLUMN'],
  parse(reader) {
    reader.word();
    if (reader.peekWord(1) !== 'TO') reader.takeWord('COLUMN');
    const name = reader.name('a column', COLUMN_PARTS_MAX);
    if (!reader.takeWord('TO')) throw reader.expected('TO');
    const { position } = reader;
    const newName = reader.takeName();
    if (newName === null || newName === '') throw reader.expected('the new name');
    checkIdentifier(newName, position);
    return { name, newName };
  },
  apply(draft, { name, newName }) {
    const { position } = name;
    const { field, path } = findColumn(draft.fields, name);
    if (name.parts.length === 1) requireOwnName(newName, position);
    let isRenamed = false;
    const fields = changeSiblings(draft.fields, field.id, (siblings) => {
      isRenamed = true;
      const others = siblings.filter(({ id }) => id !== field.id);
      requireFreeName(others, newName, position);
      return siblings.map((one) => (one.id === field.id ? { ...one, name: newName } : one));
    });
    if (!isRenamed) throw new SkeinError('NOT_SUPPORTED', `${path} is a part of its list or map`, { position });
    return { ...draft, fields };
  },
};
