import { numberNamed } from './casts.ts';
import { form, words, type Sql } from './parts.ts';
import type { Typed, WritePlace } from './scope.ts';
import type { Node } from './tree.ts';

/** The object that a function of privileges asks about: how its object is found, and the place of the object's kind in `skein_rights`. */
type Asked = {
  /** The type whose numbers its objects have. */
  readonly type: 'regclass' | 'regnamespace' | 'database';
  /** It takes a column behind the object. */
  readonly ofColumn?: true;
};

const FUNCTIONS: Readonly<Record<string, Asked>> = {
  has_table_privilege: { type: 'regclass' },
  has_any_column_privilege: { type: 'regclass' },
  has_column_privilege: { type: 'regclass', ofColumn: true },
  has_schema_privilege: { type: 'regnamespace' },
  has_database_privilege: { type: 'database' },
};

export const isPrivilegeFunction = (name: string): boolean => Object.hasOwn(FUNCTIONS, name);

/**
 * Writes `has_table_privilege(user, object, privileges)` and its like, with or without the user, over `skein_rights`: what the caller may do with
 * objects of each kind. One is enough of several privileges; WITH GRANT OPTION nobody has; a user who is not the caller has none here, and an
 * object that is not there gives NULL.
 */
export function writePrivilege(
  name: string,
  args: readonly Node[],
  place: WritePlace,
  write: (node: Node, place: WritePlace) => Typed,
): Typed {
  const { type, ofColumn } = FUNCTIONS[name] ?? { type: 'regclass' };
  const count = ofColumn === true ? 3 : 2;
  const own = args.slice(-count);
  const [object, second, third] = own;
  if (object === undefined || second === undefined) return { sql: words('CAST(NULL AS BOOLEAN)'), type: 'bool' };
  const column = ofColumn === true ? second : undefined;
  const privilege = write(ofColumn === true && third !== undefined ? third : second, place).sql;
  const [p, q] = [place.fresh(), place.fresh()];
  const wanted = form`list_transform(string_split(upper(${privilege}), ','), lambda ${p}: trim(${p}))`;
  const user = args.length > count && args[0] !== undefined ? write(args[0], place).sql : undefined;
  const isOwn: Sql = user === undefined ? words('true') : form`CAST(${user} AS VARCHAR) IN (current_user, '10')`;
  const has = form`coalesce(list_has_any(${q}.privileges, ${wanted}), false) AND ${isOwn}`;
  return { sql: form`(SELECT ${has} FROM ${found(type, { object, column, rights: q }, place, write)})`, type: 'bool' };
}

/** The object, beside what the caller may do with those of its kind. */
function found(
  type: Asked['type'],
  { object, column, rights }: { readonly object: Node; readonly column: Node | undefined; readonly rights: string },
  place: WritePlace,
  write: (node: Node, place: WritePlace) => Typed,
): Sql {
  const r = place.fresh();
  const joined = (kind: string): string => `LEFT JOIN pg_catalog.skein_rights AS ${rights} ON ${rights}.kind = ${kind}`;
  if (type === 'database') {
    const value = write(object, place).sql;
    return form`pg_catalog.pg_database AS ${r} ${joined(`'d'`)} WHERE CAST(${value} AS VARCHAR) IN (${r}.datname, CAST(${r}.oid AS VARCHAR))`;
  }
  const number = numberNamed(type, object, place, write);
  if (type === 'regnamespace') {
    const kind = `CASE WHEN ${r}.oid < ${FIRST_OWN} THEN 'b' ELSE 'n' END`;
    return form`pg_catalog.pg_namespace AS ${r} ${joined(kind)} WHERE ${r}.oid = ${number}`;
  }
  const kind = `CASE WHEN ${r}.oid < ${FIRST_OWN} THEN 's' ELSE ${r}.relkind END`;
  if (column === undefined) return form`pg_catalog.pg_class AS ${r} ${joined(kind)} WHERE ${r}.oid = ${number}`;
  const a = place.fresh();
  const named = form`CAST(${write(column, place).sql} AS VARCHAR) IN (${a}.attname, CAST(${a}.attnum AS VARCHAR))`;
  return form`pg_catalog.pg_class AS ${r} JOIN pg_catalog.pg_attribute AS ${a} ON ${a}.attrelid = ${r}.oid ${joined(kind)} WHERE ${r}.oid = ${number} AND ${named}`;
}

/** The numbers below are those of Postgres' own objects. */
const FIRST_OWN = 16_384;
