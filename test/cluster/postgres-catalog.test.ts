import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import pg from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { must } from '#shared/must.ts';
import { ADMIN_PASSWORD, type Cluster } from '#test/support/cluster.ts';
import { fieldsOf, PostgresWire, type ServerMessage } from '#test/support/postgres-wire.ts';
import { sharedCluster } from '#test/support/resources.ts';

/** The catalog of Postgres, as tools ask for it. */
let cluster: Cluster;
let url: URL;
let client: pg.Client;
const SCHEMA = `pgcat${process.pid}`;

beforeAll(async () => {
  ({ cluster } = await sharedCluster());
  url = new URL(must(cluster.ready.postgres_url, 'it serves the Postgres wire'));
  url.username = cluster.ready.user;
  url.password = ADMIN_PASSWORD;
  client = new pg.Client({ connectionString: url.href });
  await client.connect();
  await client.query(`CREATE SCHEMA lake.${SCHEMA}; USE lake.${SCHEMA}`);
  await client.query(
    `CREATE TABLE customers (id BIGINT NOT NULL, name VARCHAR COMMENT 'the name', price DECIMAL(10, 2), tags VARCHAR[], PRIMARY KEY (id)) COMMENT 'people'`,
  );
  await client.query('CREATE VIEW v AS SELECT id FROM customers');
});
afterAll(async () => {
  await client.query(`DROP VIEW IF EXISTS v; DROP TABLE IF EXISTS customers; DROP TABLE IF EXISTS clients`);
  await client.end();
});

/** Without names of columns; `\\d` then says nothing of indexes, so it has them. */
async function psql(command: string, ...options: readonly string[]): Promise<string> {
  const args = ['-X', '-q', '-A', ...options, url.href, '-c', `USE lake.${SCHEMA}`, '-c', command];
  return (await promisify(execFile)('psql', args)).stdout;
}

const rows = async (text: string): Promise<readonly unknown[]> => (await client.query({ text, rowMode: 'array' })).rows;

test('psql lists and describes tables and views', async () => {
  expect(await psql('\\dt', '-t')).toBe(`${SCHEMA}|customers|table|admin\n`);
  const table = await psql('\\d+ customers');
  expect(table).toContain('id|bigint||not null||plain|||\n');
  expect(table).toContain('name|text||||extended|||the name');
  expect(table).toContain('price|numeric(10,2)|');
  expect(table).toContain('"customers_pkey" PRIMARY KEY, btree (id)');
  expect(await psql('\\d v')).toContain('id|bigint');
  expect(await psql('\\dn')).toContain(`${SCHEMA}|admin`);
});

test('a number stays while the table lives, and names it in another statement', async () => {
  const byName = `SELECT c.oid FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace WHERE n.nspname = '${SCHEMA}' AND c.relname = '@'`;
  const [[oid]] = (await rows(byName.replace('@', 'customers'))) as [[number]];
  expect(oid).toBeGreaterThanOrEqual(16_384);
  expect(
    await rows(`SELECT attname FROM pg_catalog.pg_attribute WHERE attrelid = '${oid}' AND attnum > 0 ORDER BY attnum`),
  ).toEqual([['id'], ['name'], ['price'], ['tags']]);
  expect(await rows(`SELECT ${oid}::regclass, 'customers'::regclass::oid`)).toEqual([['customers', oid]]);
  await client.query('ALTER TABLE customers RENAME TO clients');
  expect(await rows(byName.replace('@', 'clients'))).toEqual([[oid]]);
  await client.query('ALTER TABLE clients RENAME TO customers');
});

test('columns of the catalog have the types of Postgres', async () => {
  const { fields } = await client.query(
    'SELECT oid, relname, relkind, relnamespace::regnamespace FROM pg_class LIMIT 0',
  );
  expect(fields.map(({ dataTypeID }) => dataTypeID)).toEqual([26, 19, 18, 4089]);
});

