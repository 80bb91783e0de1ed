import { foldIdentifier } from '#shared/sql/fold-identifier.ts';
import type { TableMetadata } from './table-metadata.ts';
import { resultType } from './transform.ts';
import type { Field, IcebergType } from './type.ts';

/**
 * Columns that every table has beside its own: the address of a row (its file and its position there, from 0), its partition, and in format
 * 3 its lineage. The ids are the reserved field ids of the Iceberg specification.
 */
export const ADDRESS_IDS = {
  _file: 2_147_483_646,
  _pos: 2_147_483_645,
  _partition: 2_147_483_642,
  _row_id: 2_147_483_540,
  _last_updated_sequence_number: 2_147_483_539,
} as const;

export type AddressName = keyof typeof ADDRESS_IDS;

const IDS: ReadonlySet<number> = new Set(Object.values(ADDRESS_IDS));

export const isAddressId = (fieldId: number): boolean => IDS.has(fieldId);

/** `name` is folded. */
export const isAddressName = (name: string): name is AddressName => Object.hasOwn(ADDRESS_IDS, name);

/** The column as a field of the table; undefined when tables of this kind do not have it. */
export function addressField(name: AddressName, metadata: TableMetadata): Field | undefined {
  const type = addressType(name, metadata);
  return type === undefined ? undefined : { id: ADDRESS_IDS[name], name, required: false, type };
}

function addressType(name: AddressName, metadata: TableMetadata): IcebergType | undefined {
  if (name === '_file') return { kind: 'string' };
  if (name === '_pos') return { kind: 'long' };
  if (name !== '_partition') return metadata.formatVersion < 3 ? undefined : { kind: 'long' };
  const fields = partitionFields(metadata);
  return fields.length === 0 ? undefined : { kind: 'struct', fields };
}

/**
 * The fields of all partition specs of a table, in the order of their ids, under their latest names; a value is null for a file of a spec
 * without the field (Iceberg's unified partition type).
 */
export function partitionFields({ specs, fields }: Pick<TableMetadata, 'specs' | 'fields'>): readonly Field[] {
  const found = new Map<number, Field>();
  const names = new Set<string>();
  for (const spec of specs.toSorted((a, b) => b.specId - a.specId)) {
    for (const { fieldId, name, transform, sourceId } of spec.fields) {
      const source = fields.get(sourceId)?.type;
      const type = source === undefined || transform.kind === 'void' ? undefined : resultType(transform, source);
      if (type === undefined || found.has(fieldId)) continue;
      const folded = foldIdentifier(name);
      found.set(fieldId, { id: fieldId, name: names.has(folded) ? `${name}_${fieldId}` : name, required: false, type });
      names.add(folded);
    }
  }
  return [...found.values()].toSorted((a, b) => a.id - b.id);
}
