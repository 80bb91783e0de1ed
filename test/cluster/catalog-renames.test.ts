import { randomUUID } from 'node:crypto';
import { beforeAll, describe, expect, test } from 'vitest';
import type { Cluster, QueryRequest } from '#test/support/cluster.ts';
import { sharedCluster } from '#test/support/resources.ts';
import { patience } from '#test/support/run/slowness.ts';

/** `ALTER CATALOG ... RENAME TO`: what moves with a catalog, what refuses, and what its clients are told. */
let cluster: Cluster;
beforeAll(async () => {
  ({ cluster } = await sharedCluster());
});

type Rows = readonly (readonly unknown[])[];
const sql = (text: string, request: QueryRequest = {}): Promise<Rows> => cluster.sql(text, request);
async function all(...statements: readonly string[]): Promise<void> {
  for (const text of statements) await sql(text);
}
/** Drops a catalog once the files of what was dropped in it are gone. */
const dropCatalog = (name: string): Promise<void> =>
  expect.poll(() => refusalOf(`DROP CATALOG ${name}`), { timeout: patience(20_000) }).toBe('done');
const refusalOf = async (text: string, request: QueryRequest = {}): Promise<string> => {
  const { body } = await cluster.query(text, request);
  return body.error === undefined ? 'done' : `${body.sql_state} ${body.error}`;
};

test('a catalog moves with what it holds, and its users start in it as before', async () => {
  await all(
    'CREATE CATALOG cr_old',
    'CREATE SCHEMA cr_old.s',
    'CREATE TABLE cr_old.s.t AS SELECT range AS a FROM range(3)',
    'CREATE STAGE cr_old.s.box',
    'CREATE ROW ACCESS POLICY cr_old.s.p AS (x BIGINT) RETURNS BOOLEAN -> x > 0',
    'ALTER TABLE cr_old.s.t ADD ROW ACCESS POLICY cr_old.s.p ON (a)',
    "CREATE USER cr_user EMAIL 'cr_user@example.org' PASSWORD 'Renames-Horse-9' DEFAULT_WAREHOUSE = 'CR_OLD'",
  );
  const sessionId = randomUUID();
  for (const text of ['USE cr_old.s', 'CREATE VIEW v AS SELECT max(a) AS m FROM t']) await sql(text, { sessionId });
  await all('ALTER TABLE cr_old.s.t DROP ROW ACCESS POLICY cr_old.s.p', 'DROP ROW ACCESS POLICY cr_old.s.p');
  await sql('CREATE MATERIALIZED VIEW m AS SELECT count(*) AS n FROM t', { sessionId });
  expect(await sql('SELECT count(*) AS n FROM cr_old.information_schema.tables WHERE table_schema = $$s$$')).toEqual([
    [3],
  ]);
  const loaded = (await cluster.catalog('GET', '/v1/cr_old/namespaces/s/tables/t')).body as {
    metadata: { location: string };
  };

  await sql('ALTER CATALOG CR_OLD RENAME TO cr_new');
  expect(await refusalOf('SELECT a FROM cr_old.s.t')).toBe('3D000 CATALOG_NOT_FOUND');
  expect(await refusalOf('SELECT a FROM t', { sessionId })).toBe('3D000 CATALOG_NOT_FOUND');
  expect((await sql("SHOW CATALOGS LIKE 'cr_%'")).map(([name]) => name)).toEqual(['cr_new']);
  expect(await sql('SELECT a FROM cr_new.s.t ORDER BY a')).toEqual([[0], [1], [2]]);
  expect(await sql('SELECT m FROM cr_new.s.v')).toEqual([[2]]);
  expect(await sql('REFRESH MATERIALIZED VIEW cr_new.s.m')).toEqual([[0]]);
  expect(await sql('SELECT n::INT AS n FROM cr_new.s.m')).toEqual([[3]]);
  expect(await sql('LIST @cr_new.s.box')).toEqual([]);
  expect(await sql('SELECT count(*) AS n FROM cr_new.information_schema.tables WHERE table_schema = $$s$$')).toEqual([
    [3],
  ]);
  const token = await cluster.token({ user: 'cr_user' });
  expect(await sql('SELECT current_catalog() AS c', { token })).toEqual([['cr_new']]);

  // Clients of the REST catalog name it in their settings.
  const statusOf = async (path: string) => (await cluster.catalog('GET', path)).status;
  expect(await statusOf('/v1/config?warehouse=cr_old')).toBe(404);
  expect(await statusOf('/v1/config?warehouse=cr_new')).toBe(200);
  expect(await statusOf('/v1/cr_old/namespaces/s/tables/t/credentials')).toBe(404);
  expect(await statusOf('/v1/cr_new/namespaces/s/tables/t/credentials')).toBe(200);
  // A new one of the old name has a folder of its own.
  await all('CREATE CATALOG cr_old', 'CREATE SCHEMA cr_old.s', 'CREATE TABLE cr_old.s.t AS SELECT 5 AS a');
  const young = (await cluster.catalog('GET', '/v1/cr_old/namespaces/s/tables/t')).body as {
    metadata: { location: string };
  };
  const rootOf = ({ metadata }: { metadata: { location: string } }): string => metadata.location.split('/s/')[0] ?? '';
  expect(rootOf(young)).not.toBe(rootOf(loaded));
  await all('DROP TABLE cr_old.s.t', 'DROP SCHEMA cr_old.s');
  await dropCatalog('cr_old');
  expect(await sql('SELECT count(*)::INT AS n FROM cr_new.s.t')).toEqual([[3]]);
  await all(
    'DROP MATERIALIZED VIEW cr_new.s.m',
    'DROP VIEW cr_new.s.v',
    'DROP STAGE cr_new.s.box',
    'DROP TABLE cr_new.s.t',
  );
  await all('DROP SCHEMA cr_new.s', 'DROP USER cr_user');
  await dropCatalog('cr_new');
});

