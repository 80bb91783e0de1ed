import { expect, test } from 'vitest';
import { translatePostgres } from './translate-postgres.ts';

async function written(sql: string): Promise<{ readonly text: string; readonly types: readonly (string | null)[] }> {
  const found = await translatePostgres({ sql, values: [], catalog: 'lake' });
  const text = (found?.parts ?? [])
    .map((part) => ('text' in part ? part.text : sql.slice(part.from, part.to)))
    .join('');
  return { text, types: found?.columns?.map(({ type }) => type) ?? [] };
}

test.each([
  [
    `SELECT relname FROM pg_class WHERE relname OPERATOR(pg_catalog.~) '^(t)$' COLLATE pg_catalog.default`,
    `SELECT "pg_class"."relname" FROM "pg_catalog"."pg_class" AS "pg_class" WHERE (regexp_matches(CAST("pg_class"."relname" AS VARCHAR), '^(t)$'))`,
  ],
  [
    `SELECT 1 FROM pg_class c WHERE c.relkind = ANY('{r,"p q"}')`,
    `SELECT 1 AS "?column?" FROM "pg_catalog"."pg_class" AS "c" WHERE list_contains(CAST(['r', 'p q'] AS VARCHAR[]), "c"."relkind")`,
  ],
  [
    `SELECT i.indkey[0] FROM pg_index i`,
    `SELECT ("i"."indkey")[0 + 1] AS "indkey" FROM "pg_catalog"."pg_index" AS "i"`,
  ],
  [
    `SELECT c.tableoid FROM pg_class c`,
    `SELECT CAST(1259 AS BIGINT) AS "tableoid" FROM "pg_catalog"."pg_class" AS "c"`,
  ],
  // jOOQ's generator asks for the parts of domains so.
  [
    `SELECT information_schema._pg_char_max_length(t.typbasetype, t.typtypmod), nameconcatoid(t.typname, t.oid) FROM pg_type t`,
    `SELECT CAST(CASE WHEN "t"."typtypmod" = -1 THEN NULL WHEN "t"."typbasetype" IN (1042, 1043) THEN "t"."typtypmod" - 4 WHEN "t"."typbasetype" IN (1560, 1562) THEN "t"."typtypmod" END AS INTEGER) AS "_pg_char_max_length", ("t"."typname" || '_' || "t"."oid") AS "nameconcatoid" FROM "pg_catalog"."pg_type" AS "t"`,
  ],
  [
    `SELECT j.spcname, typname FROM (pg_tablespace t JOIN pg_range r ON t.oid = r.rngtypid) AS j, pg_type`,
    `SELECT "j"."spcname", "pg_type"."typname" FROM (SELECT "t"."oid", "t"."spcname", "t"."spcowner", "t"."spcacl", "t"."spcoptions", "r"."rngtypid", "r"."rngsubtype", "r"."rngmultitypid", "r"."rngcollation", "r"."rngsubopc", "r"."rngcanonical", "r"."rngsubdiff" FROM ("pg_catalog"."pg_tablespace" AS "t" JOIN "pg_catalog"."pg_range" AS "r" ON ("t"."oid" = "r"."rngtypid"))) AS "j", "pg_catalog"."pg_type" AS "pg_type"`,
  ],
  // Names of the result come before those of FROM.
  [
    `SELECT oid AS relname FROM pg_class ORDER BY relname`,
    `SELECT "pg_class"."oid" AS "relname" FROM "pg_catalog"."pg_class" AS "pg_class" ORDER BY "relname"`,
  ],
  // SQLAlchemy 2.1 names columns so.
  [
    `SELECT pg_catalog.pg_class.relname FROM pg_catalog.pg_class WHERE pg_catalog.pg_class.oid = 1`,
    `SELECT "pg_class"."relname" FROM "pg_catalog"."pg_class" AS "pg_class" WHERE ("pg_class"."oid" = 1)`,
  ],
  // jOOQ names columns by schema and relation, psql and others by a star of it.
  [
    `SELECT information_schema.routines.routine_name, routines.specific_name FROM information_schema.routines`,
    `SELECT "routines"."routine_name", "routines"."specific_name" FROM "information_schema"."routines" AS "routines"`,
  ],
  [
    `SELECT (SELECT pg_catalog.pg_class.relname FROM pg_attribute a WHERE a.attrelid = lake.pg_catalog.pg_class.oid) FROM lake.pg_catalog.pg_class`,
    `SELECT (SELECT "pg_class"."relname" FROM "pg_catalog"."pg_attribute" AS "a" WHERE ("a"."attrelid" = "pg_class"."oid")) AS "relname" FROM "pg_catalog"."pg_class" AS "pg_class"`,
  ],
  [
    `SELECT pg_catalog.pg_tablespace.*, tableoid FROM pg_tablespace`,
    `SELECT "pg_tablespace"."oid" AS "oid", "pg_tablespace"."spcname" AS "spcname", "pg_tablespace"."spcowner" AS "spcowner", "pg_tablespace"."spcacl" AS "spcacl", "pg_tablespace"."spcoptions" AS "spcoptions", CAST(1213 AS BIGINT) AS "tableoid" FROM "pg_catalog"."pg_tablespace" AS "pg_tablespace"`,
  ],
  [
    `SELECT pg_catalog.pg_class.* FROM pg_class JOIN pg_index USING (oid)`,
    `SELECT "pg_class".* FROM ("pg_catalog"."pg_class" AS "pg_class" JOIN "pg_catalog"."pg_index" AS "pg_index" USING ("oid"))`,
  ],
  [
    `SELECT 1 FROM pg_class c WHERE c.relname LIKE ANY (ARRAY['a%', 'b'])`,
    `SELECT 1 AS "?column?" FROM "pg_catalog"."pg_class" AS "c" WHERE (CASE WHEN list_contains(list_transform(['a%', 'b'], lambda skein_1: ("c"."relname" LIKE skein_1 ESCAPE '\\')), true) THEN true WHEN len(list_transform(['a%', 'b'], lambda skein_1: ("c"."relname" LIKE skein_1 ESCAPE '\\'))) > list_count(list_transform(['a%', 'b'], lambda skein_1: ("c"."relname" LIKE skein_1 ESCAPE '\\'))) THEN NULL WHEN list_transform(['a%', 'b'], lambda skein_1: ("c"."relname" LIKE skein_1 ESCAPE '\\')) IS NOT NULL THEN NOT true END)`,
  ],
  // pgAdmin asks for types by a list of their numbers.
  [
    `SELECT 1 FROM pg_type WHERE oid = ANY('{20,1082}') AND typname <> ALL ('{a}') AND typelem = ANY('{20}')`,
    `SELECT 1 AS "?column?" FROM "pg_catalog"."pg_type" AS "pg_type" WHERE (list_contains(CAST(['20', '1082'] AS BIGINT[]), "pg_type"."oid") AND (NOT list_contains(CAST(['a'] AS VARCHAR[]), "pg_type"."typname")) AND list_contains(CAST(['20'] AS BIGINT[]), "pg_type"."typelem"))`,
  ],
  // pgAdmin's list of sessions.
  [
    `SELECT pg_catalog.to_char(query_start, 'YYYY-MM-DD HH24:MI:SS TZ'), extract(epoch FROM now() - query_start), pg_blocking_pids(pid) FROM pg_stat_activity`,
    `SELECT strftime("pg_stat_activity"."query_start", '%Y-%m-%d %H:%M:%S %Z') AS "to_char", date_part('epoch', (now() - "pg_stat_activity"."query_start")) AS "extract", (CASE WHEN "pg_stat_activity"."pid" IS NOT NULL THEN CAST([] AS INTEGER[]) END) AS "pg_blocking_pids" FROM "pg_catalog"."pg_stat_activity" AS "pg_stat_activity"`,
  ],
  // An alias hides the schema.
  [
    `SELECT pg_catalog.c.relname, x.* FROM pg_class c`,
    `SELECT "pg_catalog"."c"."relname", "x".* FROM "pg_catalog"."pg_class" AS "c"`,
  ],
  // Django asks for keys and their order at once.
  [
    `SELECT k FROM pg_index i, unnest(i.indkey, i.indoption) WITH ORDINALITY koi(k, o, n)`,
    `SELECT "koi"."k" FROM "pg_catalog"."pg_index" AS "i", LATERAL (SELECT unnest("i"."indkey") AS "k", unnest("i"."indoption") AS "o", unnest(range(1, greatest(len("i"."indkey"), len("i"."indoption")) + 1)) AS "n") AS "koi"`,
  ],
  [
    `SELECT 1 FROM pg_namespace WHERE nspname NOT LIKE 'pg/_%' ESCAPE '/'`,
    `SELECT 1 AS "?column?" FROM "pg_catalog"."pg_namespace" AS "pg_namespace" WHERE ("pg_namespace"."nspname" NOT LIKE 'pg/_%' ESCAPE '/')`,
  ],
  // pgAdmin sets how bytes are printed so.
  [
    `SELECT name FROM pg_show_all_settings() WHERE name = 'bytea_output'`,
    `SELECT "pg_show_all_settings"."name" FROM pg_catalog."pg_settings" AS "pg_show_all_settings" WHERE ("pg_show_all_settings"."name" = 'bytea_output')`,
  ],
  [
    `SELECT substring(array_to_string(reloptions, ',') FROM 'fillfactor=([0-9]*)') FROM pg_class`,
    `SELECT (CASE WHEN regexp_matches(array_to_string(CAST("pg_class"."reloptions" AS VARCHAR[]), ','), 'fillfactor=([0-9]*)') THEN regexp_extract(array_to_string(CAST("pg_class"."reloptions" AS VARCHAR[]), ','), 'fillfactor=([0-9]*)', 1) END) AS "substring" FROM "pg_catalog"."pg_class" AS "pg_class"`,
  ],
  // No object has a list of rights.
  [
    `SELECT (d).grantee FROM (SELECT aclexplode(c.relacl) AS d FROM pg_class c) a`,
    `SELECT ("a"."d")."grantee" AS "grantee" FROM (SELECT unnest(CAST([] AS STRUCT(grantor BIGINT, grantee BIGINT, privilege_type VARCHAR, is_grantable BOOLEAN)[])) AS "d" FROM "pg_catalog"."pg_class" AS "c") AS "a"`,
  ],
  [`SELECT pg_catalog.upper('a')`, `SELECT upper('a') AS "upper"`],
  // TypeORM reads these by the names of their columns.
  [`SELECT version()`, `SELECT version() AS "version"`],
  [`SELECT * FROM current_schema() s`, `SELECT "s"."s" AS "s" FROM LATERAL (SELECT current_schema() AS "s") AS "s"`],
])('%s', async (sql, expected) => {
  expect((await written(sql)).text).toBe(expected);
});