test.each([
  ['SELECT 1 FROM pg_catalog.pg_nothing', '42P01', '15'],
  ['SELECT pg_catalog.pg_nothing()', '42883', '8'],
  [`SELECT 1::regnothing FROM pg_class`, '42704', '11'],
  [`SELECT 'missing'::regclass`, '42P01', undefined],
  [`SELECT oid FROM pg_class WHERE oid = 'pg_catalog.missing'::regclass`, '42P01', undefined],
  [`SELECT 1 FROM pg_attribute a WHERE a.attrelid = 'missing'::regclass`, '42P01', undefined],
  [`SELECT 1 FROM pg_index i WHERE i.indrelid = 'missing'::regclass`, '42P01', undefined],
  [`SELECT 'missing'::regtype::oid`, '42704', undefined],
  [`SELECT 'missing'::regnamespace`, '3F000', undefined],
])('%s is %s', async (text, code, position) => {
  const { code: found, position: place } = await client.query(text).then(
    () => ({ code: 'none', position: undefined }),
    (error: unknown) => error as pg.DatabaseError,
  );
  expect(found).toBe(code);
  if (position !== undefined) expect(place).toBe(position);
});

test('a name that may be missing is NULL, and a parameter names an object by its number or its name', async () => {
  expect(await rows(`SELECT to_regclass('missing'), 'int'::regtype`)).toEqual([[null, 'integer']]);
  const byParameter = async (value: string): Promise<unknown> =>
    (await client.query('SELECT count(*)::INTEGER AS n FROM pg_attribute WHERE attrelid = $1::regclass', [value])).rows;
  const [[oid]] = (await rows(`SELECT 'customers'::regclass::oid`)) as [[number]];
  expect(await byParameter('customers')).toEqual([{ n: 4 }]);
  expect(await byParameter(String(oid))).toEqual([{ n: 4 }]);
});

test('names of objects are in quotes where a statement needs them, and are found so again', async () => {
  const names = ['plain_1', 'a.b', 'Up"per', 'select', 'back\\slash', '表'];
  const quoted = (name: string): string => `"${name.replaceAll('"', '""')}"`;
  const shown = names.map((name) => (name === 'plain_1' ? name : quoted(name)));
  const other = `${SCHEMA} Odd`;
  await client.query(`CREATE SCHEMA lake.${quoted(other)}`);
  const schemas = { [SCHEMA]: '', [other]: `${quoted(other)}.` };
  for (const schema of Object.keys(schemas)) {
    for (const name of names) await client.query(`CREATE TABLE ${quoted(schema)}.${quoted(name)} (i INTEGER)`);
  }
  // Without quotes these are the schema and the table of another.
  await client.query(`CREATE TABLE ${quoted(`${SCHEMA}.plain_1`)} (i INTEGER)`);
  try {
    for (const [schema, before] of Object.entries(schemas)) {
      const found = await rows(
        `SELECT c.oid::regclass, c.oid::regclass::text, to_regclass(c.oid::regclass::text)::oid = c.oid FROM pg_class c
          JOIN pg_namespace n ON n.oid = c.relnamespace WHERE n.nspname = '${schema}' AND c.relname IN (${names.map((name) => `'${name}'`).join(', ')})`,
      );
      const expected = shown.map((name) => [`${before}${name}`, `${before}${name}`, true]);
      expect(found).toHaveLength(expected.length);
      expect(found).toEqual(expect.arrayContaining(expected));
    }
    expect(
      await rows(
        `SELECT '${quoted(other)}'::regnamespace, to_regnamespace('${quoted(other)}'), to_regnamespace('${other}'),
          to_regclass('PLAIN_1'), to_regclass('"PLAIN_1"'), to_regclass('${SCHEMA}.plain_1'), to_regclass('"${SCHEMA}.plain_1"')`,
      ),
    ).toEqual([[quoted(other), quoted(other), null, 'plain_1', null, 'plain_1', quoted(`${SCHEMA}.plain_1`)]]);
  } finally {
    for (const schema of Object.keys(schemas)) {
      for (const name of names) await client.query(`DROP TABLE ${quoted(schema)}.${quoted(name)}`);
    }
    await client.query(`DROP TABLE ${quoted(`${SCHEMA}.plain_1`)}; DROP SCHEMA lake.${quoted(other)}`);
  }
});

/** All columns of a result are wanted in binary. */
const BINARY = Buffer.from([0, 0, 0, 0, 0, 1, 0, 1]);

