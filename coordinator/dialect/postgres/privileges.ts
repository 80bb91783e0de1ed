import { quoteLiteral } from '#shared/sql/quote.ts';
import { UNKNOWN_PRIVILEGE } from '#shared/sql/raised-message.ts';
import { numberNamed, type NamedObject } from './casts.ts';
import { form, words, type Sql } from './parts.ts';
import type { Typed, WritePlace } from './scope.ts';
import type { Node } from './tree.ts';

/** The question that a function of privileges asks. */
type Asked = {
  /**
   * How its object is found, and the place of the object's kind in `skein_rights`; `always` and `never`: all have the right, or nobody. `names`: the
   * type whose names an object of these has.
   */
  readonly object: 'regclass' | 'regnamespace' | 'database' | 'role' | 'always' | 'never';
  readonly names?: NamedObject;
  /** It takes a column behind the object. */
  readonly ofColumn?: true;
  /** The privileges that Postgres knows for it, each also WITH GRANT OPTION. */
  readonly privileges: readonly string[];
  readonly options?: readonly string[];
};

const GRANT: readonly string[] = ['', ' WITH GRANT OPTION'];
const OF_COLUMNS = ['SELECT', 'INSERT', 'UPDATE', 'REFERENCES'];

const FUNCTIONS: Readonly<Record<string, Asked>> = {
  has_table_privilege: {
    object: 'regclass',
    privileges: [...OF_COLUMNS, 'DELETE', 'TRUNCATE', 'TRIGGER', 'MAINTAIN'],
  },
  has_any_column_privilege: { object: 'regclass', privileges: OF_COLUMNS },
  has_column_privilege: { object: 'regclass', ofColumn: true, privileges: OF_COLUMNS },
  has_schema_privilege: { object: 'regnamespace', privileges: ['CREATE', 'USAGE'] },
  has_database_privilege: { object: 'database', privileges: ['CREATE', 'TEMPORARY', 'TEMP', 'CONNECT'] },
  has_function_privilege: { object: 'always', names: 'regprocedure', privileges: ['EXECUTE'] },
  has_type_privilege: { object: 'always', names: 'regtype', privileges: ['USAGE'] },
  has_sequence_privilege: { object: 'always', names: 'regclass', privileges: ['USAGE', 'SELECT', 'UPDATE'] },
  has_language_privilege: { object: 'always', privileges: ['USAGE'] },
  has_tablespace_privilege: { object: 'never', privileges: ['CREATE'] },
  has_parameter_privilege: { object: 'never', privileges: ['SET', 'ALTER SYSTEM'] },
  has_foreign_data_wrapper_privilege: { object: 'never', privileges: ['USAGE'] },
  has_server_privilege: { object: 'never', privileges: ['USAGE'] },
  has_largeobject_privilege: { object: 'never', privileges: ['SELECT', 'UPDATE'] },
  pg_has_role: {
    object: 'role',
    privileges: ['USAGE', 'MEMBER', 'SET'],
    options: [...GRANT, ' WITH ADMIN OPTION'],
  },
};

export const isPrivilegeFunction = (name: string): boolean => Object.hasOwn(FUNCTIONS, name);

type Write = (node: Node, place: WritePlace) => Typed;

/**
 * Writes `has_table_privilege(user, object, privileges)` and its like, with or without the user, over `skein_rights`: what the caller may do with
 * objects of each kind. One is enough of several privileges; WITH GRANT OPTION nobody has; a user who is not the caller has none here, and an
 * object that is not there gives NULL. A text that names no privilege is an error, as in Postgres.
 */
export function writePrivilege(name: string, args: readonly Node[], place: WritePlace, write: Write): Typed {
  const asked = FUNCTIONS[name] ?? { object: 'never', privileges: [] };
  const count = asked.ofColumn === true ? 3 : 2;
  const [object, second, third] = args.slice(-count);
  if (object === undefined || second === undefined) return { sql: words('CAST(NULL AS BOOLEAN)'), type: 'bool' };
  const column = asked.ofColumn === true ? second : undefined;
  const text = write(column !== undefined && third !== undefined ? third : second, place).sql;
  const wanted = wantedOf(asked, text, place);
  const user = args.length > count && args[0] !== undefined ? write(args[0], place).sql : undefined;
  const isOwn: Sql = user === undefined ? words('true') : isCaller(user);
  const answer = (has: Sql): Typed => ({ sql: form`(CASE WHEN ${wanted} IS NOT NULL THEN ${has} END)`, type: 'bool' });
  if (asked.object === 'role') return answer(form`(${isCaller(write(object, place).sql)} AND ${isOwn})`);
  if (asked.object === 'never') return answer(form`(CASE WHEN ${write(object, place).sql} IS NOT NULL THEN false END)`);
  if (asked.object === 'always') {
    const found = asked.names === undefined ? write(object, place).sql : numberNamed(asked.names, object, place, write);
    return answer(form`(CASE WHEN ${found} IS NOT NULL THEN true END)`);
  }
  const q = place.fresh();
  const has = form`coalesce(list_has_any(${q}.privileges, ${wanted}), false) AND ${isOwn}`;
  return answer(form`(SELECT ${has} FROM ${found(asked.object, { object, column, rights: q }, place, write)})`);
}

const isCaller = (user: Sql): Sql => form`CAST(${user} AS VARCHAR) IN (current_user, '10')`;

/** Signs around a privilege that Postgres does not read. */
const SPACE = quoteLiteral(' \t\n\r\f\v');

/** The privileges of a text with commas between them, in capitals. */
function wantedOf({ privileges, options = GRANT }: Asked, text: Sql, place: WritePlace): Sql {
  const p = place.fresh();
  const known = privileges.flatMap((one) => options.map((option) => quoteLiteral(one + option))).join(', ');
  const one = `upper(trim(${p}, ${SPACE}))`;
  const wrong = `error(${quoteLiteral(`${UNKNOWN_PRIVILEGE}"`)} || trim(${p}, ${SPACE}) || '"')`;
  return form`list_transform(string_split(${text}, ','), lambda ${p}: CASE WHEN ${one} IN (${known}) THEN ${one} ELSE CAST(${wrong} AS VARCHAR) END)`;
}

/** The object, beside what the caller may do with those of its kind. */
function found(
  type: 'regclass' | 'regnamespace' | 'database',
  { object, column, rights }: { readonly object: Node; readonly column: Node | undefined; readonly rights: string },
  place: WritePlace,
  write: Write,
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
