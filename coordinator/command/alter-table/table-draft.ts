import { FieldIds } from '#shared/iceberg/field-ids.ts';
import type { SortField } from '#shared/iceberg/sort-order.ts';
import { currentSchema, specById, type SnapshotRef, type TableMetadata } from '#shared/iceberg/table-metadata.ts';
import type { Field } from '#shared/iceberg/type.ts';
import type { JsonObject } from '#shared/json.ts';
import type { MetadataChange } from '../../operation/change-table.ts';
import type { NewPartitionField } from '../table/bind-transforms.ts';
import { partitionsJson, schemaJson, sortOrderJson } from '../table/new-table.ts';

/** A table while ALTER TABLE edits it. An edit returns another draft. */
export type TableDraft = {
  readonly base: TableMetadata;
  readonly formatVersion: number;
  readonly fields: readonly Field[];
  readonly identifierFieldIds: readonly number[];
  /** Gives ids that the table never used. */
  readonly ids: FieldIds;
  /** New ones have no id. */
  readonly partitions: readonly (NewPartitionField & { readonly fieldId?: number })[];
  readonly sortOrder: readonly SortField[];
  readonly setProperties: Readonly<Record<string, string>>;
  readonly removedProperties: readonly string[];
  /** Branches and tags. */
  readonly refs: TableMetadata['refs'];
  /** Updates that no other member stands for; they come last. */
  readonly updates: readonly JsonObject[];
  /** Requirements beside those of every change of a table. */
  readonly requirements: readonly JsonObject[];
};

export function draftOf(base: TableMetadata): TableDraft {
  const { fields, identifierFieldIds } = currentSchema(base);
  return {
    base,
    formatVersion: base.formatVersion,
    fields,
    identifierFieldIds,
    ids: new FieldIds(base.lastColumnId),
    partitions: specById(base, base.defaultSpecId).fields,
    sortOrder: base.sortOrder,
    setProperties: {},
    removedProperties: [],
    refs: base.refs,
    updates: [],
    requirements: [],
  };
}

/** The updates that make the table as the draft is. */
export function changeOf(draft: TableDraft): MetadataChange {
  const { base, partitions, sortOrder, setProperties, removedProperties } = draft;
  const schema = currentSchema(base);
  const isNewSchema = draft.fields !== schema.fields || draft.identifierFieldIds !== schema.identifierFieldIds;
  const changedRefs = [...new Set([...base.refs.keys(), ...draft.refs.keys()])].filter(
    (name) => base.refs.get(name) !== draft.refs.get(name),
  );
  return {
    requirements: [...draft.requirements, ...changedRefs.map((name) => refRequirement(name, base.refs.get(name)))],
    updates: [
      ...(draft.formatVersion === base.formatVersion
        ? []
        : [{ action: 'upgrade-format-version', 'format-version': draft.formatVersion }]),
      ...(isNewSchema
        ? [
            { action: 'add-schema', schema: schemaJson(draft) },
            { action: 'set-current-schema', 'schema-id': -1 },
          ]
        : []),
      ...(partitions === specById(base, base.defaultSpecId).fields
        ? []
        : [
            { action: 'add-spec', spec: { 'spec-id': 0, fields: partitionsJson(partitions) } },
            { action: 'set-default-spec', 'spec-id': -1 },
          ]),
      ...(sortOrder === base.sortOrder
        ? []
        : [
            { action: 'add-sort-order', 'sort-order': sortOrderJson(sortOrder) },
            { action: 'set-default-sort-order', 'sort-order-id': -1 },
          ]),
      ...(Object.keys(setProperties).length === 0 ? [] : [{ action: 'set-properties', updates: setProperties }]),
      ...(removedProperties.length === 0 ? [] : [{ action: 'remove-properties', removals: removedProperties }]),
      ...changedRefs.map((name) => refUpdate(name, draft.refs.get(name))),
      ...draft.updates,
    ],
  };
}

const refRequirement = (name: string, ref: SnapshotRef | undefined): JsonObject => ({
  type: 'assert-ref-snapshot-id',
  ref: name,
  'snapshot-id': ref?.snapshotId ?? null,
});

const refUpdate = (name: string, ref: SnapshotRef | undefined): JsonObject =>
  ref === undefined
    ? { action: 'remove-snapshot-ref', 'ref-name': name }
    : {
        action: 'set-snapshot-ref',
        'ref-name': name,
        type: ref.type,
        'snapshot-id': ref.snapshotId,
        ...ref.retention,
      };