test('vectors are arrays in binary, and the names of objects have no binary form', async () => {
  const own = new pg.Client({ connectionString: url.href });
  await own.connect();
  await own.query(`USE lake.${SCHEMA}`);
  await using wire = PostgresWire.of(own);
  const answer = (sql: string): Promise<readonly ServerMessage[]> =>
    wire.parse('', sql).send('B', '', '', BINARY).execute('').sync().messages();
  const keys = await answer(`SELECT i.indkey FROM pg_index i WHERE i.indrelid = 'customers'::regclass`);
  const [row] = keys.filter(({ type }) => type === 'D');
  // One column of 26 bytes; an array of one dimension without NULL, of int2, one value from 0 on, which has two bytes and is 1.
  expect(row?.body.toString('hex')).toBe('00010000001a0000000100000000000000150000000100000000000000020001');
  const refused = (await answer(`SELECT 'customers'::regclass`)).find(({ type }) => type === 'E');
  expect(fieldsOf(must(refused, 'it is an error').body).get('C')).toBe('0A000');
});

test('other doors read the same relations, with and without their schema', async () => {
  for (const name of ['pg_class', 'pg_catalog.pg_class', 'PG_CATALOG.PG_CLASS']) {
    const answer = await cluster.query(`SELECT count(*) FROM ${name} WHERE relname = 'customers'`);
    expect(Number(answer.body.rows?.[0]?.[0])).toBeGreaterThan(0);
  }
});

test('INFORMATION_SCHEMA has here what it has in Postgres: columns that may be named, keys, and relations without rows', async () => {
  const columns = `FROM information_schema.columns WHERE table_schema = '${SCHEMA}' AND table_name = 'customers' ORDER BY ordinal_position`;
  expect(
    await rows(`SELECT column_name, udt_name, character_octet_length, numeric_precision_radix, is_identity ${columns}`),
  ).toEqual([
    ['id', 'int8', null, 2, 'NO'],
    ['name', 'text', 2 ** 30, null, 'NO'],
    ['price', 'numeric', null, 10, 'NO'],
    ['tags', '_text', null, null, 'NO'],
  ]);
  // TypeORM names them in a cast, whose subquery reads other relations.
  expect(await rows(`SELECT ('"' || "udt_schema" || '"."' || "udt_name" || '"')::"regtype"::text ${columns}`)).toEqual([
    ['bigint'],
    ['text'],
    ['numeric'],
    ['text[]'],
  ]);
  const { fields } = await client.query(`SELECT *, udt_name ${columns}`);
  expect(fields.map(({ name }) => name)).toEqual([...(await starOf('columns')), 'udt_name']);
  expect(await starOf('columns')).not.toContain('udt_name');
  const [constraints, keys] = ['table_constraints', 'key_column_usage'].map(
    (name) => `FROM information_schema.${name} WHERE table_schema = '${SCHEMA}' ORDER BY constraint_name DESC`,
  );
  expect(await rows(`SELECT constraint_name, constraint_type ${constraints}`)).toEqual([
    ['customers_pkey', 'PRIMARY KEY'],
    ['customers_id_not_null', 'CHECK'],
  ]);
  expect(await rows(`SELECT constraint_name, column_name, ordinal_position ${keys}`)).toEqual([
    ['customers_pkey', 'id', 1],
  ]);
  for (const name of ['referential_constraints', 'routines', 'parameters', 'triggers', 'sequences']) {
    expect(await rows(`SELECT * FROM information_schema.${name}`)).toEqual([]);
  }
});

test('a statement with parameters, which is described before it runs, reads INFORMATION_SCHEMA as one without', async () => {
  const text = `SELECT c.udt_name, k.constraint_name FROM information_schema.columns c
    JOIN information_schema.key_column_usage k ON k.table_schema = c.table_schema AND k.table_name = c.table_name
      AND k.column_name = c.column_name WHERE c.table_schema = $1`;
  const answer = await client.query({ text, values: [SCHEMA], rowMode: 'array' });
  expect(answer.rows).toEqual([['int8', 'customers_pkey']]);
});

