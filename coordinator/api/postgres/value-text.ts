import type { ValueKind } from './postgres-type.ts';

/** A value of a row of JSON (`sink/json-rows.ts`). */
export type JsonValue = null | boolean | number | string | readonly JsonValue[] | { readonly [key: string]: JsonValue };

/** Prints a value as Postgres does; null = NULL. */
export function valueText(value: JsonValue, kind: ValueKind, element: ValueKind = 'text'): string | null {
  if (value === null) return null;
  switch (kind) {
    case 'bool':
      return value === true ? 't' : 'f';
    case 'bytea':
      return `\\x${Buffer.from(String(value), 'base64').toString('hex')}`;
    case 'date':
    case 'timestamp':
    case 'timestamptz':
      return String(value).replace(' (BC)', ' BC');
    case 'interval':
      return String(value).replaceAll(/\bmonth(s?)\b/g, 'mon$1');
    case 'jsonb':
      return typeof value === 'string' ? value : JSON.stringify(value);
    case 'array':
      return Array.isArray(value) ? arrayText(value, element) : String(value);
    default:
      return Object.is(value, -0) ? '-0' : typeof value === 'object' ? JSON.stringify(value) : String(value);
  }
}

/** `{1,NULL,"a b"}` */
function arrayText(values: readonly JsonValue[], element: ValueKind): string {
  const items = values.map((value) => {
    const text = valueText(value, element);
    return text === null ? 'NULL' : quoted(text);
  });
  return `{${items.join(',')}}`;
}

const quoted = (text: string): string =>
  text === '' || /[{},"\\\s]/.test(text) || text.toUpperCase() === 'NULL'
    ? `"${text.replaceAll(/["\\]/g, (char) => `\\${char}`)}"`
    : text;
