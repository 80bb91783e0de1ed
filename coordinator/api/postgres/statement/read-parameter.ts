import { isUtf8 } from 'node:buffer';
import { quoteLiteral } from '#shared/sql/quote.ts';
import { binaryElements, binaryText } from '../../../arrival/postgres/binary-text.ts';
import { readArray, readBoolean, readBytes, readInteger, readMoment } from '../../../arrival/postgres/read-text.ts';
import { BadValue } from '../../../arrival/postgres/value-kind.ts';
import type { Constant, Parameter } from '../../../statement/parameters.ts';
import type { BoundValue } from './insert-batch.ts';
import { kindOfOid } from '../message/postgres-type.ts';
import { WireError } from '../message/wire-error.ts';

/** The names that the engine has for types that clients declare. */
const NAMES: Readonly<Record<number, string>> = {
  16: 'BOOLEAN',
  17: 'BLOB',
  20: 'BIGINT',
  21: 'SMALLINT',
  23: 'INTEGER',
  25: 'VARCHAR',
  700: 'FLOAT',
  701: 'DOUBLE',
  1042: 'VARCHAR',
  1043: 'VARCHAR',
  1082: 'DATE',
  1083: 'TIME',
  1114: 'TIMESTAMP',
  1184: 'TIMESTAMP WITH TIME ZONE',
  1186: 'INTERVAL',
  2950: 'UUID',
};

/** Arrays of varchar and bpchar, which no column has. */
const TEXT_ARRAYS: ReadonlySet<number> = new Set([1014, 1015]);

/** The type that a client has declared; undefined: none, or one whose values mean what their text means. */
export function declaredType(oid: number): string | undefined {
  const known = NAMES[oid];
  if (known !== undefined) return known;
  if (TEXT_ARRAYS.has(oid)) return 'VARCHAR[]';
  const array = kindOfOid(oid);
  const element = array?.kind === 'array' ? NAMES[array.elementOid] : undefined;
  return element === undefined ? undefined : `${element}[]`;
}

/** @throws WireError for a value that is none of its type */
export function readParameter({ bytes, oid, isBinary, type }: BoundValue): Parameter {
  if (bytes === null) return { type, value: null };
  if (!isBinary && !isReadable(bytes)) throw new WireError('22021', 'invalid byte sequence for encoding "UTF8"');
  try {
    const value = isBinary ? binaryValue(bytes, oid, type) : textValue(bytes.toString(), type);
    // A number in digits has the precision that it is written with.
    return { type: typeof value === 'object' && value !== null && 'digits' in value ? null : type, value };
  } catch (error) {
    if (error instanceof BadValue) throw new WireError(error.sqlState, error.message);
    throw error;
  }
}

const isReadable = (bytes: Buffer): boolean => isUtf8(bytes) && !bytes.includes(0);

const NUMBER = /^-?\d+(\.\d+)?([eE][+-]?\d+)?$/;
/** Postgres' names of integers, for messages. */
const INTEGERS: Readonly<Record<string, string>> = {
  TINYINT: 'smallint',
  SMALLINT: 'smallint',
  INTEGER: 'integer',
  BIGINT: 'bigint',
  UTINYINT: 'smallint',
  USMALLINT: 'integer',
  UINTEGER: 'bigint',
  UBIGINT: 'numeric',
  HUGEINT: 'numeric',
  UHUGEINT: 'numeric',
};
const LIST = /\[\d*\]$/;

function textValue(text: string, type: string): Constant {
  if (isNested(type)) return json(text);
  if (LIST.test(type)) {
    const element = type.replace(LIST, '');
    return readArray(text).map((one) => (one === null ? null : textValue(one, element)));
  }
  const integer = INTEGERS[type];
  if (integer !== undefined) return readInteger(text, integer);
  switch (type) {
    case 'BLOB':
      return blob(readBytes(text));
    case 'BOOLEAN':
      return readBoolean(text);
    case 'DATE':
    case 'TIMESTAMP':
    case 'TIMESTAMP WITH TIME ZONE':
      return readMoment(text);
    default:
      return type.startsWith('DECIMAL') && NUMBER.test(text) ? { digits: text } : text;
  }
}

/** Structs, maps and lists of lists: clients have them as jsonb. */
const isNested = (type: string): boolean => /^(?:STRUCT|MAP)\(/.test(type) || /\[\d*\]\[\d*\]$/.test(type);

const json = (text: string): Constant => ({ literal: `CAST(${quoteLiteral(text)} AS JSON)` });
const blob = (bytes: Buffer): Constant => ({ literal: `from_hex('${bytes.toString('hex')}')` });

function binaryValue(bytes: Buffer, oid: number, type: string): Constant {
  const { kind, elementOid } = kindOfOid(oid) ?? { kind: 'text', elementOid: 0 };
  if (kind === 'array') {
    const element = type.replace(LIST, '');
    return binaryElements(bytes).map((one) => (one === null ? null : binaryValue(one, elementOid, element)));
  }
  if (kind === 'bytea') return blob(bytes);
  const text = binaryText(kind, bytes);
  if (kind === 'jsonb' && isNested(type)) return json(text);
  if (kind === 'bool') return text === 'true';
  return NUMBER.test(text) && DIGITS.has(kind) ? { digits: text } : text;
}

/** Kinds whose values are numbers in SQL as they are written. */
const DIGITS: ReadonlySet<string> = new Set(['int2', 'int4', 'int8', 'numeric']);
