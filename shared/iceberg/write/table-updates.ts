import type { JsonObject } from '#shared/json.ts';
import { printPartitionFields } from '../partition-spec.ts';
import { printSchema } from '../schema.ts';
import type { TableMetadata } from '../table-metadata.ts';
import { MAIN_BRANCH, type TableWrite } from './table-write.ts';

/** Returns the requirements under which a write may be committed on top of `base`. */
export function requirementsOf(
  { shape, branch = MAIN_BRANCH }: Pick<TableWrite, 'shape' | 'branch'>,
  base: TableMetadata,
): readonly JsonObject[] {
  if (shape === 'create') return [{ type: 'assert-create' }];
  return [
    { type: 'assert-table-uuid', uuid: base.tableUuid },
    { type: 'assert-ref-snapshot-id', ref: branch, 'snapshot-id': base.refs.get(branch)?.snapshotId ?? null },
    { type: 'assert-current-schema-id', 'current-schema-id': base.currentSchemaId },
    { type: 'assert-default-spec-id', 'default-spec-id': base.defaultSpecId },
    { type: 'assert-last-assigned-field-id', 'last-assigned-field-id': base.lastColumnId },
    { type: 'assert-last-assigned-partition-id', 'last-assigned-partition-id': base.lastPartitionId },
  ];
}

/** Returns the metadata updates that create or reshape the table; they come before the snapshot is added. */
export function shapeUpdates(
  { shape, schema, spec, properties = {} }: TableWrite,
  base: TableMetadata,
): readonly JsonObject[] {
  if (shape === 'keep') return [];
  const shaped = [
    { action: 'add-schema', schema: printSchema(schema) },
    { action: 'set-current-schema', 'schema-id': schema.schemaId },
    { action: 'add-spec', spec: { 'spec-id': spec.specId, fields: printPartitionFields(spec.fields) } },
    { action: 'set-default-spec', 'spec-id': spec.specId },
    { action: 'add-sort-order', 'sort-order': { 'order-id': 0, fields: [] } },
    { action: 'set-default-sort-order', 'sort-order-id': 0 },
  ];
  if (shape === 'replace') {
    const given = Object.keys(properties).length === 0 ? [] : [{ action: 'set-properties', updates: properties }];
    return [{ action: 'remove-snapshot-ref', 'ref-name': 'main' }, ...shaped, ...given];
  }
  return [
    { action: 'assign-uuid', uuid: base.tableUuid },
    { action: 'upgrade-format-version', 'format-version': base.formatVersion },
    ...shaped,
    { action: 'set-location', location: base.location },
    { action: 'set-properties', updates: base.properties },
  ];
}
