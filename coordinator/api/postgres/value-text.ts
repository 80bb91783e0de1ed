import type { ValueKind } from './postgres-type.ts';

/** A value of a row of JSON (`sink/json-rows.ts`). */
export type JsonValue = null | boolean | number | string | readonly JsonValue[] | { readonly [key: string]: JsonValue };

type Printer = (text: string) => string;

const asDate: Printer = (text) => text.replace(' (BC)', ' BC');
const PRINTERS: Partial<Readonly<Record<ValueKind, Printer>>> = {
  bool: (text) => (text === 'true' ? 't' : 'f'),
  bytea: (text) => `\\x${Buffer.from(text, 'base64').toString('hex')}`,
  date: asDate,
  timestamp: asDate,
  timestamptz: asDate,
  interval: (text) => text.replaceAll(/\bmonth(s?)\b/g, 'mon$1'),
};

/** Prints a value as Postgres does; null = NULL. */
export function valueText(value: JsonValue, kind: ValueKind, element: ValueKind = 'text'): string | null {
  if (value === null) return null;
  if (kind === 'array' && Array.isArray(value)) return arrayText(value as readonly JsonValue[], element);
  if (typeof value === 'object') return JSON.stringify(value);
  const text = Object.is(value, -0) ? '-0' : String(value);
  return PRINTERS[kind]?.(text) ?? text;
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
