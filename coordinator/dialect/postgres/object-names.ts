import { NUMBERED } from './functions.ts';
import { form, type Sql } from './parts.ts';
import type { WritePlace } from './scope.ts';

/** Where the objects of a type of numbers (`regclass`) and their names are found. */
export const numbered = (type: string): (typeof NUMBERED)[string] => NUMBERED[type] ?? NO_OBJECT;

const NO_OBJECT = { relation: 'pg_class', name: 'relname', namespace: 'relnamespace' };

/** Operators, whose names never stand in quotes. */
const OPERATORS: ReadonlySet<string> = new Set(['regoper', 'regoperator']);

/** The number of an object by a text that is computed: `t`, `s.t`, `"S"."a.b"`. What stands without quotes is compared without case. */
export function numberOfText(type: string, value: Sql, place: WritePlace): Sql {
  const { relation, name, namespace } = numbered(type);
  const r = place.fresh();
  const n = place.fresh();
  if (type === 'regtype') {
    return form`(SELECT min(${r}.oid) FROM pg_catalog.pg_type AS ${r} LEFT JOIN pg_catalog.skein_types AS ${n} ON ${n}.oid = ${r}.oid WHERE ${value} IN (${r}.typname, ${n}.name) OR replace(${value}, '"', '') = 'pg_catalog.' || ${r}.typname)`;
  }
  const text = foldedText(value, place);
  const own = spellings(`${r}.${name}`);
  if (namespace === null)
    return form`(SELECT min(${r}.oid) FROM pg_catalog.${relation} AS ${r} WHERE ${text} IN (${own.join(', ')}))`;
  const full = spellings(`${n}.nspname`).flatMap((schema) => own.map((one) => `${schema} || '.' || ${one}`));
  return form`(SELECT min(${r}.oid) FROM pg_catalog.${relation} AS ${r} JOIN pg_catalog.pg_namespace AS ${n} ON ${n}.oid = ${r}.${namespace} WHERE ${text} IN (${full.join(', ')}) OR (${text} IN (${own.join(', ')}) AND ${n}.nspname IN (current_schema(), 'pg_catalog')))`;
}

/** A text of names with what stands outside of quotes in lower case: every other part between quotes. */
function foldedText(value: Sql, place: WritePlace): Sql {
  const [x, i] = [place.fresh(), place.fresh()];
  const parts = form`string_split(CAST(${value} AS VARCHAR), '"')`;
  return form`array_to_string(list_transform(${parts}, lambda ${x}, ${i}: CASE WHEN ${i} % 2 = 1 THEN lower(trim(${x})) ELSE ${x} END), '"')`;
}

/** How a name may be written: without quotes, unless a dot, a space or a quote is in it, and in quotes. */
const spellings = (name: string): readonly string[] => [
  `(CASE WHEN NOT regexp_matches(${name}, '[.\\s"]') THEN lower(${name}) END)`,
  inQuotes(name),
];

const inQuotes = (name: string): string => `('"' || replace(${name}, '"', '""') || '"')`;

/** The name of an object by its number, as Postgres shows it: in quotes where a statement would need them. */
export function nameOf(type: string, value: Sql, place: WritePlace): Sql {
  const { relation, name, namespace } = numbered(type);
  const r = place.fresh();
  const n = place.fresh();
  const own = OPERATORS.has(type) ? { sql: `${r}.${name}`, join: '' } : quotedName(`${r}.${name}`, place);
  const schema = quotedName(`${n}.nspname`, place);
  const shown =
    type === 'regtype'
      ? form`(SELECT ${r}.name FROM pg_catalog.skein_types AS ${r} WHERE ${r}.oid = ${value})`
      : namespace === null
        ? form`(SELECT ${own.sql} FROM pg_catalog.${relation} AS ${r}${own.join} WHERE ${r}.oid = ${value})`
        : form`(SELECT CASE WHEN ${n}.nspname IN (current_schema(), 'pg_catalog') THEN '' ELSE ${schema.sql} || '.' END || ${own.sql} FROM pg_catalog.${relation} AS ${r} JOIN pg_catalog.pg_namespace AS ${n} ON ${n}.oid = ${r}.${namespace}${own.join}${schema.join} WHERE ${r}.oid = ${value})`;
  return form`(CASE WHEN ${value} = 0 THEN '-' ELSE coalesce(${shown}, CAST(${value} AS VARCHAR)) END)`;
}

/** A name as `quote_ident` writes it, with the words among which it is looked for. */
function quotedName(name: string, place: WritePlace): { readonly sql: string; readonly join: string } {
  const k = place.fresh();
  return {
    sql: `CASE WHEN regexp_full_match(${name}, '[a-z_][a-z0-9_]*') AND ${k}.word IS NULL THEN ${name} ELSE ${inQuotes(name)} END`,
    join: ` LEFT JOIN pg_catalog.pg_get_keywords AS ${k} ON ${k}.word = ${name} AND ${k}.catcode <> 'U'`,
  };
}
