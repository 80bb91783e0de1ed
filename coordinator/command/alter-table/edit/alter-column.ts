import { isDeepStrictEqual } from 'node:util';
import { SkeinError } from '#shared/error.ts';
import { canPromote } from '#shared/iceberg/can-promote.ts';
import { withIds } from '#shared/iceberg/field-ids.ts';
import { isNested, type Field, type IcebergType } from '#shared/iceberg/type.ts';
import { unreachable } from '#shared/must.ts';
import { sqlTypeName } from '../../../session/sql-type-name.ts';
import type { ObjectName } from '../../../statement/statement.ts';
import type { StatementReader } from '../../../statement/statement-reader.ts';
import { takeColumnType } from '../../clause/column-type.ts';
import { takeComment } from '../../clause/comment.ts';
import { takeLiteral, type LiteralClause } from '../../clause/literal.ts';
import { COLUMN_PARTS_MAX } from '../../clause/transform.ts';
import { defaultValue } from '../../clause/default-value.ts';
import { findColumn, type FoundColumn } from '../../../operation/find-column.ts';
import { requireDefaults, requireFormat } from '../../table/new-table.ts';
import { changeField, changeSiblings } from '../change-fields.ts';
import type { Edit } from '../edit.ts';
import { moved, takePlace, type ColumnPlace } from '../move-column.ts';
import type { TableDraft } from '../table-draft.ts';

type Change =
  | { readonly kind: 'type'; readonly type: IcebergType }
  | { readonly kind: 'move'; readonly place: ColumnPlace }
  | { readonly kind: 'comment'; readonly text: string }
  | { readonly kind: 'default'; readonly literal: LiteralClause }
  | { readonly kind: 'drop default' | 'drop not null' };

type AlterColumn = { readonly name: ObjectName; readonly change: Change };

/**
 * `ALTER [COLUMN] name [SET DATA] TYPE type | FIRST | AFTER column | COMMENT 'text' | SET DEFAULT literal | DROP DEFAULT | DROP NOT NULL`
 */
export const alterColumn: Edit<AlterColumn> = {
  words: ['ALTER', 'ALTER COLUMN'],
  parse(reader) {
    reader.word();
    reader.takeWord('COLUMN');
    const name = reader.name('a column', COLUMN_PARTS_MAX);
    return { name, change: takeChange(reader, name.parts.join('.')) };
  },
  apply(draft, { name, change }) {
    const column = findColumn(draft.fields, name);
    const { field, path } = column;
    const edited = (edit: (field: Field) => Field): TableDraft => ({
      ...draft,
      fields: changeField(draft.fields, field.id, edit),
    });
    switch (change.kind) {
      case 'type':
        return retyped(draft, column, { type: change.type, position: name.position });
      case 'move':
        return {
          ...draft,
          fields: changeSiblings(draft.fields, field.id, (all) => moved(all, field.id, change.place)),
        };
      case 'comment':
        return edited((one) => ({ ...one, doc: change.text }));
      case 'default': {
        const value = defaultValue(field.type, change.literal, path);
        if (value === null) return edited(withoutDefault);
        requireDefaults(path, draft.formatVersion, change.literal.position);
        return edited((one) => ({ ...one, writeDefault: value }));
      }
      case 'drop default':
        return edited(withoutDefault);
      case 'drop not null':
        if (draft.identifierFieldIds.includes(field.id)) {
          throw new SkeinError('COLUMN_IN_USE', `column ${path} is part of the PRIMARY KEY, which is NOT NULL`, {
            position: name.position,
          });
        }
        return field.required ? edited((one) => ({ ...one, required: false })) : draft;
      default:
        return unreachable(change);
    }
  },
};

/** The default of new rows goes; that of rows which were there before the column stays. */
const withoutDefault = ({ writeDefault: _writeDefault, ...field }: Field): Field => field;

function takeChange(reader: StatementReader, column: string): Change {
  const place = takePlace(reader);
  if (place !== null) return { kind: 'move', place };
  const text = takeComment(reader);
  if (text !== null) return { kind: 'comment', text };
  if (reader.takeWords('DROP', 'DEFAULT')) return { kind: 'drop default' };
  if (reader.takeWords('DROP', 'NOT', 'NULL')) return { kind: 'drop not null' };
  if (reader.takeWords('SET', 'DEFAULT')) {
    return { kind: 'default', literal: takeLiteral(reader, 'the default of an Iceberg column') };
  }
  if (reader.takeWords('SET', 'DATA', 'TYPE') || reader.takeWord('TYPE')) {
    return { kind: 'type', type: takeColumnType(reader, column) };
  }
  throw reader.expected('TYPE, SET, DROP, COMMENT, FIRST or AFTER');
}

/** Promotes a column's type as the specification allows it (Schema Evolution). @throws TYPE_MISMATCH, NOT_SUPPORTED */
function retyped(
  draft: TableDraft,
  { field, path }: FoundColumn,
  { type, position }: { readonly type: IcebergType; readonly position: number },
): TableDraft {
  if (isDeepStrictEqual(withoutIds(field), withoutIds({ ...field, type }))) return draft;
  const [from, to] = [sqlTypeName(field.type), sqlTypeName(type)];
  if (isNested(field.type) && field.type.kind === type.kind) {
    const message = `column ${path} is nested: change its fields by their names, such as ${path}.${field.type.kind === 'struct' ? (field.type.fields[0]?.name ?? 'field') : field.type.kind === 'list' ? 'element' : 'value'}`;
    throw new SkeinError('NOT_SUPPORTED', message, { position });
  }
  if (isNested(type) || isNested(field.type) || !canPromote(field.type, type)) {
    const message = `column ${path} of the type ${from} cannot become ${to}: INT may become BIGINT, FLOAT DOUBLE, and a DECIMAL may get more digits before its point`;
    throw new SkeinError('TYPE_MISMATCH', message, { position });
  }
  const changed = { ...field, type };
  requireFormat(changed, draft.formatVersion);
  return { ...draft, fields: changeField(draft.fields, field.id, (one) => ({ ...one, type })) };
}

const withoutIds = (field: Field): readonly Field[] => withIds([field], () => 0);
