import { isDeepStrictEqual } from 'node:util';
import { SkeinError } from '#shared/error.ts';
import { FieldIds, withIds } from '#shared/iceberg/field-ids.ts';
import { currentSchema, type TableMetadata } from '#shared/iceberg/table-metadata.ts';
import { isNested, type Field } from '#shared/iceberg/type.ts';
import { must } from '#shared/must.ts';
import type { MetadataChange } from '../../operation/change-table.ts';
import { partitionsJson, schemaJson, sortOrderJson, type NewTable } from './new-table.ts';

/** Properties that describe columns of the table as it was. */
const OF_OLD_COLUMNS = ['schema.name-mapping.default', 'comment'];

/**
 * Gives a table a new shape under the same name, uuid and history, and takes its rows away (Iceberg: `buildReplacement`). A column that
 * keeps its name and type keeps its id; all others get ids that the table never used. Properties that are not given stay.
 * @throws NOT_SUPPORTED for another location or an older format version
 */
export function replaceTable(base: TableMetadata, table: NewTable): MetadataChange {
  const { fields, newId, properties: given } = replacedColumns(base, table);
  const moved = <T extends { readonly sourceId: number }>(list: readonly T[]): readonly T[] =>
    list.map((one) => ({ ...one, sourceId: newId(one.sourceId) }));
  const removed = OF_OLD_COLUMNS.filter((name) => Object.hasOwn(base.properties, name));
  const formatVersion = Number(table.properties['format-version']);
  return {
    requirements: [
      { type: 'assert-ref-snapshot-id', ref: 'main', 'snapshot-id': base.refs.get('main')?.snapshotId ?? null },
    ],
    updates: [
      { action: 'remove-snapshot-ref', 'ref-name': 'main' },
      ...(formatVersion > base.formatVersion
        ? [{ action: 'upgrade-format-version', 'format-version': formatVersion }]
        : []),
      {
        action: 'add-schema',
        schema: schemaJson({ fields, identifierFieldIds: table.identifierFieldIds.map(newId) }),
      },
      { action: 'set-current-schema', 'schema-id': -1 },
      { action: 'add-spec', spec: { 'spec-id': 0, fields: partitionsJson(moved(table.partitions)) } },
      { action: 'set-default-spec', 'spec-id': -1 },
      { action: 'add-sort-order', 'sort-order': sortOrderJson(moved(table.sortOrder)) },
      { action: 'set-default-sort-order', 'sort-order-id': -1 },
      ...(removed.length === 0 ? [] : [{ action: 'remove-properties', removals: removed }]),
      { action: 'set-properties', updates: given },
    ],
  };
}

/**
 * The columns with which a table goes on when it is replaced, and its new properties. `newId` maps the ids that the fields of `table` have.
 * @throws NOT_SUPPORTED for another location or an older format version
 */
export function replacedColumns(
  base: TableMetadata,
  table: NewTable,
): {
  readonly fields: readonly Field[];
  readonly newId: (id: number) => number;
  readonly properties: Readonly<Record<string, string>>;
} {
  const { location, properties } = table;
  if (location !== undefined && location !== base.location) {
    throw new SkeinError('NOT_SUPPORTED', 'CREATE OR REPLACE TABLE does not move a table: drop it first');
  }
  const { 'format-version': version, ...given } = properties;
  const formatVersion = Number(version);
  if (formatVersion < base.formatVersion) {
    throw new SkeinError(
      'NOT_SUPPORTED',
      `the table has format version ${base.formatVersion}, which cannot become ${formatVersion}: drop it first`,
    );
  }
  const old = currentSchema(base).fields;
  const fresh = new FieldIds(base.lastColumnId);
  const newIds = new Map<number, number>();
  const fields = withIds(table.fields, (field) => {
    const id = (table.fields.includes(field) ? keptId(field, old) : undefined) ?? fresh.next();
    newIds.set(field.id, id);
    return id;
  });
  const newId = (id: number): number => must(newIds.get(id), 'every field has a new id');
  return { fields, newId, properties: given };
}

function keptId(field: Field, old: readonly Field[]): number | undefined {
  const before = old.find(({ name }) => name === field.name);
  return before !== undefined && !isNested(field.type) && isDeepStrictEqual(before.type, field.type)
    ? before.id
    : undefined;
}
