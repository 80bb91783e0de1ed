import { randomUUID } from 'node:crypto';
import { DuckDBInstance } from '@duckdb/node-api';
import { beforeAll, describe, expect, test } from 'vitest';
import { encodeMessage } from '#coordinator/api/flight-sql/flight-messages.ts';
import type { Json } from '#shared/json.ts';
import { must } from '#shared/must.ts';
import type { Cluster } from '#test/support/cluster.ts';
import { FlightClient, valuesOf } from '#test/support/flight-client.ts';
import { sharedCluster } from '#test/support/resources.ts';
import { machineSlowness } from '#test/support/run/machine-speed.ts';

/** The views of INFORMATION_SCHEMA over two catalogs, as clients read them. */

let cluster: Cluster;
const SCHEMA = 'info_views';
const OTHER = 'info_away';

beforeAll(async () => {
  ({ cluster } = await sharedCluster());
  await cluster.cliOk(['admin', 'catalog', 'create', OTHER, '--tenant', 'default']);
  await cluster.sql(`CREATE SCHEMA lake.${SCHEMA}`);
  await cluster.sql(`CREATE SCHEMA ${OTHER}.away`);
  await cluster.sql(`CREATE TABLE lake.${SCHEMA}.t (
    id BIGINT NOT NULL COMMENT 'the key', part INT NOT NULL, price DECIMAL(10, 2) DEFAULT 1.5, tags ARRAY<VARCHAR>, PRIMARY KEY (id, part)
  ) COMMENT 'a table' WITH ('format-version' = 3, owner = 'ann', created_at = '2020-01-01T00:00:00Z')`);
  await cluster.sql(`INSERT INTO lake.${SCHEMA}.t VALUES (1, 1, 2.5, ['a']), (2, 1, 3.5, NULL)`);
  await cluster.sql(`CREATE VIEW lake.${SCHEMA}.v AS SELECT id, price FROM lake.${SCHEMA}.t`);
  await cluster.sql(
    `CREATE MATERIALIZED VIEW lake.${SCHEMA}.m AS SELECT part, count(*) AS n FROM lake.${SCHEMA}.t GROUP BY part`,
  );
  await cluster.sql(`CREATE TABLE ${OTHER}.away.far (a INT)`);
});

const rows = (sql: string, sessionId?: string): Promise<readonly (readonly Json[])[]> =>
  cluster.sql(sql, sessionId === undefined ? {} : { sessionId });
const here = `table_schema = '${SCHEMA}'`;

describe('the views', () => {
  test('tables: kinds, owner, time, comment, rows and bytes; no storage table of a materialized view', async () => {
    const columns = 'table_catalog, table_schema, table_name, table_type, row_count, comment, rls_enabled';
    expect(await rows(`SELECT ${columns} FROM lake.information_schema.tables WHERE ${here} ORDER BY 3`)).toEqual([
      ['lake', SCHEMA, 'm', 'MATERIALIZED VIEW', 1, null, false],
      ['lake', SCHEMA, 't', 'BASE TABLE', 2, 'a table', false],
      ['lake', SCHEMA, 'v', 'VIEW', null, null, false],
    ]);
    const [found] = await rows(
      `SELECT table_owner, created, bytes > 100 FROM lake.information_schema.tables WHERE ${here} AND table_name = 't'`,
    );
    expect(found).toEqual(['ann', '2020-01-01T00:00:00Z', true]);
    // A view belongs to who has made it, too.
    const owners = `SELECT table_name, table_owner FROM lake.information_schema.tables WHERE ${here} AND table_name <> 't'`;
    expect(await rows(`${owners} ORDER BY 1`)).toEqual([
      ['m', 'admin'],
      ['v', 'admin'],
    ]);
  });

  test('columns: as DESCRIBE has them, with the parts of the key', async () => {
    expect(
      await rows(`SELECT * EXCLUDE (table_catalog, table_schema, table_name) FROM information_schema.columns
        WHERE ${here} AND table_name = 't' ORDER BY ordinal_position`),
    ).toEqual([
      ['id', 1, 'BIGINT', 'NO', null, null, null, 'the key', true],
      ['part', 2, 'INT', 'NO', null, null, null, null, true],
      ['price', 3, 'DECIMAL(10, 2)', 'YES', '1.50', 10, 2, null, false],
      ['tags', 4, 'ARRAY<VARCHAR>', 'YES', null, null, null, null, false],
    ]);
    expect(
      await rows(`SELECT DISTINCT table_catalog, table_schema, table_name FROM information_schema.columns
        WHERE ${here} ORDER BY ALL`),
    ).toEqual(['m', 't', 'v'].map((name) => ['lake', SCHEMA, name]));
    const described = await rows(`DESCRIBE lake.${SCHEMA}.t`);
    const columns = 'column_name, data_type, is_nullable, column_default';
    expect(
      await rows(
        `SELECT ${columns} FROM information_schema.columns WHERE ${here} AND table_name = 't' ORDER BY ordinal_position`,
      ),
    ).toEqual(described);
    const ofViews = `SELECT table_name, column_name, data_type FROM information_schema.columns WHERE ${here} AND table_name IN ('v', 'm')`;
    expect(await rows(`${ofViews} ORDER BY 1, ordinal_position`)).toEqual([
      ['m', 'part', 'INT'],
      ['m', 'n', 'BIGINT'],
      ['v', 'id', 'BIGINT'],
      ['v', 'price', 'DECIMAL(10, 2)'],
    ]);
  });

  test('schemata, views and policy_references', async () => {
    expect(await rows(`SELECT * FROM information_schema.schemata WHERE schema_name = '${SCHEMA}'`)).toEqual([
      ['lake', SCHEMA, cluster.ready.user, 'UTF8'],
    ]);
    expect(await rows(`SELECT * FROM information_schema.views WHERE ${here}`)).toEqual([
      ['lake', SCHEMA, 'v', null, 'NO'],
    ]);
    expect(await rows('SELECT * FROM information_schema.policy_references')).toEqual([]);
  });

  test.each(['tables', 'columns', 'schemata', 'views', 'policy_references'])(
    '%s has these columns and types',
    async (view) => {
      const { body } = await cluster.query(`SELECT * FROM information_schema.${view} LIMIT 0`);
      const { columns, types } = body as { columns: readonly string[]; types: readonly string[] };
      expect(columns.map((name, i) => `${name} ${types[i]}`)).toMatchSnapshot();
    },
  );
});

