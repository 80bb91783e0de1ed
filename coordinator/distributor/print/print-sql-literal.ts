import { int64, printJson, type Json, type JsonObject } from '#shared/json.ts';
import { must, unreachable } from '#shared/must.ts';
import { quoteIdentifier, quoteLiteral } from '#shared/sql/quote.ts';
import { decodeType, decodeValue } from '../../plan/decode-type.ts';
import { printSqlType, type SqlType } from '../../plan/sql-type.ts';
import { NotPrintable } from './not-printable.ts';
import { hasUnnamed, structOf } from './unnamed-structs.ts';

/**
 * A constant as SQL of exactly its type, from the raw value that a plan holds. Every literal is cast, because a bare one would take a type
 * from its context.
 * @throws NotPrintable for a type that has no literal (VARIANT, GEOMETRY).
 */
export function printSqlLiteral(value: Json, type: SqlType): string {
  if (value === null) return nullOf(type);
  switch (type.kind) {
    case 'scalar':
      return scalar(value, type.name);
    case 'decimal':
      return cast(quoteLiteral(scaled(integer(value), type.scale)), type);
    case 'enum':
      return cast(quoteLiteral(must(type.values[Number(value)], 'a value of the ENUM')), type);
    case 'list':
      if (hasUnnamed(type)) return listOfUnnamed(type.element, elements(value));
      return cast(`[${elements(value).join(', ')}]`, type);
    case 'array':
      return cast(`[${elements(value).join(', ')}]`, type);
    case 'struct':
      return structOf(type, elements(value));
    case 'map': {
      const entries = elementValues(value).map((entry) => elements(decodeValue(entry)));
      const keys = entries.map(([key]) => key).join(', ');
      const values = entries.map(([, element]) => element).join(', ');
      const map = `map([${keys}], [${values}])`;
      return hasUnnamed(type) && entries.length > 0 ? map : cast(map, type);
    }
    case 'union': {
      const [tag, ...members] = elementValues(value);
      const at = Number(decodeValue(tag));
      const name = must(type.members[at], 'a member of the UNION').name;
      return cast(`union_value(${quoteIdentifier(name)} := ${element(must(members[at], 'its value'))})`, type);
    }
    default:
      return unreachable(type);
  }
}

function nullOf(type: SqlType): string {
  if (hasUnnamed(type)) return `CASE WHEN false THEN ${anyOf(type)} END`;
  return isNullType(type) ? 'NULL' : `CAST(NULL AS ${castType(type)})`;
}

/** Some value of an unnamed struct's type, which CAST cannot name; it is never evaluated. @throws NotPrintable */
function anyOf(type: SqlType): string {
  if (type.kind === 'struct')
    return structOf(
      type,
      type.fields.map((field) => nullOf(field.type)),
    );
  if (type.kind === 'list') return `[${nullOf(type.element)}]`;
  if (type.kind === 'map') return `map([${nullOf(type.key)}], [${nullOf(type.value)}])`;
  throw new NotPrintable('a struct whose fields have no names in an ARRAY or a UNION');
}

const listOfUnnamed = (element: SqlType, values: readonly string[]): string =>
  values.length === 0 ? `list_resize([${nullOf(element)}], 0)` : `[${values.join(', ')}]`;

/** The text of a type for CAST. @throws NotPrintable for a type that SQL text cannot name */
export function castType(type: SqlType): string {
  checkType(type);
  return printSqlType(type);
}

function checkType(type: SqlType): void {
  switch (type.kind) {
    case 'scalar':
      if (!NAMEABLE.has(type.name)) throw new NotPrintable(`the type ${type.name} has no literal form`);
      return;
    case 'list':
    case 'array':
      return checkType(type.element);
    case 'struct':
      if (type.fields.some(({ name }) => name === '')) throw new NotPrintable('a struct whose fields have no names');
      return type.fields.forEach((field) => checkType(field.type));
    case 'map':
      checkType(type.key);
      return checkType(type.value);
    case 'union':
      return type.members.forEach((member) => checkType(member.type));
    case 'decimal':
    case 'enum':
      return;
    default:
      unreachable(type);
  }
}

