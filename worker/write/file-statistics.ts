import { stringBounds, type Bounds } from '#shared/iceberg/write/string-bounds.ts';
import type { Schema } from '#shared/iceberg/schema.ts';
import { encodeBound, isHex, uuidBytes } from '#shared/iceberg/single-value.ts';
import type { Field, IcebergType } from '#shared/iceberg/type.ts';
import { quoteIdentifier, quoteLiteral } from '#shared/sql/quote.ts';
import type { Literal } from '#shared/iceberg/predicate.ts';
import { parseFloatText } from './transform-sql.ts';

/** One column's part of `COPY ... (RETURN_STATS)`: DuckDB's names and texts. */
export type RawStatistics = ReadonlyMap<string, string>;

/** A column that has values of its own: no struct, list or map. */
export type Leaf = {
  readonly field: Field;
  /** Name in the statistics; unless the leaf is repeated, it is also a SQL expression for the column. */
  readonly key: string;
  /** Below a list or map: it has counts, but no bounds (as in Iceberg's own libraries). */
  readonly repeated: boolean;
  /** SQL of the number of a row's values that are not NULL; for a leaf in a struct in a list or map, whose NULLs DuckDB counts twice. */
  readonly valuesSql?: string;
};

/** The leaves in the order of the file's column chunks. */
export function leavesOf(schema: Schema): readonly Leaf[] {
  return schema.fields.flatMap((field) => {
    const key = quoteIdentifier(field.name);
    // DuckDB takes such a column for all NULL, by the counts that are wrong (`worker/scan/misleading-columns.ts`).
    const countOf: CountOf = (count) => count(`TRY(${key})`, 0);
    return leavesBelow(field, { key, countOf, repeated: false, isCountedTwice: false });
  });
}

/** Prints how many values a row has of a field, given the SQL that counts those of one occurrence of the field. */
type CountOf = (count: (occurrence: string, depth: number) => string) => string;

type LeafPlace = Pick<Leaf, 'key' | 'repeated'> & { readonly countOf: CountOf; readonly isCountedTwice: boolean };

function leavesBelow(field: Field, place: LeafPlace): readonly Leaf[] {
  const { type } = field;
  const { key, repeated, countOf, isCountedTwice } = place;
  const keyOf = (part: Field): string => `${key}.${quoteIdentifier(part.name)}`;
  if (type.kind === 'struct') {
    return type.fields.flatMap((part) => {
      const inPart: CountOf = (count) =>
        countOf((all, depth) => count(`struct_extract(${all}, ${quoteLiteral(part.name)})`, depth));
      return leavesBelow(part, {
        key: keyOf(part),
        repeated,
        countOf: inPart,
        isCountedTwice: isCountedTwice || repeated,
      });
    });
  }
  const inElements =
    (listSql: (all: string) => string): CountOf =>
    (count) =>
      countOf((all, depth) => {
        const one = `x${depth}`;
        return `coalesce(list_sum(list_transform(${listSql(all)}, lambda ${one}: ${count(one, depth + 1)})), 0)`;
      });
  const below = (part: Field, listSql: (all: string) => string): readonly Leaf[] =>
    leavesBelow(part, { ...place, key: keyOf(part), repeated: true, countOf: inElements(listSql) });
  if (type.kind === 'list') return below(type.element, (all) => all);
  if (type.kind === 'map') {
    return [...below(type.key, (all) => `map_keys(${all})`), ...below(type.value, (all) => `map_values(${all})`)];
  }
  if (!isCountedTwice) return [{ field, key, repeated }];
  return [{ field, key, repeated, valuesSql: countOf((all) => `CASE WHEN ${all} IS NULL THEN 0 ELSE 1 END`) }];
}

/** Statistics of one file, by field id, as a manifest holds them. */
export type FileStatistics = {
  readonly columnSizes: Map<number, number>;
  readonly valueCounts: Map<number, number>;
  readonly nullCounts: Map<number, number>;
  readonly nanCounts: Map<number, number>;
  readonly lower: Map<number, Uint8Array>;
  readonly upper: Map<number, Uint8Array>;
};

/** A statistic that `RETURN_STATS` does not give, so that it must be queried from the file. */
export type OpenQuestion = { readonly leaf: Leaf; readonly what: 'null-count' | 'nan-count' | 'bounds' };

/**
 * Converts DuckDB's statistics. NaN counts of columns that may have NaNs, NULL counts that are wrong, and bounds of long texts that DuckDB left
 * out, are returned as open questions.
 * @param unbounded places of the leaves of which some row group has no bounds. It may hold NaN: DuckDB tells of the last row group only.
 */
