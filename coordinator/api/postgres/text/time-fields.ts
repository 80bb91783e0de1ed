import { foldKeyword } from '#shared/sql/fold-identifier.ts';
import type { CallText } from './call-text.ts';

type Field = { readonly scale: number; readonly unit: string };

/** Fields of times that have a fraction in Postgres, and are whole in the engine. */
const FIELDS: Readonly<Record<string, Field>> = {
  SECOND: { scale: 6, unit: '0.000001' },
  SECONDS: { scale: 6, unit: '0.000001' },
  MILLISECOND: { scale: 3, unit: '0.001' },
  MILLISECONDS: { scale: 3, unit: '0.001' },
};

/**
 * Writes fields of times that have a fraction in Postgres, by their microseconds.
 * ```
 * extract(second FROM a)   ->  CAST(CAST(extract(microsecond FROM a) AS DECIMAL(18, 0)) * 0.000001 AS DECIMAL(18, 6))
 * date_part('second', a)   ->  (date_part('microsecond', a) * CAST(0.000001 AS DOUBLE))
 * ```
 * @returns whether the call is one of these
 */
export function writeField(
  text: CallText,
  { name, at, close }: { readonly name: string; readonly at: number; readonly close: number },
): boolean {
  const first = at + 2;
  if (name === 'EXTRACT') {
    const field = text.word(first + 1) === 'FROM' ? FIELDS[text.word(first)] : undefined;
    if (field === undefined) return false;
    text.replace(at, 'CAST(CAST(extract');
    text.replace(first, 'microsecond');
    text.append(close, ` AS DECIMAL(18, 0)) * ${field.unit} AS DECIMAL(18, ${field.scale}))`);
    return true;
  }
  const field =
    name === 'DATE_PART' && text.symbol(first + 1) === ',' ? FIELDS[foldKeyword(text.string(first))] : undefined;
  if (field === undefined) return false;
  text.replace(at, '(date_part');
  text.replace(first, `'microsecond'`);
  text.append(close, ` / ${field.scale === 6 ? '1e6' : '1e3'})`);
  return true;
}