const INTEGERS = 'TINYINT SMALLINT INTEGER BIGINT HUGEINT UTINYINT USMALLINT UINTEGER UBIGINT UHUGEINT'.split(' ');
const INTEGER_TYPES: ReadonlySet<string> = new Set(INTEGERS);
const NAMEABLE: ReadonlySet<string> = new Set([
  ...INTEGERS,
  ...'BOOLEAN FLOAT DOUBLE DATE TIME TIME_NS TIMESTAMP TIMESTAMP_S TIMESTAMP_MS TIMESTAMP_NS'.split(' '),
  ...'VARCHAR BLOB UUID INTERVAL BIT BIGNUM JSON VARIANT GEOMETRY "NULL"'.split(' '),
  'TIMESTAMP WITH TIME ZONE',
  'TIME WITH TIME ZONE',
]);

const isNullType = (type: SqlType): boolean => type.kind === 'scalar' && type.name === '"NULL"';
const cast = (text: string, type: SqlType): string => `CAST(${text} AS ${castType(type)})`;
const rawText = (value: Json): string => (typeof value === 'string' ? value : printJson(value));
const integer = (value: Json): bigint => must(int64(value), 'an integer');

const elementValues = (value: Json): readonly JsonObject[] =>
  must((value as JsonObject)['children'], 'a nested value has parts') as readonly JsonObject[];
const element = (part: JsonObject): string => printSqlLiteral(decodeValue(part), decodeType(part['type']));
const elements = (value: Json): string[] => elementValues(value).map(element);

const LOWEST_BIGINT = String(-(1n << 63n));

function scalar(value: Json, name: string): string {
  const typed = (text: string): string => `CAST(${text} AS ${name})`;
  if (INTEGER_TYPES.has(name)) return typed(rawText(value));
  if ((typeof value === 'object' && name !== 'INTERVAL') || name === 'GEOMETRY')
    throw new NotPrintable(`a constant of type ${name}`);
  switch (name) {
    case 'BOOLEAN':
      return value === true ? 'true' : 'false';
    case 'FLOAT':
    case 'DOUBLE':
      return typed(quoteLiteral(Object.is(value, -0) ? '-0.0' : rawText(value)));
    case 'VARCHAR':
    case 'JSON':
      return typed(textLiteral(rawText(value)));
    case 'BLOB':
    case 'UUID':
    case 'BIT':
    case 'BIGNUM':
      return typed(quoteLiteral(rawText(value)));
    case 'INTERVAL': {
      const { months = 0, days = 0, micros = 0 } = value as JsonObject;
      const dates = typed(quoteLiteral(`${rawText(months)} months ${rawText(days)} days`));
      // DuckDB reads a number before its sign, so the lowest one has no text.
      if (rawText(micros) === LOWEST_BIGINT) return `(${dates} + to_microseconds(CAST('${LOWEST_BIGINT}' AS BIGINT)))`;
      return typed(quoteLiteral(`${rawText(months)} months ${rawText(days)} days ${rawText(micros)} microseconds`));
    }
    default:
      return time(integer(value), name);
  }
}

/** A literal cannot hold a NUL character: it becomes `chr(0)`. */
const textLiteral = (text: string): string =>
  text.includes('\0') ? `(${text.split('\0').map(quoteLiteral).join(' || chr(0) || ')})` : quoteLiteral(text);

const INFINITE = (1n << 63n) - 1n;
const INFINITE_DATE = (1n << 31n) - 1n;
/** First and last day that are written with four digits. */
const FIRST_DAY = -719_162n;
const LAST_DAY = 2_932_896n;
const DAY_SECONDS = 86_400n;

const UNITS: Readonly<Record<string, bigint>> = {
  TIMESTAMP_S: 1n,
  TIMESTAMP_MS: 1_000n,
  TIMESTAMP: 1_000_000n,
  'TIMESTAMP WITH TIME ZONE': 1_000_000n,
  TIMESTAMP_NS: 1_000_000_000n,
  TIME: 1_000_000n,
  TIME_NS: 1_000_000_000n,
};

