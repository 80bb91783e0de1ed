/** Texts of scalars, as DuckDB casts them to VARCHAR. */

/** Powers of ten from which on, and below which, DuckDB writes an exponent. */
const EXPONENT_MIN = -4;
const EXPONENT_MAX = 16;

/** @param isSingle a FLOAT, which has fewer digits */
export function printFloat(value: number, isSingle: boolean): string {
  if (Number.isNaN(value)) return 'nan';
  if (!Number.isFinite(value)) return value > 0 ? 'inf' : '-inf';
  if (value === 0) return Object.is(value, -0) ? '-0.0' : '0.0';
  const [mantissa = '', power = '0'] = (isSingle ? singleDigits(value) : value.toExponential()).split('e');
  const exponent = Number(power);
  if (exponent < EXPONENT_MIN || exponent >= EXPONENT_MAX) {
    const digits = String(Math.abs(exponent)).padStart(2, '0');
    return `${mantissa}e${exponent < 0 ? '-' : '+'}${digits}`;
  }
  const sign = value < 0 ? '-' : '';
  const digits = mantissa.replace(/[-.]/g, '');
  if (exponent < 0) return `${sign}0.${'0'.repeat(-exponent - 1)}${digits}`;
  const whole = digits.slice(0, exponent + 1).padEnd(exponent + 1, '0');
  return `${sign}${whole}.${digits.slice(exponent + 1) || '0'}`;
}

const SINGLE_DIGITS_MAX = 9;

/** The shortest digits that are this number among those of 32 bits. DuckDB prints a double where they lie half way to the next number. */
function singleDigits(value: number): string {
  for (let digits = 1; digits < SINGLE_DIGITS_MAX; digits += 1) {
    const text = value.toExponential(digits - 1);
    if (Math.fround(Number(text)) === value) return isHalfWay(Number(text), value) ? value.toExponential() : text;
  }
  return value.toExponential(SINGLE_DIGITS_MAX - 1);
}

function isHalfWay(near: number, value: number): boolean {
  const bits = new DataView(new ArrayBuffer(4));
  bits.setFloat32(0, value);
  const step = Math.abs(near) > Math.abs(value) ? 1 : -1;
  bits.setUint32(0, bits.getUint32(0) + step);
  return near === (value + bits.getFloat32(0)) / 2;
}

/** @param width its digits in all: where all of them are behind the point, no 0 stands before it */
export function printDecimal(scaled: bigint, scale: number, width: number): string {
  if (scale === 0) return String(scaled);
  const sign = scaled < 0n ? '-' : '';
  const digits = String(scaled < 0n ? -scaled : scaled).padStart(width > scale ? scale + 1 : scale, '0');
  return `${sign}${digits.slice(0, -scale)}.${digits.slice(-scale)}`;
}

export function printBlob(bytes: Uint8Array): string {
  let text = '';
  for (const byte of bytes) {
    const isPlain = byte >= 0x20 && byte <= 0x7e && byte !== 0x22 && byte !== 0x27 && byte !== 0x5c;
    text += isPlain ? String.fromCharCode(byte) : `\\x${byte.toString(16).toUpperCase().padStart(2, '0')}`;
  }
  return text;
}
