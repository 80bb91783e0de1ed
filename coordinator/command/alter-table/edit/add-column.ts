import { SkeinError } from '#shared/error.ts';
import { withIds } from '#shared/iceberg/field-ids.ts';
import type { Field } from '#shared/iceberg/type.ts';
import { checkIdentifier } from '#shared/sql/check-identifier.ts';
import type { ObjectName } from '../../../statement/statement.ts';
import type { StatementReader } from '../../../statement/statement-reader.ts';
import { takeDeclaration, type ColumnClause } from '../../clause/columns.ts';
import { takeIfNotExists } from '../../clause/exists.ts';
import { COLUMN_PARTS_MAX } from '../../clause/transform.ts';
import { defaultValue } from '../../clause/default-value.ts';
import { fieldNamed, findColumn, requireFreeName, requireOwnName } from '../../../operation/find-column.ts';
import { requireDefaults, requireFormat } from '../../table/new-table.ts';
import { changeField } from '../change-fields.ts';
import type { Edit } from '../edit.ts';
import { moved, takePlace, type ColumnPlace } from '../move-column.ts';
import type { TableDraft } from '../table-draft.ts';

type AddColumn = Omit<ColumnClause, 'name' | 'position'> & {
  readonly name: ObjectName;
  readonly ifNotExists: boolean;
  readonly place: ColumnPlace | null;
};

/** `ADD [COLUMN] [IF NOT EXISTS] name type [NOT NULL] [DEFAULT literal] [COMMENT 'text'] [FIRST | AFTER column]` */
export const addColumn: Edit<AddColumn> = {
  words: ['ADD', 'ADD COLUMN'],
  parse(reader: StatementReader) {
    reader.word();
    reader.takeWord('COLUMN');
    const ifNotExists = takeIfNotExists(reader);
    const name = reader.name('a column', COLUMN_PARTS_MAX);
    const last = name.parts.at(-1) ?? '';
    checkIdentifier(last, name.position);
    const declaration = takeDeclaration(reader, name.parts.join('.'));
    if (declaration.isKey) throw reader.error('NOT_SUPPORTED', 'use ADD PRIMARY KEY (...) for the key');
    return { ...declaration, name, ifNotExists, place: takePlace(reader) };
  },
  apply(draft, { name, type, notNull, comment, ifNotExists, place, ...rest }) {
    const { position } = name;
    const path = name.parts.join('.');
    const own = name.parts.at(-1) ?? '';
    const parent = parentOf(draft, name);
    const siblings = parent?.type.kind === 'struct' ? parent.type.fields : draft.fields;
    if (ifNotExists && fieldNamed(siblings, own) !== undefined) return draft;
    requireFreeName(siblings, own, position);
    if (parent === null) requireOwnName(own, position);
    const value = rest.default === null ? null : defaultValue(type, rest.default, path);
    if (value !== null) requireDefaults(path, draft.formatVersion, rest.default?.position ?? position);
    const hasRows = draft.base.currentSnapshotId !== null;
    if (notNull && value === null && hasRows) {
      throw new SkeinError(
        'NOT_NULL_VIOLATION',
        `column ${path} is NOT NULL and has no DEFAULT, so the rows of the table would have no value in it`,
        { position },
      );
    }
    const [field] = withIds(
      [
        {
          id: 0,
          name: own,
          required: notNull,
          type,
          ...(comment === null ? {} : { doc: comment }),
          ...(value === null ? {} : { initialDefault: value, writeDefault: value }),
        },
      ],
      () => draft.ids.next(),
    );
    if (field === undefined) return draft;
    requireFormat(field, draft.formatVersion);
    const added = moved([...siblings, field], field.id, place);
    return {
      ...draft,
      fields: parent === null ? added : changeField(draft.fields, parent.id, withFields(added)),
      // Rows that come meanwhile would have no value.
      requirements: notNull && value === null ? [...draft.requirements, NO_ROWS] : draft.requirements,
    };
  },
};

const NO_ROWS = { type: 'assert-ref-snapshot-id', ref: 'main', 'snapshot-id': null };

const withFields =
  (fields: readonly Field[]) =>
  (field: Field): Field => ({ ...field, type: { kind: 'struct', fields } });

/** The struct in which a new field is to stand; null for a column of the table. @throws COLUMN_NOT_FOUND, TYPE_MISMATCH */
function parentOf({ fields }: TableDraft, { parts, position }: ObjectName): Field | null {
  if (parts.length === 1) return null;
  const { field, path } = findColumn(fields, { parts: parts.slice(0, -1), position });
  if (field.type.kind === 'struct' && !isKey(fields, field.id)) return field;
  const hint = field.type.kind === 'list' ? `: its elements are ${path}.element` : '';
  const hint2 = field.type.kind === 'map' ? `: its values are ${path}.value` : '';
  throw new SkeinError('TYPE_MISMATCH', `${path} can have no further fields${hint}${hint2}`, { position });
}

/** Whether the field is a map's key, which stays as it is (specification, Schema Evolution). */
const isKey = (fields: readonly Field[], id: number): boolean =>
  fields.some(({ type }) => {
    if (type.kind === 'struct') return isKey(type.fields, id);
    if (type.kind === 'list') return isKey([type.element], id);
    return type.kind === 'map' && (type.key.id === id || isKey([type.key, type.value], id));
  });
