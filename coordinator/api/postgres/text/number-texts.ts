import { quoteLiteral } from '#shared/sql/quote.ts';

/** A template of numbers that is read here: digits with commas between them, and digits behind a point. */
const TEMPLATE = /^(FM)?([90][90,]*)(?:\.([90]+))?$/;
/** Digits of a DECIMAL. */
const DIGITS_MAX = 30;

/** Types of numbers that have all of their digits. */
const EXACT_TYPES = `'TINYINT', 'SMALLINT', 'INTEGER', 'BIGINT', 'HUGEINT', 'UTINYINT', 'USMALLINT', 'UINTEGER', 'UBIGINT'`;

/**
 * The SQL of Postgres' `to_char(number, template)`: `value` is its text, a name that may stand there several times. A `double precision` is an error: its
 * digits are not those of the engine.
 * ```
 * 1234.5 by '99,990.00' -> '  1,234.50'; by 'FM9,999.99' -> '1,234.5'; by '999.99' -> ' ###.##'
 * ```
 * @returns undefined for another template
 */
export function numberText(template: string, value: string): string | undefined {
  const [, fill, whole = '', fraction = ''] = TEMPLATE.exec(template) ?? [];
  const digits = whole.replaceAll(',', '');
  if (digits === '' || digits.length + fraction.length > DIGITS_MAX) return undefined;
  const isFilled = fill !== undefined;
  const places = fraction.length;
  const rounded = `CAST(abs(CAST(CAST(${value} AS VARCHAR) AS DECIMAL(38, ${places}))) AS VARCHAR)`;
  const wholeDigits = `ltrim(split_part(${rounded}, '.', 1), '0')`;
  const zeros = digits.includes('0') ? digits.length - digits.indexOf('0') : fraction === '' ? 1 : 0;
  // Nothing at all would be left of 0.
  const zero =
    isFilled && zeros === 0 && !fraction.includes('0') ? `WHEN ${rounded} NOT SIMILAR TO '.*[1-9].*' THEN '0.'` : '';
  const shown = `lpad(lpad(${wholeDigits}, greatest(len(${wholeDigits}), ${zeros})::INTEGER, '0'), ${digits.length}, ' ')`;
  const parts: string[] = [];
  let place = 0;
  for (const sign of whole) {
    if (sign !== ',') place += 1;
    const digit = `substr(_d, ${place}, 1)`;
    parts.push(sign === ',' ? `CASE WHEN ${digit} = ' ' THEN ' ' ELSE ',' END` : digit);
  }
  if (fraction !== '') parts.push(`'.'`, fractionOf(rounded, { fraction, isFilled }));
  const core = `list_transform([${shown}], lambda _d: ${parts.join(' || ')})[1]`;
  const full = quoteLiteral(template.replace(/^FM/, '').replaceAll(/[90]/g, '#'));
  const written = `CASE WHEN len(${wholeDigits}) > ${digits.length} THEN ${full} ${zero} ELSE ltrim(${core}, ' ') END`;
  const isNegative = `CAST(CAST(${value} AS VARCHAR) AS DECIMAL(38, ${places})) < 0`;
  const signed = `(CASE WHEN ${isNegative} THEN '-' ELSE '${isFilled ? '' : ' '}' END || ${written})`;
  const width = whole.length + (fraction === '' ? 0 : fraction.length + 1) + 1;
  const text = isFilled ? signed : `lpad(${signed}, ${width}, ' ')`;
  return `CASE WHEN ${value} IS NULL THEN NULL WHEN typeof(${value}) IN (${EXACT_TYPES}) OR typeof(${value}) LIKE 'DECIMAL%' THEN ${text} ELSE CAST(error('to_char of a value of type ' || typeof(${value}) || ' is not served') AS VARCHAR) END`;
}

/** The digits behind the point: with FM without zeros at their end, as far as the template has no zero there. */
function fractionOf(
  rounded: string,
  { fraction, isFilled }: { readonly fraction: string; readonly isFilled: boolean },
): string {
  const digits = `split_part(${rounded}, '.', 2)`;
  const kept = fraction.lastIndexOf('0') + 1;
  return isFilled ? `left(${digits}, ${kept}) || rtrim(substr(${digits}, ${kept + 1}), '0')` : digits;
}