describe('scope', () => {
  const names = `SELECT table_name FROM`;

  test('a name of three parts reads that catalog alone', async () => {
    expect(await rows(`${names} ${OTHER}.INFORMATION_SCHEMA."tables"`)).toEqual([['far']]);
    expect(await rows(`${names} ${OTHER}.information_schema.tables WHERE table_catalog = 'lake'`)).toEqual([]);
    await expect(rows(`${names} nowhere.information_schema.tables`)).rejects.toThrow(/3D000/);
    await expect(rows(`${names} information_schema.routines`)).rejects.toThrow(/42P01/);
  });

  test('USE CATALOG scopes, and a filter for another catalog gives no rows', async () => {
    const session = randomUUID();
    await rows(`USE CATALOG ${OTHER}`, session);
    expect(await rows(`${names} information_schema.tables`, session)).toEqual([['far']]);
    expect(await rows(`${names} information_schema.tables WHERE table_catalog = 'lake'`, session)).toEqual([]);
  });

  test('a catalog that SetSessionOptions has set scopes, too', async () => {
    const url = must(cluster.ready.flight_sql_url, 'it serves Flight SQL');
    using client = new FlightClient(url, `Bearer ${await cluster.token()}`);
    client.metadata.set('cookie', `skein-session=${randomUUID()}`);
    const options = { session_options: { catalog: { string_value: OTHER } } };
    await client.action('SetSessionOptions', encodeMessage('SetSessionOptionsRequest', options));
    expect(valuesOf(await client.query(`${names} information_schema.tables`))).toEqual([['far']]);
    const elsewhere = `${names} information_schema.tables WHERE table_catalog = 'lake'`;
    expect(valuesOf(await client.query(elsewhere))).toEqual([]);
  });

  test('a filter picks the catalogs', async () => {
    expect(await rows(`${names} information_schema.tables WHERE '${OTHER}' = table_catalog`)).toEqual([['far']]);
    expect(await rows(`${names} information_schema.tables WHERE table_catalog = 'nowhere'`)).toEqual([]);
    const both = `SELECT DISTINCT table_catalog FROM information_schema.tables WHERE table_catalog IN ('lake', '${OTHER}') ORDER BY 1`;
    expect(await rows(both)).toEqual([[OTHER], ['lake']]);
    expect(
      await rows(`SELECT c.column_name FROM information_schema.tables t
        JOIN information_schema.columns c ON c.table_catalog = t.table_catalog AND c.table_name = t.table_name AND t.table_catalog = '${OTHER}'`),
    ).toEqual([['a']]);
    expect(
      await rows(
        `SELECT schema_name FROM information_schema.schemata WHERE catalog_name = '${OTHER}' AND schema_name = 'away'`,
      ),
    ).toEqual([['away']]);
    // Another value in the same place is another catalog.
    expect(await rows(`SELECT count(*) FROM information_schema.tables WHERE table_catalog = '${OTHER}'`)).toEqual([
      [1],
    ]);
    const [[count] = []] = await rows("SELECT count(*) FROM information_schema.tables WHERE table_catalog = 'lake'");
    expect(count).toBeGreaterThan(2);
  });

  test('a view of a subquery has the catalog of the one around it that it is compared with', async () => {
    const counted = `SELECT t.table_name, (SELECT count(*) FROM information_schema.columns c
      WHERE c.table_catalog = t.table_catalog AND c.table_name = t.table_name) FROM information_schema.tables t`;
    expect(await rows(`${counted} WHERE t.table_catalog = '${OTHER}'`)).toEqual([['far', 1]]);
    expect(await rows(`${counted} WHERE t.table_catalog IN (NULL, '${OTHER}')`)).toEqual([['far', 1]]);
  });

  test('a parameter picks the catalog', async () => {
    const session = randomUUID();
    await rows('PREPARE p AS SELECT table_name FROM information_schema.tables WHERE table_catalog = $1', session);
    expect(await rows(`EXECUTE p('${OTHER}')`, session)).toEqual([['far']]);
    expect(await rows(`EXECUTE p('nowhere')`, session)).toEqual([]);
  });

  test('the table function is refused with what to write', async () => {
    const call = `SELECT * FROM TABLE(INFORMATION_SCHEMA.POLICY_REFERENCES(POLICY_NAME => 'p'))`;
    await expect(rows(call)).rejects.toThrow(/0A000.*WHERE|WHERE.*0A000/s);
  });
});

