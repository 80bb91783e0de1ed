import { SkeinError } from '#shared/error.ts';
import type { SortField } from '#shared/iceberg/sort-order.ts';
import { isTransformable, printTransform, type Transform } from '#shared/iceberg/transform.ts';
import type { Field } from '#shared/iceberg/type.ts';
import { sqlTypeName } from '../../session/sql-type-name.ts';
import type { PartitionClause, SortClause, TransformClause } from '../clause/transform.ts';
import { findColumn, type FoundColumn } from '../../operation/find-column.ts';

/** A partition field of a new spec; the catalog gives it its id. */
export type NewPartitionField = { readonly name: string; readonly sourceId: number; readonly transform: Transform };

/** The source of a transform. @throws COLUMN_NOT_FOUND, TYPE_MISMATCH with the column's position */
export function bindTransform(fields: readonly Field[], { column, transform }: TransformClause): FoundColumn {
  const found = findColumn(fields, column);
  const { field, path, inCollection } = found;
  if (inCollection) {
    const message = `${path} stands in a list or map, so it has many values in a row`;
    throw new SkeinError('TYPE_MISMATCH', message, { position: column.position });
  }
  if (!isTransformable(transform, field.type)) {
    const message = `column ${path} of the type ${sqlTypeName(field.type)} cannot have the transform ${printTransform(transform)}`;
    throw new SkeinError('TYPE_MISMATCH', message, { position: column.position });
  }
  return found;
}

/** @throws COLUMN_NOT_FOUND, TYPE_MISMATCH, COLUMN_EXISTS for a transform or a name that stands twice */
export const bindPartitions = (
  fields: readonly Field[],
  clauses: readonly PartitionClause[],
): readonly NewPartitionField[] =>
  clauses.reduce<readonly NewPartitionField[]>((bound, clause) => [...bound, bindPartition(fields, bound, clause)], []);

/** Binds a partition field that comes beside those of `partitions`. @throws as `bindPartitions` */
export function bindPartition(
  fields: readonly Field[],
  partitions: readonly NewPartitionField[],
  clause: PartitionClause,
): NewPartitionField {
  const { transform, name } = clause;
  const { position } = clause.column;
  const { field, path } = bindTransform(fields, clause);
  if (partitions.some((one) => one.sourceId === field.id && isSame(one.transform, transform))) {
    const message = `the table is partitioned by ${describeTransform(transform, path)} already`;
    throw new SkeinError('COLUMN_EXISTS', message, { position });
  }
  // A column may have the name of its own identity partition only.
  const others = transform.kind === 'identity' ? fields.filter(({ id }) => id !== field.id) : fields;
  const taken = new Set([...others, ...partitions].map((one) => one.name));
  const wanted = name ?? partitionName(transform, path, taken);
  if (taken.has(wanted)) {
    throw new SkeinError('COLUMN_EXISTS', `a column or partition field ${wanted} exists already`, { position });
  }
  return { name: wanted, sourceId: field.id, transform };
}

export const describeTransform = (transform: Transform, path: string): string =>
  transform.kind === 'identity' ? path : `${printTransform(transform)} of ${path}`;

/** @throws COLUMN_NOT_FOUND, TYPE_MISMATCH */
export const bindSortOrder = (fields: readonly Field[], clauses: readonly SortClause[]): readonly SortField[] =>
  clauses.map((clause) => ({
    sourceId: bindTransform(fields, clause).field.id,
    transform: clause.transform,
    direction: clause.direction,
    nullOrder: clause.nullOrder,
  }));

export const isSame = (a: Transform, b: Transform): boolean => printTransform(a) === printTransform(b);

/**
 * The name of a partition field, as Iceberg's libraries give it: `region`, `ts_month`, `id_bucket_16`, `name_trunc_4`. A name that a
 * column has is followed by `_part`.
 */
export function partitionName(transform: Transform, path: string, taken: ReadonlySet<string>): string {
  if (transform.kind === 'identity') return path;
  let name = `${path}_${suffixOf(transform)}`;
  while (taken.has(name)) name = `${name}_part`;
  return name;
}

function suffixOf(transform: Transform): string {
  if (transform.kind === 'bucket') return `bucket_${transform.count}`;
  if (transform.kind === 'truncate') return `trunc_${transform.width}`;
  return transform.kind;
}
