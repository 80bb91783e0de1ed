import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { Client } from 'pg';
import { startTestPostgres } from '#test/support/postgres.ts';

/**
 * Writes the relations of Postgres' catalog with their columns, and the rows of what is built in, as the real Postgres has them. `npm run
 * pg:builtins` runs it. The files are those that `coordinator/binding/pg-relations.ts` reads.
 */
const FOLDER = join(import.meta.dirname, '../../coordinator/binding');

/** Relations whose rows are taken, and which of them: what a new database has. */
const ROWS: Readonly<Record<string, string>> = {
  pg_type: 'true',
  pg_proc: 'true',
  pg_operator: 'true',
  pg_collation: `collprovider in ('d', 'b') or collname in ('C', 'POSIX')`,
  pg_am: 'true',
  pg_amop: 'true',
  pg_amproc: 'true',
  pg_opclass: 'true',
  pg_opfamily: 'true',
  pg_cast: 'true',
  pg_range: 'true',
  pg_aggregate: 'true',
  pg_language: 'true',
  pg_tablespace: 'true',
  pg_ts_config: `cfgname = 'simple'`,
  pg_ts_dict: `dictname = 'simple'`,
  pg_ts_parser: 'true',
  pg_ts_template: `tmplname = 'simple'`,
  pg_namespace: `nspname in ('pg_catalog', 'information_schema')`,
  pg_class: `relkind in ('r', 'v') and relnamespace in (select oid from pg_namespace where nspname in ('pg_catalog', 'information_schema'))`,
  pg_attribute: `attrelid in (select oid from pg_class where relkind in ('r', 'v')
    and relnamespace in (select oid from pg_namespace where nspname in ('pg_catalog', 'information_schema')))`,
  pg_description: `classoid in ('pg_type'::regclass, 'pg_operator'::regclass, 'pg_namespace'::regclass, 'pg_am'::regclass,
    'pg_collation'::regclass, 'pg_language'::regclass, 'pg_proc'::regclass)`,
};
/** Answers of Postgres' functions about its built-ins, as relations of our own. */
const OWN: Readonly<
  Record<string, { readonly columns: readonly (readonly [string, string])[]; readonly text: string }>
> = {
  pg_get_keywords: {
    columns: [
      ['word', 'text'],
      ['catcode', 'char'],
      ['barelabel', 'bool'],
      ['catdesc', 'text'],
      ['baredesc', 'text'],
    ],
    text: 'select word, catcode::text, barelabel::text, catdesc, baredesc from pg_get_keywords() order by 1',
  },
  ts_token_type: {
    columns: [
      ['tokid', 'int4'],
      ['alias', 'text'],
      ['description', 'text'],
    ],
    text: `select tokid::text, alias, description from ts_token_type('default') order by tokid`,
  },
  skein_types: {
    columns: [
      ['oid', 'oid'],
      ['name', 'text'],
      ['element', 'text'],
    ],
    text: `select t.oid::text, format_type(t.oid, null), coalesce(e.typname, t.typname)::text from pg_type t
      left join pg_type e on e.oid = t.typelem and t.typcategory = 'A' order by t.oid`,
  },
  skein_functions: {
    columns: [
      ['oid', 'oid'],
      ['arguments', 'text'],
      ['result', 'text'],
    ],
    text: `select oid::text, pg_get_function_arguments(oid), pg_get_function_result(oid) from pg_proc order by oid`,
  },
};
/** Types whose text is that of a name, where the number is what joins. */
const NUMBERED = new Set(['regproc', 'regprocedure', 'regtype', 'regclass', 'regoper', 'regnamespace', 'regrole']);

/** Numbers in their order, as Postgres has them: who looks for a type by what it does (ADBC) takes the first that it is told. */
const orderOf = (columns: readonly (readonly [name: string, type: string])[]): string =>
  columns.map(([name, type]) => (/^(?:oid|int[248])$/.test(type) ? `r."${name}"` : `r."${name}"::text`)).join(', ');

type Column = { readonly relation: string; readonly name: string; readonly type: string };

async function make(): Promise<void> {
  await using postgres = await startTestPostgres();
  const client = new Client({ connectionString: postgres.url });
  await client.connect();
  const { rows: columns } = await client.query<Column>(
    `select n.nspname || '.' || c.relname as relation, a.attname as name, t.typname as type
    from pg_class c join pg_namespace n on n.oid = c.relnamespace join pg_attribute a on a.attrelid = c.oid join pg_type t on t.oid = a.atttypid
    where n.nspname in ('pg_catalog', 'information_schema') and c.relkind in ('r', 'v') and a.attnum > 0 and not a.attisdropped
    order by n.nspname, c.relname, a.attnum`,
  );
  const relations: Record<string, { columns: [string, string][]; rows?: (string | null)[][] }> = {};
  for (const { relation, name, type } of columns) {
    (relations[relation] ??= { columns: [] }).columns.push([name, type]);
  }
  for (const [name, condition] of Object.entries(ROWS)) {
    const relation = relations[`pg_catalog.${name}`];
    if (relation === undefined) throw new Error(`no relation ${name}`);
    const list = relation.columns.map(([column, type]) => `"${column}"${NUMBERED.has(type) ? '::oid' : ''}::text`);
    const text = `select ${list.join(', ')} from pg_catalog.${name} as r where ${condition} order by ${orderOf(relation.columns)}`;
    const { rows } = await client.query<(string | null)[]>({ text, rowMode: 'array' });
    relation.rows = rows;
  }
  for (const [name, { columns: named, text }] of Object.entries(OWN)) {
    const { rows } = await client.query<(string | null)[]>({ text, rowMode: 'array' });
    relations[`pg_catalog.${name}`] = { columns: named.map(([column, type]) => [column, type]), rows };
  }
  const { rows: version } = await client.query<{ server_version: string }>('show server_version');
  const numbers = await client.query<{ relname: string; oid: string }>(
    `select relname, oid::text from pg_class where relkind in ('r', 'v') and relnamespace = 'pg_catalog'::regnamespace order by 1`,
  );
  await client.end();
  const oids = Object.fromEntries(numbers.rows.map(({ relname, oid }) => [relname, Number(oid)]));
  const entries = Object.entries(relations);
  // Planners read the columns alone.
  write('pg-columns.json.gz', {
    version: version[0]?.server_version,
    oids,
    columns: Object.fromEntries(entries.map(([name, one]) => [name, one.columns])),
  });
  write(
    'pg-rows.json.gz',
    Object.fromEntries(entries.flatMap(([name, { rows }]) => (rows === undefined ? [] : [[name, rows]]))),
  );
}

function write(name: string, value: unknown): void {
  const text = JSON.stringify(value);
  const gz = gzipSync(text, { level: 9 });
  // The system that it was made on, which is another elsewhere.
  gz[9] = 255;
  writeFileSync(join(FOLDER, name), gz);
  process.stdout.write(`${name}: ${gz.length} bytes, ${text.length} of JSON\n`);
}

await make();