test('columns are named by schema and relation, and by catalog, in every form of FROM', async () => {
  const [[number]] = (await rows(`SELECT 'customers'::regclass::oid`)) as [[number]];
  for (const from of [
    'pg_class',
    'pg_catalog.pg_class',
    'lake.pg_catalog.pg_class',
    '"pg_catalog"."pg_class"',
    'Pg_Catalog.PG_CLASS',
  ]) {
    for (const column of [
      'relname',
      'pg_class.relname',
      'pg_catalog.pg_class.relname',
      'lake.pg_catalog.pg_class.relname',
      '"pg_catalog".PG_CLASS."relname"',
    ]) {
      const sql = `SELECT ${column} FROM ${from} WHERE pg_catalog.pg_class.oid = ${number} ORDER BY ${column}`;
      expect(await rows(sql), sql).toEqual([['customers']]);
    }
    expect((await rows(`SELECT pg_catalog.pg_class.* FROM ${from} WHERE oid = ${number}`))[0]).toHaveLength(34);
  }
  const placed = `table_schema = '${SCHEMA}' AND table_name = 'customers'`;
  for (const view of ['tables', 'columns', 'table_constraints', 'key_column_usage']) {
    const named = `information_schema.${view}`;
    const plain = await rows(`SELECT table_name FROM ${named} WHERE ${placed}`);
    expect(plain.length).toBeGreaterThan(0);
    for (const from of [named, `lake.${named}`, `"information_schema"."${view}"`]) {
      for (const column of [`${view}.table_name`, `${named}.table_name`, `lake.${named}.table_name`]) {
        expect(await rows(`SELECT ${column} FROM ${from} WHERE ${placed}`), `${column} ${from}`).toEqual(plain);
        // A relation of pg_catalog beside it: the statement is read by Postgres' parser.
        const joined = `SELECT ${column}, pg_catalog.pg_class.oid FROM ${from} JOIN pg_catalog.pg_class ON pg_catalog.pg_class.relname = ${column}
          JOIN pg_namespace ON pg_catalog.pg_namespace.oid = pg_catalog.pg_class.relnamespace AND pg_namespace.nspname = ${named}.table_schema WHERE ${placed}`;
        expect(await rows(joined), joined).toEqual(plain.map(() => ['customers', number]));
      }
    }
  }
  // Stars behind a schema, also of a table of the caller's.
  const star = `SELECT information_schema.tables.* FROM information_schema.tables WHERE ${placed}`;
  expect(await rows(star)).toEqual(await rows(star.replace('information_schema.tables.*', '*')));
  expect(await rows(`SELECT ${SCHEMA}.customers.* FROM ${SCHEMA}.customers JOIN v ON true`)).toEqual([]);
  const fields = (await client.query(`SELECT ${SCHEMA}.customers.* FROM ${SCHEMA}.customers JOIN v ON true`)).fields;
  expect(fields.map(({ name }) => name)).toEqual(['id', 'name', 'price', 'tags']);
  // A join with a name.
  const joined = `SELECT j.relname, j.nspname FROM (pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace) AS j WHERE j.relname = 'customers' AND nspname = '${SCHEMA}'`;
  expect(await rows(joined)).toEqual([['customers', SCHEMA]]);
  // jOOQ joins relations of INFORMATION_SCHEMA under their own names.
  const keys = `SELECT information_schema.table_constraints.constraint_type, information_schema.key_column_usage.column_name, information_schema.columns.udt_name
    FROM information_schema.table_constraints JOIN information_schema.key_column_usage
      ON information_schema.table_constraints.constraint_name = information_schema.key_column_usage.constraint_name
        AND information_schema.table_constraints.table_schema = information_schema.key_column_usage.table_schema
      JOIN information_schema.columns ON (information_schema.columns.table_schema, information_schema.columns.table_name, information_schema.columns.column_name)
        = (information_schema.key_column_usage.table_schema, information_schema.key_column_usage.table_name, information_schema.key_column_usage.column_name)
    WHERE information_schema.table_constraints.table_schema = '${SCHEMA}'`;
  expect(await rows(keys)).toEqual([['PRIMARY KEY', 'id', 'int8']]);
});

