import { SkeinError } from '#shared/error.ts';
import { walkFields } from '#shared/iceberg/type.ts';
import type { ObjectName } from '../../../statement/statement.ts';
import { takeIfExists } from '../../clause/exists.ts';
import { COLUMN_PARTS_MAX } from '../../clause/transform.ts';
import { findColumn } from '../../../operation/find-column.ts';
import { changeSiblings } from '../change-fields.ts';
import type { Edit } from '../edit.ts';
import { requireUnused } from '../require-unused.ts';

type DropColumn = { readonly name: ObjectName; readonly ifExists: boolean };

/** `DROP [COLUMN] [IF EXISTS] name` */
export const dropColumn: Edit<DropColumn> = {
  words: ['DROP', 'DROP COLUMN'],
  parse(reader) {
    reader.word();
    reader.takeWord('COLUMN');
    const ifExists = takeIfExists(reader);
    return { ifExists, name: reader.name('a column', COLUMN_PARTS_MAX) };
  },
  apply(draft, { name, ifExists }) {
    const { position } = name;
    let column: ReturnType<typeof findColumn>;
    try {
      column = findColumn(draft.fields, name);
    } catch (error) {
      if (ifExists && SkeinError.of(error).code === 'COLUMN_NOT_FOUND') return draft;
      throw error;
    }
    const { field, path } = column;
    for (const { id } of walkFields([field])) requireUnused(draft, { id, path, position });
    let isDropped = false;
    const fields = changeSiblings(draft.fields, field.id, (siblings) => {
      if (siblings.length === 1) {
        throw new SkeinError('NOT_SUPPORTED', `${path} is the only field where it stands`, { position });
      }
      isDropped = true;
      return siblings.filter(({ id }) => id !== field.id);
    });
    if (!isDropped) throw new SkeinError('NOT_SUPPORTED', `${path} is a part of its list or map`, { position });
    return { ...draft, fields };
  },
};
