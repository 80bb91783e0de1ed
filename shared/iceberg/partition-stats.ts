import type { ColumnStats } from './may-match.ts';
import type { PartitionSpec } from './partition-spec.ts';
import type { Literal } from './predicate.ts';

/** Returns partition values as statistics of one value each; the values of an unknown transform are never asked for. */
export function partitionStats(
  spec: PartitionSpec,
  partition: readonly (Literal | null)[],
): (fieldId: number) => ColumnStats | undefined {
  return (fieldId) => {
    const index = spec.fields.findIndex((field) => field.fieldId === fieldId);
    const value = partition[index];
    if (value === undefined) return undefined;
    if (value === null) return { nullCount: 1, valueCount: 1 };
    return { lower: value, upper: value, nullCount: 0, valueCount: 1, nanCount: Number.isNaN(value) ? 1 : 0 };
  };
}