test.each([
  ['SELECT pg_catalog.c.relname FROM pg_class c', '42P01'],
  ['SELECT pg_catalog.pg_class.relname FROM pg_class c', '42P01'],
  ['SELECT information_schema.c.table_name FROM information_schema.tables c', '42P01'],
  ['SELECT information_schema.routines.routine_name FROM information_schema.routines r', '42P01'],
  ['SELECT pg_catalog.pg_class.nothing FROM pg_class', '42703'],
  ['SELECT information_schema.routines.nothing FROM information_schema.routines', '42703'],
  ['SELECT nothing.* FROM pg_class', '42P01'],
  ['SELECT c.relname FROM (pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace) AS j', '42P01'],
  ['SELECT 1 FROM no_such_catalog.pg_catalog.pg_class', '0A000'],
  ['SELECT 1 FROM no_such_catalog.information_schema.routines', '42P01'],
])('%s is %s', async (sql, sqlState) => {
  await expect(client.query(sql)).rejects.toMatchObject({ code: sqlState });
});

const starOf = async (view: string): Promise<readonly string[]> =>
  (await client.query(`SELECT * FROM information_schema.${view} LIMIT 0`)).fields.map(({ name }) => name);

test('other doors have the five views of INFORMATION_SCHEMA and their columns alone', async () => {
  const failed = async (sql: string): Promise<unknown> => (await cluster.query(sql)).body.error;
  expect(await failed('SELECT udt_name FROM information_schema.columns')).toBe('COLUMN_NOT_FOUND');
  const star = `SELECT * FROM information_schema.columns WHERE table_schema = '${SCHEMA}'`;
  const plain = await cluster.query(star);
  expect(plain.body.columns).toEqual(await starOf('columns'));
  // Read by Postgres' parser, the star means the same.
  const own = `${star} AND table_name IN (SELECT relname FROM pg_class WHERE relkind = 'r')`;
  expect((await cluster.query(own)).body.columns).toEqual(plain.body.columns);
  expect((await client.query(own)).fields.map(({ name }) => name)).toEqual(plain.body.columns);
  expect(await failed('SELECT * FROM information_schema.table_constraints')).toBe('TABLE_NOT_FOUND');
});

test('texts of views, indexes and constraints are those of the objects', async () => {
  expect(await rows(`SELECT pg_get_viewdef('v'), pg_get_viewdef('v'::regclass, true)`)).toEqual([
    ['SELECT id FROM customers;', 'SELECT id FROM customers;'],
  ]);
  expect(await rows(`SELECT definition FROM pg_views WHERE schemaname = '${SCHEMA}'`)).toEqual([
    ['SELECT id FROM customers;'],
  ]);
  const ofTable = `conrelid = 'customers'::regclass`;
  expect(
    await rows(
      `SELECT conname, contype, conkey, pg_get_constraintdef(oid) FROM pg_constraint WHERE ${ofTable} ORDER BY 1`,
    ),
  ).toEqual([
    ['customers_id_not_null', 'n', [1], 'NOT NULL id'],
    ['customers_pkey', 'p', [1], 'PRIMARY KEY (id)'],
  ]);
  expect(await rows(`SELECT pg_get_indexdef(indexrelid) FROM pg_index WHERE indrelid = 'customers'::regclass`)).toEqual(
    [[`CREATE UNIQUE INDEX customers_pkey ON ${SCHEMA}.customers USING btree (id)`]],
  );
  expect(
    await rows(`SELECT objsubid, description FROM pg_description WHERE objoid = 'customers'::regclass ORDER BY 1`),
  ).toEqual([
    [0, 'people'],
    [2, 'the name'],
  ]);
});

test('a transaction sees its own tables by name and by number, and nobody else does', async () => {
  const own = new pg.Client({ connectionString: url.href });
  await own.connect();
  try {
    await own.query(`USE lake.${SCHEMA}; BEGIN`);
    const read = async (of: pg.Client, text: string): Promise<readonly unknown[]> =>
      (await of.query({ text, rowMode: 'array' })).rows;
    const [[before]] = (await read(own, `SELECT 'customers'::regclass::oid`)) as [[number]];
    await own.query('CREATE TABLE fresh (a BIGINT NOT NULL, b VARCHAR, PRIMARY KEY (a))');
    await own.query('ALTER TABLE customers ADD COLUMN more INTEGER');
    const byName = `SELECT c.oid, n.nspname FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace WHERE c.relname = '@' AND n.nspname = '${SCHEMA}'`;
    const [[oid, schema]] = (await read(own, byName.replace('@', 'fresh'))) as [[number, string]];
    expect(schema).toBe(SCHEMA);
    const columns = 'SELECT attname FROM pg_attribute WHERE attrelid = @ ORDER BY attnum';
    expect(await read(own, columns.replace('@', String(oid)))).toEqual([['a'], ['b']]);
    expect(await read(own, `SELECT ${oid}::regclass, 'fresh'::regclass::oid`)).toEqual([['fresh', oid]]);
    expect(await read(own, byName.replace('@', 'customers'))).toEqual([[before, SCHEMA]]);
    expect(await read(own, columns.replace('@', String(before)))).toContainEqual(['more']);
    expect(await read(client, byName.replace('@', 'fresh'))).toEqual([]);
    expect(await read(client, columns.replace('@', String(before)))).not.toContainEqual(['more']);
  } finally {
    await own.query('ROLLBACK');
    await own.end();
  }
});

