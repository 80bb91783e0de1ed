import { SkeinError } from '#shared/error.ts';
import { foldKeyword } from '#shared/sql/fold-identifier.ts';
import type { LiteralClause } from '../clause/literal.ts';
import type { ProcedureValues } from './procedure.ts';

const wrong = (message: string, position: number): SkeinError =>
  new SkeinError('INVALID_ARGUMENT', message, { position });

/** A value that must be there. @throws INVALID_ARGUMENT */
export function integerValue(
  values: ProcedureValues,
  name: string,
  callPosition: number,
): { readonly value: bigint; readonly position: number } {
  const literal = values.get(name);
  if (literal === undefined) throw wrong(`${name} is missing`, callPosition);
  const { value, position } = literal;
  const digits = typeof value === 'object' && value !== null && 'digits' in value ? value.digits : '';
  if (!/^\d{1,19}$/.test(digits)) throw wrong(`${name} wants a number`, position);
  return { value: BigInt(digits), position };
}

const UNIT_MS: Readonly<Record<string, number>> = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 };

/** A duration in Trino's spelling, `'7d'` or `'12h'`, in milliseconds; null when absent. @throws INVALID_ARGUMENT */
export function durationValue(values: ProcedureValues, name: string): number | null {
  const literal = values.get(name);
  if (literal === undefined) return null;
  const [, digits = '', unit = ''] = /^(\d{1,9})(ms|s|m|h|d)$/.exec(textOf(literal)) ?? [];
  const unitMs = UNIT_MS[unit];
  if (unitMs === undefined) throw wrong(`${name} wants a duration such as '7d' or '12h'`, literal.position);
  return Number(digits) * unitMs;
}

const UNIT_BYTES: Readonly<Record<string, number>> = {
  B: 1,
  KB: 2 ** 10,
  MB: 2 ** 20,
  GB: 2 ** 30,
  TB: 2 ** 40,
};

/** A size in Trino's spelling, `'100MB'`, in bytes (its units are powers of 1,024); null when absent. @throws INVALID_ARGUMENT */
export function sizeValue(values: ProcedureValues, name: string): number | null {
  const literal = values.get(name);
  if (literal === undefined) return null;
  const [, digits = '', unit = ''] = /^(\d{1,9}(?:\.\d{1,9})?)(B|[KMGT]B)$/.exec(foldKeyword(textOf(literal))) ?? [];
  const unitBytes = UNIT_BYTES[unit];
  if (unitBytes === undefined) throw wrong(`${name} wants a size such as '100MB'`, literal.position);
  return Number(digits) * unitBytes;
}

/** @throws INVALID_ARGUMENT */
export function booleanValue(values: ProcedureValues, name: string): boolean {
  const literal = values.get(name);
  if (literal === undefined) return false;
  if (typeof literal.value !== 'boolean') throw wrong(`${name} wants true or false`, literal.position);
  return literal.value;
}

const textOf = ({ value }: LiteralClause): string =>
  typeof value === 'object' && value !== null && 'text' in value ? value.text : '';
