import { unreachable } from '#shared/must.ts';
import type { PartitionField, PartitionSpec } from './partition-spec.ts';
import type { Literal, Predicate } from './predicate.ts';
import { applyTransform, firstCodePoints, type Transform } from './transform.ts';
import { hoursWrapped, truncationsWrapped } from './wrapped-values.ts';
import type { IcebergType } from './type.ts';

/**
 * Projects a predicate over columns to one over partition field ids that is true of every partition which may hold a row that satisfies the
 * original (the specification's inclusive projection).
 *
 *   ts < '2024-03-01' and id = 34      spec: month(ts), bucket[16](id)
 *   => month(ts) <= 649 and bucket(id) = 3
 *
 * A leaf becomes `true` when no partition field transforms its column, or when the transform does not preserve order.
 */
export function projectPredicate(
  predicate: Predicate,
  spec: PartitionSpec,
  sourceType: (fieldId: number) => IcebergType | undefined,
): Predicate {
  switch (predicate.kind) {
    case 'true':
    case 'false':
      return predicate;
    case 'and':
    case 'or':
      return combine(
        predicate.kind,
        predicate.children.map((child) => projectPredicate(child, spec, sourceType)),
      );
    case 'compare':
    case 'in':
    case 'startsWith':
    case 'isNull':
    case 'notNull': {
      const parts = spec.fields
        .filter((field) => field.sourceId === predicate.fieldId)
        .map((field) => projectLeaf(predicate, field, sourceType(field.sourceId)));
      return combine('and', parts);
    }
    default:
      return unreachable(predicate);
  }
}

type Leaf = Extract<Predicate, { readonly fieldId: number }>;
type Compare = Extract<Predicate, { readonly kind: 'compare' }>;

const TRUE: Predicate = { kind: 'true' };

function combine(kind: 'and' | 'or', parts: readonly Predicate[]): Predicate {
  const absorbing = kind === 'and' ? 'false' : 'true';
  if (parts.some((part) => part.kind === absorbing)) return { kind: absorbing };
  const rest = parts.filter((part) => part.kind !== 'true' && part.kind !== 'false');
  if (rest.length === 0) return { kind: kind === 'and' ? 'true' : 'false' };
  return rest.length === 1 ? (rest[0] ?? TRUE) : { kind, children: rest };
}

function projectLeaf(leaf: Leaf, field: PartitionField, source: IcebergType | undefined): Predicate {
  const { transform, fieldId } = field;
  if (source === undefined || transform.kind === 'void' || transform.kind === 'unknown') return TRUE;
  const projected = projectValues(leaf, transform, { source, fieldId });
  if (projected.kind === 'true' || leaf.kind === 'isNull' || !MAY_BE_INFINITE.has(source.kind)) return projected;
  return anyOf(projected, { kind: 'isNull', fieldId });
}

/** Types with values that DuckDB calls infinite: no transform has a value for these, so they lie in the partition of NULL. */
const MAY_BE_INFINITE: ReadonlySet<string> = new Set([
  'date',
  'timestamp',
  'timestamptz',
  'timestamp_ns',
  'timestamptz_ns',
]);

function projectValues(leaf: Leaf, transform: Transform, target: Target): Predicate {
  const { fieldId } = target;
  if (transform.kind === 'identity') return { ...leaf, fieldId };
  if (leaf.kind === 'startsWith') return projectPrefix(leaf.prefix, transform, fieldId);
  if (leaf.kind === 'in') return projectIn(leaf.values, transform, target);
  if (leaf.kind === 'compare') return projectCompare(leaf, transform, target);
  return { ...leaf, fieldId };
}

const anyOf = (...children: readonly Predicate[]): Predicate => combine('or', children);

function projectPrefix(prefix: string, transform: Transform, fieldId: number): Predicate {
  if (transform.kind !== 'truncate') return TRUE;
  const cut = firstCodePoints(prefix, transform.width);
  return cut === prefix ? { kind: 'startsWith', fieldId, prefix } : { kind: 'compare', op: 'eq', fieldId, value: cut };
}

type Target = { readonly source: IcebergType; readonly fieldId: number };

function projectIn(values: readonly Literal[], transform: Transform, target: Target): Predicate {
  const projected: Literal[] = [];
  for (const value of values) {
    const one = applyTransform(transform, target.source, value);
    if (one === undefined || one === null) return TRUE;
    projected.push(...withOldTimeValue(transform, one), ...wrappedValues(one, transform, target.source));
  }
  return { kind: 'in', fieldId: target.fieldId, values: projected };
}

/**
 * Projects a comparison. All transforms but bucket keep order, so a strict comparison becomes one with equality; over integers it first
 * moves to the next value.
 */
function projectCompare(leaf: Compare, transform: Transform, target: Target): Predicate {
  if (leaf.op === 'eq') return projectIn([leaf.value], transform, target);
  if (leaf.op === 'ne' || transform.kind === 'bucket') return TRUE;
  const step = leaf.op === 'lt' ? -1n : leaf.op === 'gt' ? 1n : 0n;
  const nearest = typeof leaf.value === 'bigint' ? leaf.value + step : leaf.value;
  const value = applyTransform(transform, target.source, nearest);
  if (value === undefined || value === null) return TRUE;
  const { fieldId } = target;
  const below = leaf.op === 'lt' || leaf.op === 'le';
  const bound = below ? (withOldTimeValue(transform, value).at(-1) ?? value) : value;
  const kept: Predicate = { kind: 'compare', op: below ? 'le' : 'ge', fieldId, value: bound };
  if (transform.kind === 'hour') {
    const wrapped = hoursWrapped(target.source, below ? 'below' : 'above');
    // Hours that lie too low have become high ones, and the other way round.
    if (wrapped !== null) return anyOf(kept, { kind: 'compare', op: below ? 'ge' : 'le', fieldId, value: wrapped });
  }
  if (transform.kind !== 'truncate' || !below) return kept;
  const values = truncationsWrapped(transform.width, target.source).map(({ to }) => to);
  return values.length === 0 ? kept : anyOf(kept, { kind: 'in', fieldId, values });
}

/** The values as which a partition value may have been written that does not fit its type. */
function wrappedValues(value: Literal, transform: Transform, source: IcebergType): readonly Literal[] {
  if (typeof value !== 'bigint') return [];
  if (transform.kind === 'hour') return BigInt.asIntN(32, value) === value ? [] : [BigInt.asIntN(32, value)];
  if (transform.kind !== 'truncate') return [];
  return truncationsWrapped(transform.width, source).flatMap(({ from, to }) => (from === value ? [to] : []));
}

/**
 * Old writers rounded times before 1970 towards zero, so their partition value may be one too high (Iceberg's Java library widens
 * its projections for the same reason).
 */
function withOldTimeValue(transform: Transform, value: Literal): readonly Literal[] {
  const temporal = transform.kind !== 'bucket' && transform.kind !== 'truncate' && typeof value === 'bigint';
  return temporal && value < 0n ? [value, value + 1n] : [value];
}