test('privileges are what the caller may do', async () => {
  const table = `has_table_privilege('customers', 'SELECT'), has_table_privilege('customers', 'INSERT, UPDATE')`;
  const all = `SELECT ${table}, has_table_privilege('v', 'DELETE'), has_schema_privilege('${SCHEMA}', 'CREATE'),
    has_database_privilege(current_database(), 'CREATE'), has_column_privilege('customers', 'name', 'SELECT'),
    has_column_privilege('customers', 'missing', 'SELECT'), has_table_privilege(1::oid, 'SELECT'),
    has_table_privilege('pg_class', 'DELETE'), has_table_privilege('nobody', 'customers'::regclass, 'SELECT')`;
  expect(await rows(all)).toEqual([[true, true, false, true, true, true, null, null, false, false]]);
  const reader = await cluster.token({ scope: ['catalog:read', 'namespace:read', 'table:read'] });
  const own = new URL(url);
  own.password = reader;
  const limited = new pg.Client({ connectionString: own.href });
  await limited.connect();
  try {
    await limited.query(`USE lake.${SCHEMA}`);
    const { rows: found } = await limited.query({ text: all, rowMode: 'array' });
    expect(found).toEqual([[true, false, false, false, false, true, null, null, false, false]]);
    // INFORMATION_SCHEMA says the same, table by table and column by column.
    const told = async (of: pg.Client, sql: string): Promise<readonly unknown[]> =>
      (await of.query({ text: sql, rowMode: 'array' })).rows;
    const granted = `SELECT table_name, privilege_type, grantee = current_user, is_grantable FROM information_schema.@
      WHERE table_schema = '${SCHEMA}' ORDER BY 1, 2`;
    const [mine, theirs] = [ofTables(['DELETE', 'INSERT', 'SELECT', 'TRUNCATE', 'UPDATE']), ofTables(['SELECT'])];
    for (const view of ['table_privileges', 'role_table_grants']) {
      expect(await told(client, granted.replace('@', view)), view).toEqual(mine);
      expect(await told(limited, granted.replace('@', view)), view).toEqual(theirs);
    }
    const columns = `SELECT table_name, column_name, privilege_type FROM information_schema.@
      WHERE table_schema = '${SCHEMA}' AND column_name IN ('id', 'tags') ORDER BY 1, 2, 3`;
    for (const view of ['column_privileges', 'role_column_grants']) {
      expect(await told(client, columns.replace('@', view))).toHaveLength(7);
      expect(await told(limited, columns.replace('@', view))).toEqual([
        ['customers', 'id', 'SELECT'],
        ['customers', 'tags', 'SELECT'],
        ['v', 'id', 'SELECT'],
      ]);
    }
    const ofEverybody = `SELECT privilege_type FROM information_schema.table_privileges WHERE grantee = 'PUBLIC' AND table_name = 'pg_class'`;
    expect(await told(limited, ofEverybody)).toEqual([['SELECT']]);
  } finally {
    await limited.end();
  }
  const byParameter = 'SELECT has_table_privilege($1, $2) AS may, pg_get_viewdef($3) AS text';
  const [[number]] = (await rows(`SELECT 'customers'::regclass::oid`)) as [[number]];
  for (const named of ['customers', `${SCHEMA}.customers`, String(number)]) {
    expect((await client.query(byParameter, [named, 'SELECT', 'v'])).rows).toEqual([
      { may: true, text: 'SELECT id FROM customers;' },
    ]);
  }
  const byRow = `SELECT relname, has_table_privilege(oid, 'SELECT'), has_table_privilege(oid, 'TRUNCATE') FROM pg_class
    WHERE relname IN ('customers', 'v') ORDER BY 1`;
  expect(await rows(byRow)).toContainEqual(['v', true, false]);
});

