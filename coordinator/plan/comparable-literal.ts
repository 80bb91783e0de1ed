import type { CompareOp, Literal, Predicate } from '#shared/iceberg/predicate.ts';
import type { IcebergType } from '#shared/iceberg/type.ts';
import { uuidBytes } from '#shared/iceberg/single-value.ts';
import type { Json } from '#shared/json.ts';
import { unreachable } from '#shared/must.ts';
import type { Expression } from './expression.ts';
import type { SqlType } from './sql-type.ts';

/** A column of a scan as a filter sees it. */
export type FilterColumn = { readonly fieldId: number; readonly type: IcebergType };

const TRUE: Predicate = { kind: 'true' };
const FALSE: Predicate = { kind: 'false' };
/** DuckDB's infinite dates and timestamps; no arithmetic holds for them. */
const INFINITE = 2n ** 63n - 2n;
const INT32_INFINITE = 2n ** 31n - 2n;
const MICROS_PER_DAY = 86_400_000_000n;

/**
 * `column op constant` as a predicate over the column's stored values, the column perhaps cast to the constant's type. Only casts
 * that keep the order exactly are followed: integers among themselves and to decimals, decimals to a larger scale, dates to
 * timestamps without a zone, floats to doubles. Anything else is `true`, which prunes nothing.
 */
export function compareColumn(
  column: FilterColumn,
  casts: readonly SqlType[],
  op: CompareOp,
  constant: Expression,
): Predicate {
  if (constant.kind !== 'constant' || constant.value === null) return TRUE;
  const { fieldId } = column;
  const factor = integerFactor(column.type, [...casts, constant.type]);
  if (factor !== null) {
    const value = integerOf(constant.value);
    return value === null || isInfinite(constant.type, value) ? TRUE : scaled(fieldId, op, value, factor);
  }
  const literal = plainLiteral(column.type, casts, constant.value, constant.type);
  return literal === undefined ? TRUE : { kind: 'compare', op, fieldId, value: literal };
}

/** `stored * factor op value`, solved for the stored integer. */
function scaled(fieldId: number, op: CompareOp, value: bigint, factor: bigint): Predicate {
  const exact = value % factor === 0n;
  const floor = value / factor - (!exact && value < 0n ? 1n : 0n);
  const compare = (to: CompareOp, bound: bigint): Predicate => ({ kind: 'compare', op: to, fieldId, value: bound });
  switch (op) {
    case 'eq':
      return exact ? compare('eq', floor) : FALSE;
    case 'ne':
      return exact ? compare('ne', floor) : TRUE;
    case 'lt':
      return compare('lt', exact ? floor : floor + 1n);
    case 'le':
      return compare('le', floor);
    case 'gt':
      return compare('gt', floor);
    case 'ge':
      return compare('ge', exact ? floor : floor + 1n);
    default:
      return unreachable(op, 'operator');
  }
}

/**
 * The factor that multiplies a stored integer on its way through the casts to the type it is compared in; null when the column or a cast
 * on the way is none of those that keep the order.
 */
function integerFactor(type: IcebergType, casts: readonly SqlType[]): bigint | null {
  let at = storedScale(type);
  let factor = 1n;
  for (const cast of casts) {
    const to = at === null ? null : typeScale(cast);
    if (at === null || to === null) return null;
    if (at.unit === 'days' && to.unit === 'micros') factor *= MICROS_PER_DAY;
    else if (at.unit !== to.unit || to.scale < at.scale) return null;
    else factor *= 10n ** BigInt(to.scale - at.scale);
    at = to;
  }
  return at === null ? null : factor;
}

type Scale = {
  readonly unit: 'number' | 'days' | 'micros' | 'zonedMicros' | 'nanos' | 'timeMicros';
  readonly scale: number;
};

const STORED: Readonly<Partial<Record<IcebergType['kind'], Scale>>> = {
  int: { unit: 'number', scale: 0 },
  long: { unit: 'number', scale: 0 },
  date: { unit: 'days', scale: 0 },
  time: { unit: 'timeMicros', scale: 0 },
  timestamp: { unit: 'micros', scale: 0 },
  timestamptz: { unit: 'zonedMicros', scale: 0 },
  timestamp_ns: { unit: 'nanos', scale: 0 },
};