test('a constant that names no object fails the query; a value that is not known yet is a number or a name', async () => {
  expect((await written(`SELECT 'a.B'::regclass::oid`)).text).toContain(
    `coalesce((SELECT skein_1.oid FROM pg_catalog.pg_class AS skein_1 JOIN pg_catalog.pg_namespace AS skein_2 ON skein_2.oid = skein_1.relnamespace WHERE skein_1.relname = 'b' AND skein_2.nspname = 'a' ORDER BY skein_1.oid LIMIT 1), CAST(error('relation "a.B" does not exist') AS BIGINT))`,
  );
  expect((await written(`SELECT to_regclass('t')`)).text).not.toContain('error(');
  const sql = `SELECT 1 FROM pg_class WHERE oid = NULL::regclass`;
  const at = sql.indexOf('NULL');
  const found = await translatePostgres({ sql, values: [{ from: at, to: at + 4 }], catalog: 'lake' });
  const text = (found?.parts ?? []).map((part) => ('text' in part ? part.text : '$')).join('');
  expect(text).toContain('coalesce(TRY_CAST(CAST($ AS VARCHAR) AS BIGINT), (SELECT min(');
});

test('types of columns are those of Postgres', async () => {
  const { types } = await written(
    `SELECT oid, relname, relkind, oid::regclass, relacl, count(*), 'x', relname::text, CASE WHEN true THEN 'a' END FROM pg_class`,
  );
  expect(types).toEqual(['oid', 'name', 'char', 'regclass', '_aclitem', 'int8', 'text', 'text', 'text']);
});