/** Rows of table_privileges: of the table these, of the view SELECT. */
const ofTables = (privileges: readonly string[]): readonly unknown[] => [
  ...privileges.map((privilege) => ['customers', privilege, true, 'NO']),
  ['v', 'SELECT', true, 'NO'],
];

test('comments on schemas are told to those who may list them', async () => {
  const told = `SELECT obj_description(n.oid, 'pg_namespace'), d.description FROM pg_namespace n
    LEFT JOIN pg_description d ON d.objoid = n.oid AND d.classoid = 'pg_namespace'::regclass WHERE n.nspname = '${SCHEMA}'`;
  expect(await rows(told)).toEqual([[null, null]]);
  await client.query(`COMMENT ON SCHEMA ${SCHEMA} IS 'a place'`);
  expect(await rows(told)).toEqual([['a place', 'a place']]);
  const [[number]] = (await rows(`SELECT '${SCHEMA}'::regnamespace::oid`)) as [[number]];
  const plain = `SELECT description FROM pg_description WHERE objoid = ${number}`;
  expect(await rows(plain)).toEqual([['a place']]);
  expect(await rows(`${plain} AND classoid = 2615`)).toEqual([['a place']]);
  expect(await rows(`${plain} AND classoid = 'pg_class'::regclass`)).toEqual([]);
  expect(await rows(`SELECT count(*)::int FROM pg_description WHERE description = 'a place'`)).toEqual([[1]]);
  expect(await psql('\\dn+', '-t')).toContain('a place');
  // The comment on a table stays beside it.
  expect(await rows(`SELECT obj_description('customers'::regclass, 'pg_class')`)).toEqual([['people']]);
  const own = new URL(url);
  own.password = await cluster.token({ scope: ['catalog:read', 'table:read'] });
  const limited = new pg.Client({ connectionString: own.href });
  await limited.connect();
  try {
    expect((await limited.query(`SELECT 1 FROM pg_description WHERE description = 'a place'`)).rows).toEqual([]);
  } finally {
    await limited.end();
  }
  await client.query(`COMMENT ON SCHEMA ${SCHEMA} IS NULL`);
  expect(await rows(told)).toEqual([[null, null]]);
});

test('what a table and a view need, their rules and their rows are told', async () => {
  const [[table, view]] = (await rows(`SELECT 'customers'::regclass::oid, 'v'::regclass::oid`)) as [[number, number]];
  const needs = `SELECT classid::regclass, (objid - ${table})::int, refclassid::regclass, refobjid = ${table}, refobjsubid, deptype FROM pg_depend`;
  expect(await rows(`${needs} WHERE objid BETWEEN ${table} AND ${table} + 7 ORDER BY 2`)).toEqual([
    ['pg_class', 0, 'pg_namespace', false, 0, 'n'],
    ['pg_class', 1, 'pg_constraint', false, 0, 'i'],
    ['pg_constraint', 2, 'pg_class', true, 1, 'a'],
    ['pg_type', 3, 'pg_class', true, 0, 'i'],
  ]);
  // By the number of what is needed, too, which may be a schema's.
  expect(await rows(`SELECT count(*)::int FROM pg_depend WHERE refobjid = '${SCHEMA}'::regnamespace`)).toEqual([[2]]);
  expect(
    await rows(`SELECT count(*)::int FROM pg_depend d JOIN pg_class c ON c.oid = d.objid JOIN pg_namespace n ON n.oid = d.refobjid
      WHERE n.nspname = '${SCHEMA}' AND c.relname IN ('customers', 'v')`),
  ).toEqual([[2]]);
  // pgAdmin finds keys so.
  const keys = `SELECT con.conname FROM pg_class cls JOIN pg_depend dep ON dep.classid = cls.tableoid AND dep.objid = cls.oid AND dep.deptype = 'i'
    JOIN pg_constraint con ON con.tableoid = dep.refclassid AND con.oid = dep.refobjid WHERE cls.relname = 'customers_pkey' AND con.conrelid = ${table}`;
  expect(await rows(keys)).toEqual([['customers_pkey']]);
  expect(await rows(`SELECT rulename, ev_type, is_instead FROM pg_rewrite WHERE ev_class = ${view}`)).toEqual([
    ['_RETURN', '1', true],
  ]);
  expect(await rows(`SELECT pg_get_ruledef(oid) FROM pg_rewrite WHERE ev_class = ${view}`)).toEqual([
    [`CREATE RULE "_RETURN" AS\n    ON SELECT TO ${SCHEMA}.v DO INSTEAD  SELECT id FROM customers;`],
  ]);
  await client.query(`INSERT INTO customers (id) VALUES (1), (2)`);
  expect(await rows(`SELECT relname, n_live_tup::int FROM pg_stat_user_tables WHERE relid = ${table}`)).toEqual([
    ['customers', 2],
  ]);
  await client.query(`DELETE FROM customers`);
});

