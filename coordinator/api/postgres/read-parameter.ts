import { SkeinError } from '#shared/error.ts';
import type { Constant, Parameter } from '../../statement/parameters.ts';

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

/** The type that a client has declared; undefined: none, or one whose values mean what their text means. */
export const declaredType = (oid: number): string | undefined => NAMES[oid];

const BLOB = 17;
const TEXTS: ReadonlySet<number> = new Set([0, 25, 114, 705, 1042, 1043]);
const NUMBER = /^-?\d+(\.\d+)?([eE][+-]?\d+)?$/;

/** @param type in which the statement takes the value, unless the client has declared one @throws INVALID_REQUEST, NOT_SUPPORTED */
export function readParameter(
  bytes: Buffer | null,
  { oid, format, type }: { readonly oid: number; readonly format: number; readonly type: string },
): Parameter {
  const own = declaredType(oid) ?? type;
  if (bytes === null) return { type: own, value: null };
  const value = format === 0 ? textValue(bytes.toString(), own) : binaryValue(bytes, oid, own);
  // A number in digits has the precision that it is written with.
  return { type: typeof value === 'object' && value !== null && 'digits' in value ? null : own, value };
}

function textValue(text: string, type: string): Constant {
  if (type === 'BLOB') return blob(hexOf(text));
  if (type.startsWith('DECIMAL') && NUMBER.test(text)) return { digits: text };
  if (type.endsWith(']') && text.startsWith('{')) {
    throw new SkeinError('NOT_SUPPORTED', 'arrays are not taken as parameters');
  }
  return text;
}

const blob = (hex: string): Constant => ({ literal: `from_hex('${hex}')` });

function hexOf(text: string): string {
  const hex = /^\\x((?:[0-9a-fA-F]{2})*)$/.exec(text)?.[1];
  return hex ?? Buffer.from(text).toString('hex');
}

function binaryValue(bytes: Buffer, oid: number, type: string): Constant {
  const wrong = (): SkeinError => new SkeinError('INVALID_REQUEST', 'the bytes of a parameter do not fit its type');
  const sized = (length: number): Buffer => {
    if (bytes.length !== length) throw wrong();
    return bytes;
  };
  switch (oid === 0 && type !== 'BLOB' ? 25 : oid || BLOB) {
    case 16:
      return sized(1)[0] !== 0;
    case BLOB:
      return blob(bytes.toString('hex'));
    case 20:
      return { digits: String(sized(8).readBigInt64BE()) };
    case 21:
      return { digits: String(sized(2).readInt16BE()) };
    case 23:
      return { digits: String(sized(4).readInt32BE()) };
    case 700:
      return String(sized(4).readFloatBE());
    case 701:
      return String(sized(8).readDoubleBE());
    case 2950:
      return sized(16).toString('hex');
    default:
      if (TEXTS.has(oid)) return bytes.toString();
      throw new SkeinError('NOT_SUPPORTED', `parameters of type ${oid} are not taken in binary`);
  }
}