test.each([
  [`SELECT 1 FROM pg_catalog.pg_nothing`, 'TABLE_NOT_FOUND', 14],
  ['SELECT 1 FROM other.pg_catalog.pg_class', 'NOT_SUPPORTED', 14],
  [`SELECT pg_catalog.pg_nothing(1)`, 'FUNCTION_NOT_FOUND', 7],
  [`SELECT 'ä', 'x'::regnothing`, 'TYPE_NOT_FOUND', 18],
])('%s fails with %s', async (sql, code, position) => {
  await expect(translatePostgres({ sql, values: [], catalog: 'lake' })).rejects.toMatchObject({ code, position });
});

test.each(['SELECT 1; SELECT 2', 'FROM pg_class SELECT 1', 'INSERT INTO t VALUES (1)', 'SELECT * FROM a FOR UPDATE'])(
  '%s stays as it is',
  async (sql) => {
    expect(await translatePostgres({ sql, values: [], catalog: 'lake' })).toBeNull();
  },
);

test('a text that is nested deeply is refused, and the next one is read', async () => {
  const deep = `SELECT ${'('.repeat(60_000)}1${')'.repeat(60_000)} FROM pg_class`;
  await translatePostgres({ sql: deep, values: [], catalog: 'lake' }).catch((error: unknown) =>
    expect(error).toMatchObject({ code: 'STATEMENT_TOO_COMPLEX' }),
  );
  expect((await written('SELECT 1')).text).toBe('SELECT 1 AS "?column?"');
});