const storedScale = (type: IcebergType): Scale | null =>
  type.kind === 'decimal' ? { unit: 'number', scale: type.scale } : (STORED[type.kind] ?? null);

const SCALES: Readonly<Record<string, Scale>> = {
  TINYINT: { unit: 'number', scale: 0 },
  SMALLINT: { unit: 'number', scale: 0 },
  INTEGER: { unit: 'number', scale: 0 },
  BIGINT: { unit: 'number', scale: 0 },
  HUGEINT: { unit: 'number', scale: 0 },
  DATE: { unit: 'days', scale: 0 },
  TIME: { unit: 'timeMicros', scale: 0 },
  TIMESTAMP: { unit: 'micros', scale: 0 },
  'TIMESTAMP WITH TIME ZONE': { unit: 'zonedMicros', scale: 0 },
  TIMESTAMP_NS: { unit: 'nanos', scale: 0 },
};

const typeScale = (type: SqlType): Scale | null =>
  type.kind === 'decimal'
    ? { unit: 'number', scale: type.scale }
    : type.kind === 'scalar'
      ? (SCALES[type.name] ?? null)
      : null;

function integerOf(value: Json): bigint | null {
  if (typeof value === 'bigint') return value;
  return typeof value === 'number' && Number.isSafeInteger(value) ? BigInt(value) : null;
}

function isInfinite(type: SqlType, value: bigint): boolean {
  if (type.kind !== 'scalar') return false;
  const size = value < 0n ? -value : value;
  return type.name === 'DATE' ? size >= INT32_INFINITE : type.name.startsWith('TIMESTAMP') && size >= INFINITE;
}

/** Values that are stored as they are compared. */
function plainLiteral(
  type: IcebergType,
  casts: readonly SqlType[],
  value: Json,
  compared: SqlType,
): Literal | undefined {
  if (type.kind === 'float' || type.kind === 'double') return floatLiteral(type.kind, casts, value, compared);
  if (casts.length > 0 || compared.kind !== 'scalar') return undefined;
  if (type.kind === 'boolean') return typeof value === 'boolean' ? value : undefined;
  if (typeof value !== 'string') return undefined;
  if (type.kind === 'string') return compared.name === 'VARCHAR' ? value : undefined;
  if (type.kind === 'uuid') return compared.name === 'UUID' ? uuidBytes(value) : undefined;
  const isBytes = type.kind === 'binary' || type.kind === 'fixed';
  return isBytes && compared.name === 'BLOB' ? blobBytes(value) : undefined;
}

const FLOAT_NAMES: Readonly<Record<string, number>> = {
  Infinity: Number.POSITIVE_INFINITY,
  '-Infinity': Number.NEGATIVE_INFINITY,
  NaN: Number.NaN,
};

function floatLiteral(
  kind: 'float' | 'double',
  casts: readonly SqlType[],
  value: Json,
  compared: SqlType,
): Literal | undefined {
  const names = [...casts, compared].map((type) => (type.kind === 'scalar' ? type.name : ''));
  const isExact = names.every((name) => name === 'DOUBLE' || (name === 'FLOAT' && kind === 'float'));
  const number = typeof value === 'string' ? FLOAT_NAMES[value] : value;
  if (!isExact || typeof number !== 'number') return undefined;
  // The plan's text of a FLOAT is that of the shortest decimal number.
  return names.at(-1) === 'FLOAT' ? Math.fround(number) : number;
}

/** DuckDB's text of a blob: bytes as they are, or `\xAB`. */
function blobBytes(text: string): Uint8Array {
  const bytes: number[] = [];
  for (let at = 0; at < text.length; at += 1) {
    const escape = /^\\x([0-9A-Fa-f]{2})/.exec(text.slice(at, at + 4));
    bytes.push(escape === null ? text.charCodeAt(at) : Number.parseInt(escape[1] ?? '', 16));
    if (escape !== null) at += 3;
  }
  return Uint8Array.from(bytes);
}