function time(value: bigint, name: string): string {
  const typed = (text: string): string => `CAST(${quoteLiteral(text)} AS ${name})`;
  if (name === 'DATE') {
    if (value === INFINITE_DATE || value === -INFINITE_DATE) return typed(value > 0n ? 'infinity' : '-infinity');
    return isPlainDay(value) ? typed(dayText(value)) : `(DATE '1970-01-01' + CAST(${value} AS INTEGER))`;
  }
  if (name === 'TIME WITH TIME ZONE') return typed(timeTzText(value));
  const unit = UNITS[name];
  if (unit === undefined) throw new NotPrintable(`the type ${name} has no literal form`);
  if (name.startsWith('TIME_NS') || name === 'TIME') return typed(clockText(value, unit));
  if (value === INFINITE || value === -INFINITE) return typed(value > 0n ? 'infinity' : '-infinity');
  const day = floorDivide(value, unit * DAY_SECONDS);
  if (!isPlainDay(day)) return farTimestamp(value, name);
  const zone = name.endsWith('ZONE') ? '+00' : '';
  return typed(`${dayText(day)} ${clockText(value - day * unit * DAY_SECONDS, unit)}${zone}`);
}

/** A timestamp whose year does not have four digits, made from its number. */
function farTimestamp(value: bigint, name: string): string {
  switch (name) {
    case 'TIMESTAMP':
      return `make_timestamp(CAST(${value} AS BIGINT))`;
    case 'TIMESTAMP WITH TIME ZONE':
      return `make_timestamptz(CAST(${value} AS BIGINT))`;
    case 'TIMESTAMP_MS':
      return `CAST(make_timestamp(CAST(${value * 1_000n} AS BIGINT)) AS TIMESTAMP_MS)`;
    case 'TIMESTAMP_S':
      return `CAST(make_timestamp(CAST(${value * 1_000_000n} AS BIGINT)) AS TIMESTAMP_S)`;
    default:
      throw new NotPrintable(`a ${name} outside of its years`);
  }
}

const isPlainDay = (day: bigint): boolean => day >= FIRST_DAY && day <= LAST_DAY;
const dayText = (day: bigint): string => new Date(Number(day) * 86_400_000).toISOString().slice(0, 10);
const floorDivide = (a: bigint, b: bigint): bigint => (a - (((a % b) + b) % b)) / b;
const two = (n: bigint): string => String(n).padStart(2, '0');

/** `HH:MM:SS[.fraction]`, up to and with 24:00:00. */
function clockText(value: bigint, unit: bigint): string {
  const seconds = value / unit;
  const digits = String(unit).length - 1;
  const fraction = digits === 0 ? '' : `.${String(value % unit).padStart(digits, '0')}`;
  return `${two(seconds / 3600n)}:${two((seconds / 60n) % 60n)}:${two(seconds % 60n)}${fraction}`;
}

/** The upper 40 bits are the microseconds; the lower 24 are the highest offset (15:59:59) minus the value's offset, in seconds. */
function timeTzText(packed: bigint): string {
  const raw = BigInt.asUintN(64, packed);
  const offset = 15n * 3600n + 59n * 60n + 59n - (raw & 0xff_ffffn);
  const far = offset < 0n ? -offset : offset;
  const zone = `${offset < 0n ? '-' : '+'}${two(far / 3600n)}:${two((far / 60n) % 60n)}:${two(far % 60n)}`;
  return `${clockText(raw >> 24n, 1_000_000n)}${zone}`;
}

function scaled(unscaled: bigint, scale: number): string {
  const digits = String(unscaled < 0n ? -unscaled : unscaled).padStart(scale + 1, '0');
  const whole = digits.slice(0, digits.length - scale);
  return `${unscaled < 0n ? '-' : ''}${whole}${scale === 0 ? '' : `.${digits.slice(-scale)}`}`;
}