describe('a catalog is refused', () => {
  test('a name that another has, here or in another tenant, that is reserved or no name', async () => {
    await all('CREATE CATALOG cr_one', 'CREATE CATALOG cr_two');
    await cluster.cliOk(['admin', 'tenant', 'create', 'cr_tenant', '--user', 'eve']);
    await cluster.cliOk(['admin', 'catalog', 'create', 'cr_foreign', '--tenant', 'cr_tenant']);
    const found = [];
    for (const to of ['CR_TWO', 'cr_foreign', 'transactions', '"a b"', 'cr_one']) {
      found.push(await refusalOf(`ALTER CATALOG cr_one RENAME TO ${to}`));
    }
    expect(found).toEqual([
      '42710 ALREADY_EXISTS',
      '42710 ALREADY_EXISTS',
      '22023 INVALID_REQUEST',
      '22023 INVALID_REQUEST',
      'done',
    ]);
    expect(await refusalOf('ALTER CATALOG cr_foreign RENAME TO mine')).toBe('3D000 CATALOG_NOT_FOUND');
    expect(await refusalOf('ALTER CATALOG IF EXISTS cr_none RENAME TO mine')).toBe('done');
    await sql('ALTER CATALOG cr_one RENAME TO "CR_One"');
    expect((await sql("SHOW CATALOGS LIKE 'CR_%'")).map(([name]) => name)).toEqual(['CR_One']);
    await all('DROP CATALOG cr_one', 'DROP CATALOG cr_two');
  });

  test('while the text of a view or the body of a bound policy names it', async () => {
    await all(
      'CREATE CATALOG cr_named',
      'CREATE SCHEMA cr_named.s',
      'CREATE TABLE cr_named.s.t AS SELECT 1::BIGINT AS id',
      'CREATE CATALOG cr_beside',
      'CREATE SCHEMA cr_beside.s',
      'CREATE VIEW cr_beside.s.v AS SELECT id FROM cr_named.s.t',
      'CREATE TABLE cr_beside.s.t AS SELECT 1::BIGINT AS a',
      'CREATE ROW ACCESS POLICY cr_beside.s.p AS (x BIGINT) RETURNS BOOLEAN -> x IN (SELECT id FROM cr_named.s.t)',
      'ALTER TABLE cr_beside.s.t ADD ROW ACCESS POLICY cr_beside.s.p ON (a)',
    );
    expect(await refusalOf('ALTER CATALOG cr_named RENAME TO cr_other')).toBe('2BP01 POLICY_IN_USE');
    await all('ALTER TABLE cr_beside.s.t DROP ROW ACCESS POLICY cr_beside.s.p', 'DROP ROW ACCESS POLICY cr_beside.s.p');
    expect(await refusalOf('ALTER CATALOG cr_named RENAME TO cr_other')).toBe('2BP01 NAME_IN_USE');
    await sql('DROP VIEW cr_beside.s.v');
    await sql('ALTER CATALOG cr_named RENAME TO cr_other');
    await all('DROP TABLE cr_other.s.t', 'DROP SCHEMA cr_other.s');
    await dropCatalog('cr_other');
    await all('DROP TABLE cr_beside.s.t', 'DROP SCHEMA cr_beside.s');
    await dropCatalog('cr_beside');
  });
});

test('of two names at once it gets one; what is made in it meanwhile is there, or its maker is told', async () => {
  for (let round = 0; round < 4; round += 1) {
    await all('CREATE CATALOG cr_race', 'CREATE SCHEMA cr_race.s', 'CREATE TABLE cr_race.s.t AS SELECT 1 AS a');
    const sessionId = randomUUID();
    await sql('USE cr_race.s', { sessionId });
    const made = [
      refusalOf('CREATE TABLE cr_race.s.u AS SELECT 1 AS a'),
      refusalOf('CREATE VIEW v AS SELECT a FROM t', { sessionId }),
    ];
    const renamed = ['cr_red', 'cr_blue'].map((to) => refusalOf(`ALTER CATALOG cr_race RENAME TO ${to}`));
    expect((await Promise.all(renamed)).toSorted()).toEqual(['3D000 CATALOG_NOT_FOUND', 'done']);
    const name = (await renamed[0]) === 'done' ? 'cr_red' : 'cr_blue';
    const [table, view] = await Promise.all(made);
    if (table === 'done') expect(await sql(`SELECT a FROM ${name}.s.u`)).toEqual([[1]]);
    else expect(table).toMatch(/^(?:3D000|3F000|42P01|40001)/);
    if (view === 'done') expect(await sql(`SELECT a FROM ${name}.s.v`)).toEqual([[1]]);
    else expect(view).toMatch(/^(?:3D000|3F000|42P01|40001)/);
    await all(`DROP VIEW IF EXISTS ${name}.s.v`, `DROP TABLE IF EXISTS ${name}.s.u`, `DROP TABLE ${name}.s.t`);
    await all(`DROP SCHEMA ${name}.s`);
    await dropCatalog(name);
  }
});
