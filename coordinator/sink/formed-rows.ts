import type { SqlText } from '#shared/task/sql-text.ts';
import { printSqlType, type SqlType } from '../plan/sql-type.ts';
import { jsonText } from './json-rows.ts';

/** For each column of a result, whether its values come as their own Arrow type, or as text that DuckDB prints. */
export type ColumnForms = { readonly isNative: (column: number) => boolean };

/** How a value comes: its type, and the SQL that makes it so of a value; null = as it is. */
type Form = { readonly type: SqlType; readonly print: ((input: string) => string) | null };

const scalarType = (name: string): SqlType => ({ kind: 'scalar', name });
const TEXT = scalarType('VARCHAR');

const asIs = (type: SqlType): Form => ({ type, print: null });
const castTo = (type: SqlType): Form => ({ type, print: (input) => `CAST(${input} AS ${printSqlType(type)})` });
const asText = (print: (text: string, input: string) => string): Form => ({
  type: TEXT,
  print: (input) => print(`CAST(${input} AS VARCHAR)`, input),
});
const TEXT_FORM = castTo(TEXT);

/** DuckDB puts the era behind the date, Postgres at the end: `0044-03-15 12:00:00 BC`. */
const withEra = (earliest: string): Form =>
  asText(
    (text, input) =>
      `CASE WHEN ${input} < ${earliest} AND contains(${text}, ' (BC)') THEN replace(${text}, ' (BC)', '') || ' BC' ELSE ${text} END`,
  );

/** Both ways print and read these without DuckDB. */
const ALWAYS_NATIVE: ReadonlySet<string> = new Set(['BOOLEAN', 'FLOAT', 'DOUBLE']);

/** Values as Postgres prints them, where DuckDB prints them in another way. */
const TEXTS: Readonly<Record<string, Form>> = {
  VARCHAR: asIs(TEXT),
  BLOB: asText((_, input) => `'\\x' || lower(hex(${input}))`),
  DATE: withEra(`DATE '0002-01-01'`),
  TIMESTAMP: withEra(`TIMESTAMP '0002-01-01'`),
  TIMESTAMP_S: withEra(`TIMESTAMP_S '0002-01-01'`),
  TIMESTAMP_MS: withEra(`TIMESTAMP_MS '0002-01-01'`),
  'TIMESTAMP WITH TIME ZONE': withEra(`TIMESTAMPTZ '0002-01-01'`),
  INTERVAL: asText(postgresInterval),
};

const MICROS = scalarType('TIMESTAMP');
/** Months, days and microseconds: Arrow has no room for every one. */
const INTERVAL_PARTS: Form = {
  type: TEXT,
  print: (input) =>
    `CAST(year(${input}) * 12 + month(${input}) AS VARCHAR) || ' ' || day(${input}) || ' ' || ` +
    `(hour(${input}) * 3600000000 + minute(${input}) * 60000000 + microsecond(${input}))`,
};

/** The types whose values have a form in Arrow that needs no text. */
const NATIVES: Readonly<Record<string, Form>> = {
  VARCHAR: asIs(TEXT),
  TINYINT: castTo(scalarType('SMALLINT')),
  UTINYINT: castTo(scalarType('SMALLINT')),
  SMALLINT: asIs(scalarType('SMALLINT')),
  USMALLINT: castTo(scalarType('INTEGER')),
  INTEGER: asIs(scalarType('INTEGER')),
  UINTEGER: castTo(scalarType('BIGINT')),
  BIGINT: asIs(scalarType('BIGINT')),
  BLOB: asIs(scalarType('BLOB')),
  DATE: asIs(scalarType('DATE')),
  TIME: asIs(scalarType('TIME')),
  TIMESTAMP: asIs(MICROS),
  TIMESTAMP_S: castTo(MICROS),
  TIMESTAMP_MS: castTo(MICROS),
  TIMESTAMP_NS: castTo(MICROS),
  'TIMESTAMP WITH TIME ZONE': asIs(scalarType('TIMESTAMP WITH TIME ZONE')),
  INTERVAL: INTERVAL_PARTS,
};

/** Whether a list has values that are neither nested nor JSON: Postgres has it as an array. */
export const isPlainList = (type: SqlType): type is Extract<SqlType, { kind: 'list' | 'array' }> =>
  (type.kind === 'list' || type.kind === 'array') && !isJson(type.element);

/** Whether values of a type are printed as JSON within a list. */
const isJson = (type: SqlType): boolean =>
  ['list', 'array', 'struct', 'map'].includes(type.kind) || (type.kind === 'scalar' && type.name === 'JSON');

function formOf(type: SqlType, isNative: boolean, depth = 0): Form {
  if (type.kind === 'scalar') {
    if (ALWAYS_NATIVE.has(type.name)) return asIs(type);
    return (isNative ? NATIVES : TEXTS)[type.name] ?? TEXT_FORM;
  }
  if (isPlainList(type)) return listForm(type, isNative, depth);
  if (!isJson(type)) return TEXT_FORM;
  return {
    type: TEXT,
    print: (input) => `CASE WHEN ${input} IS NOT NULL THEN ${jsonText(type, input)} END`,
  };
}

function listForm(type: Extract<SqlType, { kind: 'list' | 'array' }>, isNative: boolean, depth: number): Form {
  const element = formOf(type.element, isNative, depth + 1);
  const listType: SqlType = { kind: 'list', element: element.type };
  const { print } = element;
  if (print === null) return type.kind === 'list' ? asIs(listType) : castTo(listType);
  const item = `e${depth}`;
  return { type: listType, print: (input) => `list_transform(${input}, lambda ${item}: ${print(item)})` };
}

/** The type as which the values of a column come. */
export const formedType = (type: SqlType, isNative: boolean): SqlType => formOf(type, isNative).type;

/**
 * Wraps a query so that each of its columns has the form that is asked for; a query whose columns have it stays as it is. Order is kept;
 * names may repeat.
 */
export function formedRows(sql: SqlText, types: readonly SqlType[], { isNative }: ColumnForms): SqlText {
  const prints = types.map((type, i) => formOf(type, isNative(i)).print);
  if (prints.every((print) => print === null)) return sql;
  const columns = prints.map((print, i) => (print === null ? `c${i}` : `${print(`c${i}`)} AS c${i}`));
  return [`SELECT ${columns.join(', ')} FROM (`, ...sql, `\n) AS t(${types.map((_, i) => `c${i}`).join(', ')})`];
}

/**
 * The words of an interval that Postgres writes otherwise, one after another: `-1 year 2 months` is `-1 years +2 mons`, because one alone is
 * singular, and a part behind a negative one has its sign. Patterns mean the same to the engine.
 */
const INTERVAL_WORDS = [
  [/ month/g, ' mon'],
  [/-1 (year|mon|day)\b/g, '-1 $1s'],
  [/(-[0-9]+ [a-z]+) ([0-9])/g, '$1 +$2'],
] as const;

function postgresInterval(text: string): string {
  return INTERVAL_WORDS.reduce(
    (sql, [{ source }, by]) => `regexp_replace(${sql}, '${source}', '${by.replaceAll('$', '\\')}', 'g')`,
    text,
  );
}

/** The same for a value that has come as it is. */
export const postgresIntervalText = (text: string): string =>
  INTERVAL_WORDS.reduce((written, [pattern, by]) => written.replaceAll(pattern, by), text);
