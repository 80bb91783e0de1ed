import { SkeinError } from '#shared/error.ts';
import type { ObjectName } from '../../../statement/statement.ts';
import { takeKey } from '../../clause/columns.ts';
import { findColumn } from '../../../operation/find-column.ts';
import { withKey } from '../../table/new-table.ts';
import type { Edit } from '../edit.ts';

/** `ADD PRIMARY KEY (column, ...)`: the columns are NOT NULL already */
export const addPrimaryKey: Edit<{ readonly key: readonly ObjectName[] }> = {
  words: ['ADD PRIMARY KEY'],
  parse(reader) {
    reader.words(3);
    return { key: takeKey(reader) };
  },
  apply(draft, { key }) {
    for (const name of key) {
      const { field, path } = findColumn(draft.fields, name);
      if (field.required) continue;
      const message = `column ${path} must be NOT NULL to be part of the PRIMARY KEY`;
      throw new SkeinError('NOT_SUPPORTED', message, { position: name.position });
    }
    return { ...draft, identifierFieldIds: withKey(draft, key).identifierFieldIds };
  },
};

/** `DROP PRIMARY KEY` */
export const dropPrimaryKey: Edit<null> = {
  words: ['DROP PRIMARY KEY'],
  parse(reader) {
    reader.words(3);
    return null;
  },
  apply: (draft) => (draft.identifierFieldIds.length === 0 ? draft : { ...draft, identifierFieldIds: [] }),
};
