import { Tokenizer } from '#shared/sql/tokenizer.ts';
import type { ParameterValue } from '../tabs/tab-record.ts';

/** Types that a field of a parameter offers; the server reads the value's text. `auto` leaves the type to the statement. */
export const PARAMETER_TYPES = [
  'auto',
  'VARCHAR',
  'BIGINT',
  'DOUBLE',
  'DECIMAL(38,9)',
  'BOOLEAN',
  'DATE',
  'TIME',
  'TIMESTAMP',
  'UUID',
  'JSON',
] as const;

/** The names of a statement's parameters: `1`, `2` for `?` and `$1`, or the names of `$name`. None for a text that is not whole. */
export function parameterNames(sql: string): readonly string[] {
  const names = new Set<string>();
  let marks = 0;
  try {
    const tokens = new Tokenizer(sql);
    let before = '';
    let beforeEnd = -1;
    for (let token = tokens.next(); token.kind !== 'end'; token = tokens.next()) {
      const raw = sql.slice(token.start, token.end);
      if (token.kind === 'parameter') names.add(raw.slice(1));
      else if (raw === '?') names.add(String((marks += 1)));
      else if (token.kind === 'word' && before === '$' && beforeEnd === token.start) names.add(raw);
      [before, beforeEnd] = [raw, token.end];
    }
  } catch {
    return [];
  }
  return [...names];
}

/** The `parameters` of a request; undefined for a statement without any. */
export function parametersOf(
  sql: string,
  values: Readonly<Record<string, ParameterValue>>,
): Readonly<Record<string, unknown>> | readonly unknown[] | undefined {
  const names = parameterNames(sql);
  if (names.length === 0) return undefined;
  const valueOf = (name: string): unknown => jsonOf(values[name] ?? { type: 'auto', value: '', isNull: false });
  if (!names.every((name) => /^\d+$/.test(name))) {
    return Object.fromEntries(names.map((name) => [name, valueOf(name)]));
  }
  return Array.from({ length: Math.max(...names.map(Number)) }, (_, i) => valueOf(String(i + 1)));
}

/** A number is sent as one where no digit is lost. */
function jsonOf({ type, value, isNull }: ParameterValue): unknown {
  if (isNull) return null;
  if (type !== 'auto') return { type, value };
  return /^-?\d{1,15}$/.test(value) ? Number(value) : value;
}
