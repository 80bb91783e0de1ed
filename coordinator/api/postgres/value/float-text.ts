/** Decimal exponents that Postgres prints without `e`, for 4 and 8 bytes. */
const EXPONENT_MIN = -4;
const [FLOAT4_DIGITS, FLOAT8_DIGITS] = [6, 15];

/** Smaller floats have fewer than six digits of their own. */
const FLOAT4_NORMAL_MIN = 2 ** -126;

/** A double as Postgres prints it: `1`, `0.1`, `1e+15`, `1e-05`, `Infinity`. */
export const printFloat8 = (value: number): string => inPlaces(value, String(value), FLOAT8_DIGITS);

/** A float by its own shortest digits: 0.1, not the double 0.10000000149011612. */
export function printFloat4(value: number): string {
  for (let digits = Math.abs(value) < FLOAT4_NORMAL_MIN ? 1 : FLOAT4_DIGITS; digits < 9; digits += 1) {
    const shorter = Number(value.toPrecision(digits));
    if (Math.fround(shorter) === value) return inPlaces(shorter, String(shorter), FLOAT4_DIGITS);
  }
  const longest = Number(value.toPrecision(9));
  return inPlaces(longest, String(longest), FLOAT4_DIGITS);
}

/** @param exponentMax the first exponent with `e` */
function inPlaces(value: number, text: string, exponentMax: number): string {
  const size = Math.abs(value);
  if (value === 0) return Object.is(value, -0) ? '-0' : '0';
  if (!Number.isFinite(value) || (size >= 10 ** EXPONENT_MIN && size < 10 ** exponentMax)) return text;
  const [digits = '', exponent = '0'] = value.toExponential().split('e');
  const sign = exponent.startsWith('-') ? '-' : '+';
  return `${digits}e${sign}${exponent.slice(1).padStart(2, '0')}`;
}
