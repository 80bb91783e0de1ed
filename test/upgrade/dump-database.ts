import type { Client } from 'pg';

/**
 * Dumps a Postgres as one SQL text, without `pg_dump`, which no npm package has. The DDL is not derived from the catalogs of Postgres: an
 * event trigger records every DDL statement, so the text holds the original statements of the migrations.
 */
const RECORDER = [
  'create schema upgrade_fixture',
  'create table upgrade_fixture.statement (id bigint generated always as identity primary key, text text not null)',
  `create function upgrade_fixture.record() returns event_trigger language plpgsql as $$
  begin
    insert into upgrade_fixture.statement (text) values (current_query());
  end $$`,
  'create event trigger upgrade_fixture on ddl_command_end execute function upgrade_fixture.record()',
];

/** Schemas that are not part of the dump. */
const OTHER_SCHEMAS = `nspname like 'pg\\_%' or nspname in ('information_schema', 'upgrade_fixture')`;

/** One statement for each table, which prints an INSERT for each of its rows. Values are literals of their text, which loses nothing. */
const TABLES = `
  select format(
    'select format(%L, %s) as line from %I.%I order by ctid',
    format('insert into %I.%I (%s) overriding system value values (%s);', nspname, relname,
      string_agg(quote_ident(attname), ', ' order by attnum), string_agg('%s', ', ')),
    string_agg(format('quote_nullable(%I::text)', attname), ', ' order by attnum),
    nspname, relname) as line
  from pg_class c join pg_namespace n on n.oid = relnamespace join pg_attribute a on attrelid = c.oid
  where relkind = 'r' and attnum > 0 and not attisdropped and attgenerated = '' and not (${OTHER_SCHEMAS})
  group by nspname, relname order by nspname, relname`;

const SEQUENCES = `
  select format('select setval(%L, %s);', format('%I.%I', schemaname, sequencename), last_value) as line
  from (select *, schemaname as nspname from pg_sequences) s
  where last_value is not null and not (${OTHER_SCHEMAS}) order by schemaname, sequencename`;

/** Starts the recording; call it on the empty database, before the first migration. */
export async function recordStatements(client: Client): Promise<void> {
  for (const statement of RECORDER) await client.query(statement);
}

/** The statements that have been recorded, all rows, and the values of all sequences. */
export async function dumpDatabase(client: Client): Promise<string> {
  const lines = async (sql: string): Promise<readonly string[]> =>
    (await client.query<{ line: string }>(sql)).rows.map(({ line }) => line);
  await client.query("set timezone = 'UTC'");
  const rows: string[] = [];
  for (const select of await lines(TABLES)) rows.push(...(await lines(select)));
  return [
    '-- A database as dump-database.ts prints it: the statements that made it, its rows, its sequences.',
    ...(await lines(`select text || ';' as line from upgrade_fixture.statement order by id`)),
    '-- Without triggers and foreign keys, the rows may come in any order.',
    'set session_replication_role = replica;',
    ...rows,
    'reset session_replication_role;',
    ...(await lines(SEQUENCES)),
    '',
  ].join('\n');
}
