import { SkeinError } from '#shared/error.ts';
import { readLiteral } from '#shared/iceberg/read-literal.ts';
import { literalToJson } from '#shared/iceberg/single-value.ts';
import type { IcebergType } from '#shared/iceberg/type.ts';
import { unreachable } from '#shared/must.ts';
import { floatingPoint, type Json } from '#shared/json.ts';
import type { LiteralClause } from './literal.ts';

const BOOLEANS: ReadonlyMap<string, boolean> = new Map([
  ['true', true],
  ['false', false],
]);
const INT32_MAX = 2n ** 31n - 1n;
const ZONE = /(?:[zZ]|[+-]\d{2}:?\d{2})$/;
const INTEGER = /^-?\d{1,30}$/;
const BYTES = /\\x([0-9A-Fa-f]{2})|([\x20-\x5b\x5d-\x7e])/y;

/**
 * The default of a column in the form in which the metadata has it; null for NULL, which is no default.
 * @param column named by errors @throws INVALID_CAST, TYPE_MISMATCH with the literal's position
 */
export function defaultValue(type: IcebergType, { value, position }: LiteralClause, column: string): Json {
  if (value === null) return null;
  const json = jsonOf(type, typeof value === 'boolean' ? value : 'digits' in value ? value.digits : value.text);
  if (json !== undefined) return json;
  const isNested = type.kind === 'struct' || type.kind === 'list' || type.kind === 'map';
  const why = isNested
    ? 'nested columns have no default but NULL'
    : type.kind === 'timestamptz'
      ? 'it is no timestamp with an offset, such as 2024-02-29 12:00:00+00:00'
      : `it is no value of the type ${type.kind}`;
  throw new SkeinError('INVALID_CAST', `column ${column} cannot have this default: ${why}`, { position });
}

/** Undefined when the type does not have the value exactly. */
function jsonOf(type: IcebergType, given: boolean | string): Json | undefined {
  const value = String(given);
  switch (type.kind) {
    case 'boolean':
      return BOOLEANS.get(value);
    case 'string':
      return typeof given === 'boolean' ? undefined : value;
    case 'int':
    case 'long':
      return integer(type, value);
    case 'float':
    case 'double': {
      const number = value.trim() === '' ? Number.NaN : Number(value);
      const kept = type.kind === 'float' ? Math.fround(number) : number;
      return Number.isFinite(kept) ? floatingPoint(kept) : undefined;
    }
    case 'binary':
      return typeof given === 'boolean' ? undefined : bytes(value);
    case 'timestamptz':
      return ZONE.test(value) ? literal(type, value) : undefined;
    case 'decimal':
    case 'date':
    case 'time':
    case 'timestamp':
    case 'timestamp_ns':
    case 'uuid':
      return literal(type, value);
    case 'timestamptz_ns':
    case 'fixed':
    case 'geometry':
    case 'geography':
    case 'struct':
    case 'list':
    case 'map':
    case 'unknown':
    case 'variant':
      return undefined;
    default:
      return unreachable(type);
  }
}

function integer(type: IcebergType, text: string): Json | undefined {
  if (!INTEGER.test(text)) return undefined;
  const value = BigInt(text);
  if (type.kind === 'int') return value <= INT32_MAX && value >= -INT32_MAX - 1n ? Number(value) : undefined;
  return BigInt.asIntN(64, value) === value ? value : undefined;
}

function literal(type: IcebergType, text: string): Json | undefined {
  let value: ReturnType<typeof readLiteral>;
  try {
    value = readLiteral(type, text);
  } catch {
    return undefined;
  }
  if (value === undefined) return undefined;
  if (type.kind === 'decimal' && String(value).replace('-', '').length > type.precision) return undefined;
  return literalToJson(type, value);
}

/** Bytes as DuckDB writes a BLOB: printable ASCII, and `\xAB` for any byte. */
function bytes(text: string): Json | undefined {
  const parts: Buffer[] = [];
  BYTES.lastIndex = 0;
  for (let at = 0; at < text.length; at = BYTES.lastIndex) {
    const [, hex, char = ''] = BYTES.exec(text) ?? [];
    if (hex === undefined && char === '') return undefined;
    parts.push(hex === undefined ? Buffer.from(char) : Buffer.from(hex, 'hex'));
  }
  return Buffer.concat(parts).toString('hex');
}
