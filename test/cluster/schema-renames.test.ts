import { randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { StartedCluster } from '#test/support/cluster.ts';
import { startOwnCluster } from '#test/support/resources.ts';
import { patience } from '#test/support/run/slowness.ts';

/** `ALTER SCHEMA ... RENAME TO`: what moves with a schema, what refuses, and what goes on under the old name meanwhile. */
let cluster: StartedCluster;
beforeAll(async () => {
  cluster = await startOwnCluster({ workers: 1, env: { SKEIN_CATALOG_BACKGROUND_INTERVAL: '200ms' } });
});
afterAll(() => cluster?.stop());

type Rows = readonly (readonly unknown[])[];
const sql = (text: string): Promise<Rows> => cluster.sql(text);
async function all(...statements: readonly string[]): Promise<void> {
  for (const text of statements) await sql(text);
}
const codeOf = async (text: string): Promise<string> => {
  const { body } = await cluster.query(text);
  return body.error === undefined ? 'done' : `${body.sql_state} ${body.error}`;
};
const messageOf = async (text: string): Promise<string> => (await cluster.query(text)).body.message ?? '';

describe('a schema', () => {
  test('moves with what it holds: schemas, tables, views, rows of views, stages, policies and dropped tables', async () => {
    await cluster.cliOk(['admin', 'catalog', 'alter', 'lake', '--undrop-window', '1h']);
    await all(
      `CREATE SCHEMA lake.old COMMENT 'kept'`,
      'CREATE SCHEMA lake."old.in"',
      'CREATE TABLE lake.old.t AS SELECT range AS a FROM range(3)',
      'CREATE TABLE lake."old.in".u AS SELECT 7 AS b',
      'CREATE TABLE lake.old.gone AS SELECT 1 AS a',
      'CREATE STAGE lake.old.box',
    );
    const sessionId = randomUUID();
    const inOld = (text: string) => cluster.sql(text, { sessionId });
    await inOld('USE lake.old');
    await inOld('CREATE VIEW v AS SELECT sum(a) AS s FROM t');
    await inOld('CREATE MATERIALIZED VIEW m AS SELECT count(*) AS n FROM t');
    await all(
      'CREATE ROW ACCESS POLICY lake.old.p AS (x BIGINT) RETURNS BOOLEAN -> x > 0',
      'ALTER TABLE lake.old.t ADD ROW ACCESS POLICY lake.old.p ON (a)',
      'DROP TABLE lake.old.gone',
    );
    // The coordinator keeps the whole list, and is told what changes in it.
    const lists = `SELECT table_schema, table_name FROM lake.information_schema.tables ORDER BY ALL`;
    const listed = async (schema: string): Promise<Rows> =>
      (await sql(lists)).filter(([one]) => String(one).startsWith(schema));
    expect(await listed('old')).toEqual([
      ['old', 'm'],
      ['old', 't'],
      ['old', 'v'],
      ['old.in', 'u'],
    ]);
    await sql('ALTER SCHEMA lake.old RENAME TO new');

    expect(await codeOf('SELECT * FROM lake.old.t')).toBe('3F000 SCHEMA_NOT_FOUND');
    expect((await sql('SHOW SCHEMAS FROM lake')).map(([name]) => name)).toEqual(['default', 'new', 'new.in']);
    expect(await listed('old')).toEqual([]);
    expect(await listed('new')).toEqual([
      ['new', 'm'],
      ['new', 't'],
      ['new', 'v'],
      ['new.in', 'u'],
    ]);
    // Row 0 is hidden by the policy, also for its administrator.
    expect(await sql('SELECT a FROM lake.new.t ORDER BY a')).toEqual([[1], [2]]);
    expect(await sql('SELECT s::INT AS s FROM lake.new.v')).toEqual([[3]]);
    expect(await sql('SELECT b FROM lake."new.in".u')).toEqual([[7]]);
    expect(await sql('LIST @lake.new.box')).toEqual([]);
    expect(await codeOf('DROP ROW ACCESS POLICY lake.new.p')).toBe('2BP01 POLICY_IN_USE');
    await all('ALTER TABLE lake.new.t DROP ROW ACCESS POLICY lake.new.p', 'DROP ROW ACCESS POLICY lake.new.p');
    // The rows of the view are as fresh as they were: a refresh has nothing to do.
    expect(await sql('SELECT * FROM lake.new.m')).toEqual([[3]]);
    expect(await sql('REFRESH MATERIALIZED VIEW lake.new.m')).toEqual([[0]]);
    await sql('INSERT INTO lake.new.t VALUES (9)');
    expect(await sql('REFRESH MATERIALIZED VIEW lake.new.m')).toEqual([[1]]);
    expect(await sql('SELECT * FROM lake.new.m')).toEqual([[4]]);
    await sql('UNDROP TABLE lake.new.gone');
    expect(await sql('SELECT a FROM lake.new.gone')).toEqual([[1]]);
    // A session that was in the schema is told.
    expect((await cluster.query('SELECT * FROM t', { sessionId })).body.error).toBe('SCHEMA_NOT_FOUND');
  });

  test('goes below another one and back to the top, and takes another case', async () => {
    await all(
      'CREATE SCHEMA lake.tree',
      'CREATE SCHEMA lake.leaf',
      'CREATE SCHEMA lake."leaf.tip"',
      'CREATE TABLE lake."leaf.tip".t AS SELECT 1 AS a',
      'ALTER SCHEMA lake.leaf RENAME TO lake."tree.leaf"',
    );
    expect(await sql('SELECT a FROM lake."tree.leaf.tip".t')).toEqual([[1]]);
    expect(await codeOf('DROP SCHEMA lake.tree')).toBe('2BP01 SCHEMA_NOT_EMPTY');
    await all(
      'ALTER SCHEMA lake."tree.leaf" RENAME TO "Leaf"',
      'DROP SCHEMA lake.tree',
      'ALTER SCHEMA lake.leaf RENAME TO LEAF',
    );
    expect((await sql("SHOW SCHEMAS FROM lake LIKE 'L%'")).map(([name]) => name)).toEqual(['LEAF', 'LEAF.tip']);
    await all('DROP TABLE lake."leaf.tip".t', 'DROP SCHEMA lake."leaf.tip"', 'DROP SCHEMA lake.leaf');
  });

  test('is refused a name that is taken, reserved, too long, in itself, in another catalog or below none', async () => {
    await all('CREATE SCHEMA lake.one', 'CREATE SCHEMA lake.two', 'CREATE CATALOG other');
    const long = 'x'.repeat(1_100);
    const found = [];
    for (const to of [
      'TWO',
      'information_schema',
      '"one.x"',
      'other.one',
      '"none.x"',
      'one',
      `"${'x'.repeat(1_001)}"`,
      long,
    ]) {
      found.push(await codeOf(`ALTER SCHEMA lake.one RENAME TO ${to}`));
    }
    expect(found).toEqual([
      '42P06 SCHEMA_EXISTS',
      '42939 RESERVED_NAME',
      '22023 INVALID_REQUEST',
      '0A000 NOT_SUPPORTED',
      '3F000 SCHEMA_NOT_FOUND',
      'done',
      '22023 INVALID_REQUEST',
      '42622 NAME_TOO_LONG',
    ]);
    expect(await codeOf('ALTER SCHEMA lake.none RENAME TO x')).toBe('3F000 SCHEMA_NOT_FOUND');
    expect(await codeOf('ALTER SCHEMA IF EXISTS lake.none RENAME TO x')).toBe('done');
    expect(await codeOf('ALTER SCHEMA IF EXISTS none.none RENAME TO x')).toBe('done');
    expect(await codeOf('ALTER SCHEMA lake.one SET x')).toBe('42601 SYNTAX_ERROR');
    await all('DROP SCHEMA lake.one', 'DROP SCHEMA lake.two', 'DROP CATALOG other');
  });

  test('stays when the text of a view names it, in its catalog or another, and says which', async () => {
    await all(
      'CREATE SCHEMA lake.named',
      'CREATE TABLE lake.named.t AS SELECT 1 AS a',
      'CREATE CATALOG beside',
      'CREATE SCHEMA beside.s',
      'CREATE VIEW beside.s.far AS SELECT a FROM lake.Named.t',
      'CREATE VIEW lake.default.near AS SELECT a FROM "named"."t"',
      'CREATE VIEW lake.named.own AS SELECT a FROM named.t',
      "CREATE VIEW lake.default.text AS SELECT 'named.t' AS named",
    );
    expect(await codeOf('ALTER SCHEMA lake.named RENAME TO other')).toBe('2BP01 NAME_IN_USE');
    expect(await messageOf('ALTER SCHEMA lake.named RENAME TO other')).toContain(
      'replace or drop them first: beside.s.far, lake.default.near, lake.named.own',
    );
    await all('DROP VIEW beside.s.far', 'DROP VIEW lake.default.near', 'DROP VIEW lake.named.own');
    await all('ALTER SCHEMA lake.named RENAME TO other', 'DROP TABLE lake.other.t', 'DROP SCHEMA lake.other');
    await all('DROP VIEW lake.default.text', 'DROP SCHEMA beside.s', 'DROP CATALOG beside');
  });

  test('stays while a bound policy reads a table in it by its name', async () => {
    await all(
      'CREATE SCHEMA lake.maps',
      'CREATE TABLE lake.maps.who AS SELECT 1 AS id',
      'CREATE SCHEMA lake.policed',
      'CREATE TABLE lake.policed.t AS SELECT range AS a FROM range(3)',
      'CREATE ROW ACCESS POLICY lake.policed.p AS (x BIGINT) RETURNS BOOLEAN -> x IN (SELECT id FROM lake.maps.who)',
      'ALTER TABLE lake.policed.t ADD ROW ACCESS POLICY lake.policed.p ON (a)',
    );
    expect(await codeOf('ALTER SCHEMA lake.maps RENAME TO charts')).toBe('2BP01 POLICY_IN_USE');
    await sql('ALTER SCHEMA lake.policed RENAME TO guarded');
    expect(await sql('SELECT a FROM lake.guarded.t')).toEqual([[1]]);
    await all(
      'ALTER TABLE lake.guarded.t DROP ROW ACCESS POLICY lake.guarded.p',
      'DROP ROW ACCESS POLICY lake.guarded.p',
    );
    await sql('ALTER SCHEMA lake.maps RENAME TO charts');
    await all(
      'DROP TABLE lake.guarded.t',
      'DROP TABLE lake.charts.who',
      'DROP SCHEMA lake.guarded',
      'DROP SCHEMA lake.charts',
    );
  });
});

test('a new schema and table of the old names share no file with the renamed ones: one is purged, the other keeps its rows', async () => {
  await cluster.cliOk(['admin', 'catalog', 'alter', 'lake', '--undrop-window', '0s']);
  await all('CREATE SCHEMA lake.first', 'CREATE TABLE lake.first.t AS SELECT range AS a FROM range(1000)');
  const foldersOf = async (table: string): Promise<Set<string>> =>
    new Set((await sql(`SELECT file_path FROM ${table}`)).map(([path]) => String(path).replace(/\/data\/.*/, '')));
  await sql('ALTER SCHEMA lake.first RENAME TO second');
  await all('CREATE SCHEMA lake.first', 'CREATE TABLE lake.first.t AS SELECT range AS a FROM range(500)');
  const [old, young] = [await foldersOf('lake.second."t$files"'), await foldersOf('lake.first."t$files"')];
  expect([old.size, young.size, old.isDisjointFrom(young)]).toEqual([1, 1, true]);
  await all('DROP TABLE lake.second.t PURGE');
  const [folder = ''] = old;
  await expect.poll(() => existsSync(new URL(`${folder}/data`)), { timeout: patience(20_000) }).toBe(false);
  await all(
    'INSERT INTO lake.first.t VALUES (7)',
    'ALTER TABLE lake.first.t EXECUTE remove_orphan_files(dry_run => true)',
  );
  expect(await sql('SELECT count(*) AS n FROM lake.first.t')).toEqual([[501]]);
  await all('DROP TABLE lake.first.t PURGE', 'DROP SCHEMA lake.first', 'DROP SCHEMA lake.second');
});

describe('at the moment of a rename', () => {
  test('a statement that reads goes on, one that writes ends without a row, and a transaction too', async () => {
    await all('CREATE SCHEMA lake.busy', 'CREATE TABLE lake.busy.t AS SELECT range AS a FROM range(1000)');
    const sessionId = randomUUID();
    const inSession = (text: string) => cluster.query(text, { sessionId });
    expect((await inSession('BEGIN')).body.error).toBeUndefined();
    expect((await inSession('INSERT INTO lake.busy.t VALUES (-1)')).body.error).toBeUndefined();
    const slow = 'SELECT count(*) AS n FROM lake.busy.t x, lake.busy.t y, range(300) z WHERE x.a + y.a <> z.range';
    const queryId = randomUUID();
    const reading = cluster.query(slow, { queryId });
    const isRunning = async () =>
      (await sql('SHOW QUERIES')).some(([id, state]) => id === queryId && state === 'running');
    await expect.poll(isRunning, { timeout: patience(10_000), interval: 20 }).toBe(true);
    await sql('ALTER SCHEMA lake.busy RENAME TO calm');
    expect((await reading).body.rows).toHaveLength(1);
    // A new table of the old name is another one: nothing of the transaction goes there.
    await all('CREATE SCHEMA lake.busy', 'CREATE TABLE lake.busy.t AS SELECT 5::BIGINT AS a');
    expect((await inSession('COMMIT')).body.sql_state).toMatch(/^(?:40001|42P01)$/);
    expect(await sql('SELECT count(*) AS n FROM lake.calm.t')).toEqual([[1000]]);
    expect(await sql('SELECT a FROM lake.busy.t')).toEqual([[5]]);
    expect((await inSession('BEGIN')).body.error).toBeUndefined();
    expect((await inSession('ALTER SCHEMA lake.busy RENAME TO x')).body.error).toBe('IN_TRANSACTION');
    await inSession('ROLLBACK');
    await all('DROP TABLE lake.busy.t', 'DROP SCHEMA lake.busy', 'DROP TABLE lake.calm.t', 'DROP SCHEMA lake.calm');
  });

  test('a client of the REST catalog that has the old name finds nothing there, neither its table nor keys for it', async () => {
    await all('CREATE SCHEMA lake.client', 'CREATE TABLE lake.client.t AS SELECT 1 AS a');
    const at = (schema: string, more = '') => `/v1/lake/namespaces/${schema}/tables/t${more}`;
    const loaded = (await cluster.catalog('GET', at('client'))).body as { metadata: { 'table-uuid': string } };
    const uuid = loaded.metadata['table-uuid'];
    const commit = (schema: string) =>
      cluster.catalog('POST', at(schema), {
        requirements: [{ type: 'assert-table-uuid', uuid }],
        updates: [{ action: 'set-properties', updates: { mine: 'yes' } }],
      });
    expect((await cluster.catalog('GET', at('client', '/credentials'))).status).toBe(200);
    expect((await cluster.catalog('POST', '/v1/lake/namespaces/client/rename', { destination: ['host'] })).status).toBe(
      204,
    );
    expect((await cluster.catalog('GET', at('client'))).status).toBe(404);
    expect((await cluster.catalog('GET', at('client', '/credentials'))).status).toBe(404);
    expect((await commit('client')).status).toBe(404);
    // One that makes a table of the old names anew does not get the other's commits.
    await all('CREATE SCHEMA lake.client', 'CREATE TABLE lake.client.t AS SELECT 1 AS a');
    expect((await commit('client')).status).toBe(409);
    expect((await commit('host')).status).toBe(200);
    await all('DROP TABLE lake.client.t', 'DROP SCHEMA lake.client', 'DROP TABLE lake.host.t', 'DROP SCHEMA lake.host');
  });

  test('two names at once: it has one of them; and two schemas that want one name, or each other’s', async () => {
    for (let round = 0; round < 5; round += 1) {
      await all('CREATE SCHEMA lake.race', 'CREATE TABLE lake.race.t AS SELECT 1 AS a', 'CREATE SCHEMA lake.rival');
      const red = codeOf('ALTER SCHEMA lake.race RENAME TO red');
      const blue = codeOf('ALTER SCHEMA lake.race RENAME TO blue');
      expect((await Promise.all([red, blue])).toSorted()).toEqual(['3F000 SCHEMA_NOT_FOUND', 'done']);
      const [[name] = []] = await sql(
        "SELECT schema_name FROM (SHOW SCHEMAS FROM lake) WHERE schema_name IN ('red', 'blue')",
      );
      const wanted = [
        codeOf(`ALTER SCHEMA lake.${name as string} RENAME TO won`),
        codeOf('ALTER SCHEMA lake.rival RENAME TO won'),
      ];
      expect((await Promise.all(wanted)).toSorted()).toEqual(['42P06 SCHEMA_EXISTS', 'done']);
      const left = (await sql("SELECT schema_name FROM (SHOW SCHEMAS FROM lake) WHERE schema_name <> 'default'")).map(
        String,
      );
      const home = (await codeOf('SELECT a FROM lake.won.t')) === 'done' ? 'won' : String(name);
      expect(await sql(`SELECT a FROM lake.${home}.t`)).toEqual([[1]]);
      await sql(`DROP TABLE lake.${home}.t`);
      for (const one of left.filter((schema) => /^(?:won|rival|red|blue)$/.test(schema)))
        await sql(`DROP SCHEMA lake.${one}`);
    }
  });

  test('whoever makes something in it has made it there, or is told that the schema is not there', async () => {
    let done = 0;
    for (let round = 0; round < 8; round += 1) {
      await all(
        'CREATE SCHEMA lake.home',
        'CREATE SCHEMA lake."home.room"',
        'CREATE TABLE lake.home.base AS SELECT 1 AS a',
        'CREATE TABLE lake.home.source AS SELECT 1 AS a',
      );
      const sessionId = randomUUID();
      await cluster.sql('USE lake.home', { sessionId });
      const makers = [
        'CREATE TABLE lake.home.t (a INT)',
        'CREATE TABLE lake."home.room".t (a INT)',
        'CREATE VIEW lake.home.v AS SELECT 1 AS a',
        'CREATE STAGE lake.home.s',
        'CREATE SCHEMA lake."home.attic"',
        'CREATE SCHEMA lake."home.room.nook"',
        'ALTER TABLE lake.home.base RENAME TO moved',
        'CREATE MATERIALIZED VIEW lake.home.m AS SELECT 1 AS a',
        // Its document has the schema's name.
        'CREATE VIEW w AS SELECT a FROM source',
        'CREATE VIEW x AS SELECT a FROM source',
      ];
      const made = makers.map(async (text, i) => {
        await sleep(((i * 7 + round * 3) % 8) * 4);
        const { body } = await cluster.query(text, { sessionId });
        return body.error === undefined ? 'done' : `${body.sql_state} ${body.error}`;
      });
      await sleep(round * 5);
      expect(await codeOf('ALTER SCHEMA lake.home RENAME TO house')).toBe('done');
      const answers = await Promise.all(made);
      const has = await Promise.all(
        [
          'SELECT * FROM lake.house.t',
          'SELECT * FROM lake."house.room".t',
          'SELECT * FROM lake.house.v',
          'LIST @lake.house.s',
          'SHOW TABLES FROM lake."house.attic"',
          'SHOW TABLES FROM lake."house.room.nook"',
          'SELECT * FROM lake.house.moved',
          'SELECT * FROM lake.house.m',
          'SELECT * FROM lake.house.w',
          'SELECT * FROM lake.house.x',
        ].map(async (text) => (await codeOf(text)) === 'done'),
      );
      for (const [i, answer] of answers.entries()) {
        expect([makers[i], answer === 'done' ? has[i] : true]).toEqual([makers[i], true]);
        if (answer !== 'done') expect(answer).toMatch(/^(?:3F000|42P01|40001)/);
        if (answer === 'done') done += 1;
      }
      expect((await sql("SHOW SCHEMAS FROM lake LIKE 'home%'")).length).toBe(0);
      const names = (await sql("SHOW SCHEMAS FROM lake LIKE 'house%'")).map(([name]) => String(name));
      const tables = await sql(`SELECT replace(table_type, 'BASE ', ''), table_schema, table_name
        FROM lake.information_schema.tables WHERE table_schema IN (${names.map((name) => `'${name}'`).join(', ')})`);
      for (const [kind, schema, table] of tables) {
        await sql(`DROP ${String(kind)} lake."${String(schema)}"."${String(table)}"`);
      }
      await sql('DROP STAGE IF EXISTS lake.house.s');
      for (const schema of names.toReversed()) {
        expect(await codeOf(`DROP SCHEMA lake."${schema}"`)).toBe('done');
      }
    }
    expect(done).toBeGreaterThan(8);
  });
});
