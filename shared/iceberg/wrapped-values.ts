import { floorDivide } from './single-value.ts';
import type { IcebergType } from './type.ts';
import { decimalBytes } from './manifest-schema.ts';

/**
 * Partition values that do not fit their type, and are written as what is left of them in its bytes, by Skein and by Iceberg's libraries: the
 * truncation of the least integers to a multiple below all integers, and hours beyond the year 246,000.
 */

/** A multiple below the range of its type, and the value that is written instead. */
type WrappedValue = { readonly from: bigint; readonly to: bigint };

/** Returns the truncations that do not fit their type: that of the least values, at most one for each width that the type may have had. */
export function truncationsWrapped(width: number, source: IcebergType): readonly WrappedValue[] {
  return leastValues(source).flatMap(({ bits, least }) => {
    const from = floorDivide(least, BigInt(width)) * BigInt(width);
    const to = BigInt.asIntN(bits, from);
    return to === from ? [] : [{ from, to }];
  });
}

/** The least value of a type and the bits of its partition values; also those of narrower types, from which the column may have been promoted. */
function leastValues(source: IcebergType): readonly { readonly bits: number; readonly least: bigint }[] {
  const int = { bits: 32, least: -(2n ** 31n) };
  if (source.kind === 'int') return [int];
  if (source.kind === 'long') return [int, { bits: 64, least: -(2n ** 63n) }];
  if (source.kind !== 'decimal') return [];
  return Array.from({ length: source.precision }, (_, i) => ({
    bits: 8 * decimalBytes(i + 1),
    least: 1n - 10n ** BigInt(i + 1),
  }));
}

const MICROS_PER_HOUR = 3_600_000_000n;

/**
 * Bounds the hours that were written for times whose hours do not fit 32 bits: those too low are this value or more, those too high are this
 * value or less; null when all hours of the type fit.
 */
export function hoursWrapped(source: IcebergType, which: 'below' | 'above'): bigint | null {
  if (source.kind !== 'timestamp' && source.kind !== 'timestamptz') return null;
  const end = which === 'below' ? -(2n ** 63n) : 2n ** 63n - 1n;
  return BigInt.asIntN(32, floorDivide(end, MICROS_PER_HOUR));
}