export function toStatistics(
  leaves: readonly Leaf[],
  raw: ReadonlyMap<string, RawStatistics>,
  unbounded: ReadonlySet<number>,
): { readonly statistics: FileStatistics; readonly open: readonly OpenQuestion[] } {
  const statistics: FileStatistics = {
    columnSizes: new Map(),
    valueCounts: new Map(),
    nullCounts: new Map(),
    nanCounts: new Map(),
    lower: new Map(),
    upper: new Map(),
  };
  const open: OpenQuestion[] = [];
  for (const [place, leaf] of leaves.entries()) {
    const { id, type } = leaf.field;
    const column = raw.get(leaf.key);
    if (column === undefined) continue;
    const nulls = setCount(statistics.nullCounts, id, column.get('null_count'));
    const values = setCount(statistics.valueCounts, id, column.get('num_values'));
    setCount(statistics.columnSizes, id, column.get('column_size_bytes'));
    if (type.kind === 'float' || type.kind === 'double') {
      if (column.get('has_nan') === 'false' && !unbounded.has(place)) statistics.nanCounts.set(id, 0);
      else if (!leaf.repeated) open.push({ leaf, what: 'nan-count' });
    }
    if (leaf.valuesSql !== undefined && nulls !== 0) {
      statistics.nullCounts.delete(id);
      open.push({ leaf, what: 'null-count' });
    }
    if (leaf.repeated) continue;
    const bounds = boundsOf(type, column.get('min'), column.get('max'));
    if (bounds !== undefined) setBounds(statistics, leaf.field, bounds);
    else if (isText(type) && values !== nulls) open.push({ leaf, what: 'bounds' });
  }
  return { statistics, open };
}

export function setBounds(statistics: FileStatistics, { id, type }: Field, { lower, upper }: Bounds): void {
  const [from, to] = [lower, upper].map((value) => (value === undefined ? undefined : encodeBound(type, value)));
  if (from !== undefined) statistics.lower.set(id, from);
  if (to !== undefined) statistics.upper.set(id, to);
}

const isText = (type: IcebergType): boolean => type.kind === 'string' || type.kind === 'binary';

function setCount(counts: Map<number, number>, id: number, text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  counts.set(id, Number(text));
  return Number(text);
}

function boundsOf(type: IcebergType, min: string | undefined, max: string | undefined): Bounds | undefined {
  if (min === undefined || max === undefined) return undefined;
  const [lower, upper] = [parseStatistic(type, min), parseStatistic(type, max)];
  if (type.kind === 'float' || type.kind === 'double')
    return { lower: floatBound(lower, -0), upper: floatBound(upper, 0) };
  return isText(type) ? stringBounds(lower, upper) : { lower, upper };
}

/** A NaN is no bound. For DuckDB the two zeros are equal, for Iceberg -0 is below 0: a bound of zero is the one that holds both. */
const floatBound = (value: Literal | undefined, zero: number): Literal | undefined =>
  value === 0 ? zero : Number.isNaN(value) ? undefined : value;

/** Parses a value of DuckDB's statistics; undefined if Iceberg has no such value (infinite dates, years before 1). */
export function parseStatistic(type: IcebergType, text: string): Literal | undefined {
  switch (type.kind) {
    case 'boolean':
      return text === '1' || text === 'true';
    case 'int':
    case 'long':
    case 'decimal':
      return parseInteger(text.replace('.', ''));
    case 'float':
    case 'double':
      return parseFloatText(text);
    case 'date':
      return parseTimestamp(text, 86_400_000_000n);
    case 'time':
      return parseTimestamp(`1970-01-01 ${text}`, 1n);
    case 'timestamp':
    case 'timestamptz':
      return parseTimestamp(text, 1n);
    case 'timestamp_ns':
      return parseNanos(text);
    case 'string':
      return text;
    case 'uuid':
      return uuidBytes(text);
    case 'binary':
      return isHex(text) ? Uint8Array.from(Buffer.from(text, 'hex')) : undefined;
    case 'fixed':
    case 'timestamptz_ns':
    case 'geometry':
    case 'geography':
    case 'struct':
    case 'list':
    case 'map':
    case 'unknown':
    case 'variant':
      return undefined;
  }
}

const parseInteger = (text: string): bigint | undefined => (/^-?\d+$/.test(text) ? BigInt(text) : undefined);

const TIMESTAMP = /^(\d{4,6})-(\d\d)-(\d\d)(?: (\d\d):(\d\d):(\d\d)(?:\.(\d{1,6}))?(?:\+00)?)?$/;

/** Nanoseconds since 1970. */
function parseNanos(text: string): bigint | undefined {
  const [, seconds = text, fraction = ''] = /^([^.]*)\.(\d{1,9})$/.exec(text) ?? [];
  const micros = parseTimestamp(seconds, 1n);
  return micros === undefined ? undefined : micros * 1_000n + BigInt(fraction.padEnd(9, '0'));
}

/** Microseconds since 1970, divided by `unit`. */
function parseTimestamp(text: string, unit: bigint): bigint | undefined {
  const match = TIMESTAMP.exec(text);
  if (match === null) return undefined;
  const [year = 0, month = 0, day = 0, hour = 0, minute = 0, second = 0] = match.slice(1, 7).map((n) => Number(n ?? 0));
  const date = new Date(0);
  date.setUTCFullYear(year, month - 1, day);
  const ms = date.getTime();
  if (Number.isNaN(ms)) return undefined;
  const seconds = BigInt(ms / 1000) + BigInt(hour * 3600 + minute * 60 + second);
  return (seconds * 1_000_000n + BigInt((match[7] ?? '').padEnd(6, '0'))) / unit;
}