describe('a view is an ordinary table', () => {
  test.each([
    [
      'GROUP BY, HAVING, ORDER BY and LIMIT',
      `SELECT table_type, count(*) FROM information_schema.tables WHERE ${here} GROUP BY 1 HAVING count(*) = 1 ORDER BY 1 LIMIT 2`,
    ],
    [
      'a window',
      `SELECT table_name, row_number() OVER (ORDER BY table_name) FROM information_schema.tables WHERE ${here} ORDER BY 1`,
    ],
    [
      'a join',
      `SELECT t.table_name, count(c.column_name) FROM information_schema.tables t LEFT JOIN information_schema.columns c
        USING (table_catalog, table_schema, table_name) WHERE t.table_schema = '${SCHEMA}' GROUP BY 1 ORDER BY 1`,
    ],
    [
      'a scalar subquery',
      `SELECT table_name, (SELECT max(ordinal_position) FROM information_schema.columns c WHERE c.table_schema = t.table_schema AND c.table_name = t.table_name)
        FROM information_schema.tables t WHERE ${here} ORDER BY 1`,
    ],
    ['aggregates', `SELECT sum(row_count), bool_or(rls_enabled) FROM information_schema.tables WHERE ${here}`],
  ])('%s gives what plain DuckDB gives over the same rows', async (_name, sql) => {
    const instance = await DuckDBInstance.create();
    const duckdb = await instance.connect();
    await duckdb.run('CREATE SCHEMA plain');
    for (const view of ['tables', 'columns']) {
      const { body } = await cluster.query(`SELECT * FROM lake.information_schema.${view} WHERE ${here}`);
      const { columns, types, rows: found } = body as { columns: string[]; types: string[]; rows: Json[][] };
      await duckdb.run(`CREATE TABLE plain.${view} (${columns.map((name, i) => `"${name}" ${types[i]}`).join(', ')})`);
      for (const row of found) {
        const values = row.map((value) =>
          typeof value === 'string' ? `'${value.replaceAll("'", "''")}'` : JSON.stringify(value),
        );
        await duckdb.run(`INSERT INTO plain.${view} VALUES (${values.join(', ')})`);
      }
    }
    const expected = (await duckdb.runAndReadAll(sql.replaceAll('information_schema.', 'plain.'))).getRowsJson();
    const asText = (all: readonly (readonly Json[])[]) =>
      all.map((row) =>
        row.map((value) => (typeof value === 'string' || value === null ? value : JSON.stringify(value))),
      );
    expect(asText(await rows(sql))).toEqual(asText(expected as Json[][]));
    instance.closeSync();
  });

  test('columns by their places, by new names and as rows, which name none of them', async () => {
    const names = [['m'], ['t'], ['v']];
    expect(await rows(`SELECT #3 FROM information_schema.tables WHERE ${here} ORDER BY 1`)).toEqual(names);
    const renamed = `SELECT c FROM information_schema.tables AS x(a, b, c) WHERE b = '${SCHEMA}' ORDER BY 1`;
    expect(await rows(renamed)).toEqual(names);
    const asRow = `SELECT x['table_name'] FROM (SELECT t AS x FROM information_schema.tables t WHERE ${here}) ORDER BY 1`;
    expect(await rows(asRow)).toEqual(names);
    expect(await rows(`SELECT #1 IS NULL, #2 IS NULL FROM lake.${SCHEMA}."t$snapshots"`)).toEqual([[false, false]]);
  });

  test('questions that differ in names alone share what was planned, and have answers of their own', async () => {
    const ask = (catalog: string, schema: string, name: string): string =>
      `SELECT table_catalog, column_name FROM information_schema.columns WHERE table_catalog = '${catalog}' AND table_schema = '${schema}' AND table_name = '${name}' AND ordinal_position = 1`;
    for (let i = 0; i < 3; i += 1) {
      expect(await rows(ask('lake', SCHEMA, 't'))).toEqual([['lake', 'id']]);
      expect(await rows(ask(OTHER, 'away', 'far'))).toEqual([[OTHER, 'a']]);
      expect(await rows(ask('lake', SCHEMA, 'm'))).toEqual([['lake', 'part']]);
      expect(await rows(ask(OTHER, SCHEMA, 't'))).toEqual([]);
      expect(await rows(ask('nowhere', SCHEMA, 't'))).toEqual([]);
    }
  });

  test('CREATE TABLE AS, EXPLAIN, and a view of its own', async () => {
    await rows(
      `CREATE TABLE lake.${SCHEMA}.copied AS SELECT table_name, row_count FROM information_schema.tables WHERE ${here} AND table_name = 't'`,
    );
    expect(await rows(`SELECT * FROM lake.${SCHEMA}.copied`)).toEqual([['t', 2]]);
    expect((await rows('EXPLAIN SELECT * FROM information_schema.tables')).length).toBeGreaterThan(0);
    await rows(`CREATE VIEW lake.${SCHEMA}.names AS SELECT table_name FROM information_schema.tables WHERE ${here}`);
    expect(await rows(`SELECT count(*) FROM lake.${SCHEMA}.names WHERE table_name = 't'`)).toEqual([[1]]);
    await rows(`DROP VIEW lake.${SCHEMA}.names`);
    await rows(`DROP TABLE lake.${SCHEMA}.copied`);
  });
});