test('a backslash escapes in patterns, arrays are texts in braces, and functions that have no rows may stand in FROM', async () => {
  const names = `SELECT nspname FROM pg_namespace WHERE nspname`;
  expect(await rows(`${names} LIKE 'pg\\_cat%'`)).toEqual([['pg_catalog']]);
  expect(await rows(`${names} LIKE 'pg\\_' || 'cat%'`)).toEqual([['pg_catalog']]);
  expect(await rows(`${names} NOT LIKE 'pg\\_%' AND nspname LIKE 'information\\_schema'`)).toEqual([
    ['information_schema'],
  ]);
  const kinds = `SELECT count(*)::INTEGER FROM pg_class WHERE relname IN ('customers', 'v') AND relnamespace = '${SCHEMA}'::regnamespace AND relkind`;
  expect(await rows(`${kinds} = ANY ('{r,p}')`)).toEqual([[1]]);
  expect(await rows(`${kinds} <> ALL ('{r,"p"}'::text[])`)).toEqual([[1]]);
  expect(await rows(`${kinds} = ANY (ARRAY['r', 'v'])`)).toEqual([[2]]);
  for (const call of [`pg_partition_ancestors('customers')`, 'aclexplode(NULL) AS a(x)', 'pg_options_to_table(NULL)']) {
    expect(await rows(`SELECT * FROM ${call}`)).toEqual([]);
  }
});

test('long lists and patterns of names are within limits', async () => {
  const names = Array.from({ length: 100_000 }, (_, i) => `n${i}`);
  const codeOf = (text: string): Promise<unknown> =>
    client.query(text).then(
      ({ rows: found }) => found,
      (error: unknown) => (error as pg.DatabaseError).code,
    );
  const list = [...names, 'customers'].map((name) => `'${name}'`).join(', ');
  const found = await codeOf(`SELECT count(*)::INTEGER AS n FROM pg_class WHERE relname IN (${list})`);
  expect(found).toBe('54001');
  const pattern = `^(${[...names, 'customers'].join('|')})$`;
  expect('54001').toBe(
    await codeOf(`SELECT count(*)::INTEGER AS n FROM pg_class WHERE relname OPERATOR(pg_catalog.~) '${pattern}'`),
  );
  expect(
    await rows(
      `SELECT relname FROM pg_class WHERE relname IN ('customers', 'n1') AND relnamespace = '${SCHEMA}'::regnamespace`,
    ),
  ).toEqual([['customers']]);
});

test('statements that ask for what is not there are counted, and logged without their values', async () => {
  const counted = async (): Promise<number> => {
    const text = await (await fetch(`${cluster.queryUrl}/metrics`)).text();
    return Number(/^skein_catalog_statements_unknown_total (\d+)/m.exec(text)?.[1]);
  };
  const before = await counted();
  for (const text of [
    `SELECT 'secret' FROM pg_catalog.pg_nothing`,
    `SELECT pg_catalog.pg_nothing('secret')`,
    `SELECT 'secret'::regnothing FROM pg_class`,
  ]) {
    await expect(client.query(text)).rejects.toThrow('does not exist');
  }
  expect(await counted()).toBeGreaterThanOrEqual(before + 3);
  const unknown = await counted();
  await expect(client.query('SELECT 1 FROM nothing_of_ours')).rejects.toThrow('does not exist');
  expect(await counted()).toBe(unknown);
});
