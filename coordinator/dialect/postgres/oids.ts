import { SkeinError } from '#shared/error.ts';
import { constantText } from './constant-text.ts';
import { locationIn, objectIn, textIn, type Node } from './tree.ts';

const OIDS = 2n ** 32n;
const LEAST = -(2n ** 31n);

/** A number as C's `strtoul` reads it in a text, by which Postgres does: `010` is 8, `0x10` is 16. */
const NUMBER = /^\s*([+-]?)(?:0([0-7]+)|(0x[\da-f]+|0|[1-9]\d*))\s*$/i;

/**
 * The number that a constant is as `oid`: what is below zero counts from 2^32. Undefined for what is no constant.
 * @throws NUMERIC_OVERFLOW, and INVALID_CAST for a text that is no number
 */
export function constantOid(node: Node): bigint | undefined {
  const text = constantText(node);
  if (text !== undefined) return ofText(text, node);
  const number = integerOf(node);
  return number === undefined ? undefined : inRange(number, node, 'OID out of range');
}

/** As `constantOid`, of a type that names an object: digits alone are its number. */
export function constantNumber(node: Node): bigint | undefined {
  const text = constantText(node);
  if (text === undefined) return node.kind === 'A_Const' ? constantOid(node) : undefined;
  return /^\d+$/.test(text) ? constantOid(node) : undefined;
}

/** A text of a list of them. @throws as `constantOid` */
export const textOfOid = (text: string, list: Node): string => ofText(text, list).toString();

function ofText(text: string, node: Node): bigint {
  const found = NUMBER.exec(text);
  if (found === null) {
    throw new SkeinError('INVALID_CAST', `invalid input syntax for type oid: "${text}"`, placeOf(node));
  }
  const [, sign, octal, other = ''] = found;
  const value = BigInt(octal === undefined ? other : `0o${octal}`);
  return inRange(sign === '-' ? -value : value, node, `value "${text}" is out of range for type oid`);
}

function integerOf({ kind, of }: Node): bigint | undefined {
  if (kind !== 'A_Const') return undefined;
  const float = objectIn(of, 'fval');
  const digits = float === undefined ? '' : textIn(float, 'fval');
  if (/^-?\d+$/.test(digits)) return BigInt(digits);
  const integer = objectIn(of, 'ival');
  return integer === undefined ? undefined : BigInt(Number(integer['ival'] ?? 0));
}

function inRange(value: bigint, node: Node, message: string): bigint {
  if (value >= LEAST && value < OIDS) return value < 0n ? value + OIDS : value;
  throw new SkeinError('NUMERIC_OVERFLOW', message, placeOf(node));
}

function placeOf({ of }: Node): { readonly position?: number } {
  const position = locationIn(of);
  return position === undefined ? {} : { position };
}