describe('live', () => {
  test('each change is seen by the next statement', async () => {
    const count = async (): Promise<Json | undefined> =>
      (await rows(`SELECT count(*) FROM information_schema.columns WHERE ${here} AND table_name LIKE 'live%'`))[0]?.[0];
    expect(await count()).toBe(0);
    for (let i = 0; i < 5; i += 1) {
      await rows(`CREATE TABLE lake.${SCHEMA}.live_${i} (a INT)`);
      expect(await count()).toBe(1);
      await rows(`ALTER TABLE lake.${SCHEMA}.live_${i} ADD COLUMN b INT`);
      expect(await count()).toBe(2);
      await rows(`ALTER TABLE lake.${SCHEMA}.live_${i} RENAME TO lake.${SCHEMA}.gone_${i}`);
      expect(await count()).toBe(0);
      await rows(`DROP TABLE lake.${SCHEMA}.gone_${i}`);
    }
  });

  test('a catalog is found as soon as it is made, and no more when it is dropped', async () => {
    const made = "SELECT count(*) FROM information_schema.schemata WHERE catalog_name = 'info_made'";
    for (let i = 0; i < 3; i += 1) {
      expect(await rows(made)).toEqual([[0]]);
      await rows('CREATE CATALOG info_made');
      await rows('CREATE SCHEMA info_made.s');
      expect(await rows(made)).toEqual([[1]]);
      expect(await rows('SELECT schema_name FROM info_made.information_schema.schemata')).toEqual([['s']]);
      await rows('DROP SCHEMA info_made.s');
      await rows('DROP CATALOG info_made');
      await expect(rows('FROM info_made.information_schema.schemata')).rejects.toThrow(/3D000/);
    }
  });

  test('a transaction sees what it has made, and nobody else does', async () => {
    const session = randomUUID();
    const mine = `SELECT table_name, row_count FROM information_schema.tables WHERE ${here} AND table_name = 'tx'`;
    await rows('BEGIN', session);
    await rows(`CREATE TABLE lake.${SCHEMA}.tx (a INT)`, session);
    await rows(`INSERT INTO lake.${SCHEMA}.tx VALUES (1), (2)`, session);
    expect(await rows(mine, session)).toEqual([['tx', 2]]);
    expect(await rows(mine)).toEqual([]);
    await rows('ROLLBACK', session);
    expect(await rows(mine)).toEqual([]);
  });
});

