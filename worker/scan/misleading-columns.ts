import type { ColumnStats } from '#shared/iceberg/may-match.ts';
import type { FileField, Footer, RowGroup } from './footer.ts';
import { annotationOf, type SchemaElement } from './parquet-schema.ts';

/** Most column chunks of a file whose statistics are decoded for this: 20 ms. All columns after that count as misleading. */
const CHUNKS_MAX = 10_000;

/**
 * Returns a function that says whether DuckDB would be misled by a column's statistics. DuckDB trusts what a file says of its columns, and answers wrongly where
 *
 * - a column of REAL or DOUBLE has bounds and holds NaN, which bounds leave out (DuckDB itself writes no bounds for such a row group);
 * - a Bloom filter knows 0.0 and -0.0, or two NaNs, as different values, which are equal in SQL;
 * - DuckDB has counted a NULL struct in a list or map twice, so that the column seems to hold nothing but NULL.
 *
 * Such a column is read as `TRY(f.column)`, which is the column's values without its statistics. A column with parts is judged as a whole.
 *
 * @param withoutNan ids of fields that are known to hold no NaN
 */
export function misleadingColumns(
  footer: Footer,
  withoutNan: ReadonlySet<number> = new Set(),
): (field: FileField) => boolean {
  let chunks = 0;
  const isAnyGroup = (test: (group: RowGroup) => boolean): boolean =>
    footer.rowGroups.some((group) => ++chunks > CHUNKS_MAX || test(group));
  return (field) => misleads(field, { footer, withoutNan, isAnyGroup, isRepeated: false, isCountedTwice: false });
}

type Place = {
  readonly footer: Footer;
  readonly withoutNan: ReadonlySet<number>;
  /** Whether the test is true of a row group. */
  readonly isAnyGroup: (test: (group: RowGroup) => boolean) => boolean;
  /** The field lies in a list or a map. */
  readonly isRepeated: boolean;
  /** It lies in a struct there, whose NULLs DuckDB counts twice. */
  readonly isCountedTwice: boolean;
};

function misleads(field: FileField, place: Place): boolean {
  if (field.kind !== 'primitive') {
    const isRepeated = place.isRepeated || field.kind !== 'struct';
    const isCountedTwice = place.isCountedTwice || (place.isRepeated && field.kind === 'struct');
    return field.children.some((child) => misleads(child, { ...place, isRepeated, isCountedTwice }));
  }
  const leaf = field.leaves.first;
  const { footer, isAnyGroup } = place;
  if (place.isCountedTwice && footer.isDuckDb && isAnyGroup((group) => seemsNull(group, leaf))) return true;
  return isFloat(field.element) && hidesFloats(field, place);
}

/** Whether the statistics say that a column chunk holds nothing but NULL. */
function seemsNull({ stats, values }: RowGroup, leaf: number): boolean {
  const nulls = stats(leaf)?.nullCount;
  return nulls !== undefined && nulls >= (values[leaf] ?? 0);
}

function hidesFloats(field: FileField, { footer, withoutNan, isAnyGroup }: Place): boolean {
  const leaf = field.leaves.first;
  const isFree = hasNoNan(field, footer, withoutNan);
  const isBloomed = footer.bloomed.has(leaf);
  if (isFree && !isBloomed) return false;
  return isAnyGroup((group) => {
    const stats = group.stats(leaf);
    return isFree ? mayHoldZero(stats) : isBloomed || (stats !== undefined && mayBeBounded(stats, field.element));
  });
}

/** Whether no row group with bounds of the column holds NaN. */
export const hasNoNan = ({ id }: FileField, { isDuckDb }: Footer, withoutNan: ReadonlySet<number>): boolean =>
  isDuckDb || (id !== null && withoutNan.has(id));

export const isFloat = (element: SchemaElement): boolean =>
  element.type === 'FLOAT' || element.type === 'DOUBLE' || annotationOf(element) === 'FLOAT16';

/** Bounds of a type that `stats` does not decode may be there. */
const mayBeBounded = ({ lower, upper }: ColumnStats, { type }: SchemaElement): boolean =>
  lower !== undefined || upper !== undefined || (type !== 'FLOAT' && type !== 'DOUBLE');

/** Without bounds it may hold NaN as well. */
const mayHoldZero = ({ lower, upper }: ColumnStats = {}): boolean =>
  !(typeof lower === 'number' && typeof upper === 'number' && (lower > 0 || upper < 0));
