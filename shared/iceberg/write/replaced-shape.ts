import { isDeepStrictEqual } from 'node:util';
import type { PartitionField, PartitionSpec } from '../partition-spec.ts';
import { printSchema, type Schema } from '../schema.ts';
import type { TableMetadata } from '../table-metadata.ts';

/**
 * The schema and the spec with which a table goes on when it is replaced. Those that the table already has keep their ids, as catalogs do.
 * @param wanted its fields have ids already: those that they keep, or ids that the table never used
 * @param partitions their own field ids are of no account
 */
export function replacedShape(
  base: TableMetadata,
  wanted: Schema,
  partitions: readonly Omit<PartitionField, 'fieldId'>[],
): { readonly schema: Schema; readonly spec: PartitionSpec } {
  const ofNoId = (schema: Schema): unknown => printSchema({ ...schema, schemaId: 0 });
  const same = base.schemas.find((one) => isDeepStrictEqual(ofNoId(one), ofNoId(wanted)));
  const schemaId = same?.schemaId ?? Math.max(...base.schemas.map((one) => one.schemaId)) + 1;
  return { schema: { ...wanted, schemaId }, spec: replacedSpec(base, partitions) };
}

function replacedSpec(base: TableMetadata, partitions: readonly Omit<PartitionField, 'fieldId'>[]): PartitionSpec {
  const known = base.specs.flatMap((spec) => spec.fields);
  let last = base.lastPartitionId;
  const fields = partitions.map((field) => {
    const before = known.find((one) => isDeepStrictEqual({ ...one, fieldId: 0 }, { ...field, fieldId: 0 }));
    return { ...field, fieldId: before?.fieldId ?? ++last };
  });
  const same = base.specs.find((spec) => isDeepStrictEqual(spec.fields, fields));
  return { specId: same?.specId ?? Math.max(...base.specs.map((spec) => spec.specId)) + 1, fields };
}