describe('hostile questions', () => {
  test('IN lists of 20,000 names, of any script and 255 bytes, find theirs; one of 100,000 does, too, or is too complex', async () => {
    const long = 'ﷺ'.repeat(85);
    await rows(`CREATE TABLE lake.${SCHEMA}."${long}" (a INT)`);
    const find = (count: number): string => {
      const many = Array.from({ length: count - 2 }, (_, i) => `注文${i}`);
      const list = [...many, long, 't'].map((name) => `'${name}'`).join();
      return `SELECT table_name FROM information_schema.tables WHERE ${here} AND table_name IN (${list}) ORDER BY 1`;
    };
    for (let i = 0; i < 2; i += 1) expect(await rows(find(20_000))).toEqual([['t'], [long]]);
    const { status, body } = await cluster.query(find(100_000));
    if (status === 200) expect(body.rows).toEqual([['t'], [long]]);
    else expect(body.error).toBe('STATEMENT_TOO_COMPLEX');
    await rows(`DROP TABLE lake.${SCHEMA}."${long}"`);
  });

  test.each(['%_'.repeat(5_000), '_%a'.repeat(3_000), '\\'.repeat(10_000), '%'.repeat(100_000)])(
    'a pattern of thousands of signs takes no time: %.10s...',
    async (pattern) => {
      const startedMs = performance.now();
      await rows(`SELECT count(*) FROM information_schema.columns WHERE column_name LIKE '${pattern}'`);
      expect(performance.now() - startedMs).toBeLessThan(10_000 * machineSlowness());
    },
  );

  test('a list of names that no view can hold, and a column that none has', async () => {
    await expect(rows('SELECT nothing FROM information_schema.tables')).rejects.toThrow(/42703/);
    await expect(rows("FROM information_schema.tables WHERE table_name = 'a\u0000b'")).rejects.toThrow(/42601/);
    expect(await rows("SELECT 1 FROM information_schema.tables WHERE table_catalog IN ('', '.', '../lake')")).toEqual(
      [],
    );
  });

  test('another tenant sees nothing of ours, and we nothing of it', async () => {
    await cluster.cliOk(['admin', 'tenant', 'create', 'info_rival', '--user', 'info_rival_admin']);
    await cluster.cliOk(['admin', 'catalog', 'create', 'info_rivals', '--tenant', 'info_rival']);
    const token = await cluster.token({ tenant: 'info_rival', user: 'info_rival_admin' });
    await cluster.sql('CREATE SCHEMA info_rivals.secret', { token });
    await cluster.sql('CREATE TABLE info_rivals.secret.t (a INT)', { token });
    const all =
      "SELECT table_catalog FROM information_schema.tables WHERE table_catalog IN ('lake', 'info_rivals', 'info_away')";
    expect(await cluster.sql(all, { token })).toEqual([['info_rivals']]);
    expect((await rows(`SELECT DISTINCT * FROM (${all}) ORDER BY 1`)).flat()).toEqual([OTHER, 'lake']);
    const foreign = cluster.sql('SELECT * FROM lake.information_schema.tables', { token });
    const absent = cluster.sql('SELECT * FROM leke.information_schema.tables', { token });
    const [ofForeign, ofAbsent] = (await Promise.allSettled([foreign, absent])).map((one) =>
      one.status === 'rejected' ? (one.reason as Error).message : 'rows',
    );
    expect(ofForeign).toContain('3D000');
    expect(ofForeign).toBe(ofAbsent?.replaceAll('leke', 'lake'));
  });
});

test('a token without table:read may not ask, and one without namespace:read sees no schemas', async () => {
  const count = async (view: string, token: string): Promise<Json | undefined> =>
    (await cluster.sql(`SELECT count(*) FROM lake.information_schema.${view}`, { token }))[0]?.[0];
  const schemasOnly = await cluster.token({ scope: ['catalog:read', 'namespace:read'] });
  await expect(count('tables', schemasOnly)).rejects.toThrow(/42501/);
  const tablesOnly = await cluster.token({ scope: ['table:read'] });
  expect(await count('tables', tablesOnly)).toBeGreaterThan(0);
  expect(await count('schemata', tablesOnly)).toBe(0);
});
