import pg from 'pg';
import { beforeAll, expect, test } from 'vitest';
import { must } from '#shared/must.ts';
import { ADMIN_PASSWORD, type Cluster } from '#test/support/cluster.ts';
import { PostgresWire } from '#test/support/postgres-wire.ts';
import { sharedCluster } from '#test/support/resources.ts';

/** Settings of a session over the Postgres wire. */
let cluster: Cluster;
let url: URL;

beforeAll(async () => {
  ({ cluster } = await sharedCluster());
  url = new URL(must(cluster.ready.postgres_url, 'it serves the Postgres wire'));
  url.username = cluster.ready.user;
  url.password = ADMIN_PASSWORD;
});

async function opened(options: string): Promise<{ readonly client: pg.Client; readonly told: string[] }> {
  const client = new pg.Client({ connectionString: url.href, options });
  const told: string[] = [];
  const { connection } = client as unknown as { connection: NodeJS.EventEmitter };
  connection.on('parameterStatus', (status: { parameterName: string; parameterValue: string }) =>
    told.push(`${status.parameterName}=${status.parameterValue}`),
  );
  await client.connect();
  return { client, told };
}

test('RESET and DISCARD bring back the values that came with the start, and clients are told', async () => {
  const { client, told } = await opened('-c search_path=nowhere,tpch -c TimeZone=Asia/Tokyo -c app.user=ann');
  expect(told).toEqual(expect.arrayContaining(['search_path=nowhere,tpch', 'TimeZone=Asia/Tokyo']));
  const shown = async (): Promise<unknown> => {
    const sql = "SELECT current_schema() s, current_setting('TimeZone') z, current_setting('app.user') u";
    return (await client.query({ text: sql, rowMode: 'array' })).rows[0] as unknown;
  };
  expect(await shown()).toEqual(['tpch', 'Asia/Tokyo', 'ann']);
  for (const back of ['RESET ALL', 'DISCARD ALL']) {
    await client.query("SET search_path = $$default$$; SET TIME ZONE 'UTC'; SET app.user = 'bob'");
    expect(await shown()).toEqual(['default', 'UTC', 'bob']);
    const before = told.length;
    expect((await client.query(back)).command).toBe(back.split(' ')[0]);
    expect(told.slice(before).toSorted()).toEqual(['TimeZone=Asia/Tokyo', 'search_path=nowhere,tpch']);
    expect(await shown()).toEqual(['tpch', 'Asia/Tokyo', 'ann']);
  }
  await client.end();
});

test('ROLLBACK undoes SET and the client is told; SET LOCAL outside of a transaction warns', async () => {
  const { client, told } = await opened('');
  const warnings: string[] = [];
  client.on('notice', ({ code }) => void warnings.push(code ?? ''));
  await client.query("SET LOCAL application_name = 'never'");
  expect(warnings).toEqual(['25P01']);
  await client.query("BEGIN; SET application_name = 'within'; SET LOCAL TimeZone = 'Asia/Tokyo'");
  expect(told.slice(-2)).toEqual(['application_name=within', 'TimeZone=Asia/Tokyo']);
  await client.query('ROLLBACK');
  expect(told.slice(-2).toSorted()).toEqual(['TimeZone=UTC', 'application_name=']);
  // Statements of one Query are one transaction, too.
  await client.query("BEGIN; SET LOCAL application_name = 'local'; COMMIT");
  expect((await client.query('SHOW application_name')).rows).toEqual([{ application_name: '' }]);
  await client.end();
});

test('functions that drivers call at connect', async () => {
  const { client } = await opened('');
  const { rows } = await client.query({
    text: `SELECT current_setting('jit') AS cur, set_config('jit', 'on', false) AS new, pg_catalog.version() AS v,
      pg_backend_pid() AS pid, current_schemas(false) AS s, pg_advisory_unlock_all() AS u`,
    rowMode: 'array',
  });
  const { processID } = client as unknown as { processID: number };
  expect(rows).toEqual([['off', 'on', 'PostgreSQL 18.0 (Skein)', processID, '{default}', '']]);
  expect((await client.query('SHOW jit')).rows).toEqual([{ jit: 'on' }]);
  expect((await client.query('SELECT set_config($1, $2, false) AS c', ['jit', 'off'])).rows).toEqual([{ c: 'off' }]);
  expect((await client.query('SHOW jit')).rows).toEqual([{ jit: 'off' }]);
  // A pool sends this when it takes a connection back.
  await client.query('SELECT pg_advisory_unlock_all(); CLOSE ALL; UNLISTEN *; RESET ALL');
  await client.end();
});

test('transactions that only read, by SET SESSION CHARACTERISTICS, SET TRANSACTION and BEGIN', async () => {
  await using wire = await PostgresWire.open(url);
  await wire.query('SET SESSION CHARACTERISTICS AS TRANSACTION READ ONLY');
  expect(await wire.query('CREATE TABLE lake.t.never (a INTEGER)')).toEqual(['E 25006', 'Z I']);
  expect(await wire.query('BEGIN READ WRITE; SET TRANSACTION READ ONLY')).toEqual(['C BEGIN', 'C SET', 'Z T']);
  expect(await wire.query('DELETE FROM lake.t.employees')).toEqual(['E 25006', 'Z E']);
  expect(await wire.query('ROLLBACK; SET TRANSACTION READ ONLY')).toEqual(['C ROLLBACK', 'N 25P01', 'C SET', 'Z I']);
});
