import { createFlightSqlClient, type FlightSqlClient } from '@lakehouse-rs/flight-sql-client';
import { tableFromIPC } from 'apache-arrow';
import { beforeAll, expect, test } from 'vitest';
import { must } from '#shared/must.ts';
import { ADMIN_PASSWORD, type Cluster } from '#test/support/cluster.ts';
import { documentedOutcomes } from '#test/support/feature-matrix.ts';
import { valuesOf } from '#test/support/flight-client.ts';
import { sharedCluster } from '#test/support/resources.ts';

/** The Rust crate arrow-flight, as a package of npm wraps it: queries and three commands of metadata. It swallows the texts of errors. */
let cluster: Cluster;
let client: FlightSqlClient;
const SCHEMA = 'flight_rust';

beforeAll(async () => {
  ({ cluster } = await sharedCluster());
  client = await connect({ username: cluster.ready.user, password: ADMIN_PASSWORD });
});

function connect(credentials: { username?: string; password?: string; token?: string }): Promise<FlightSqlClient> {
  const { hostname: host, port } = new URL(must(cluster.ready.flight_sql_url, 'it serves Flight SQL'));
  return createFlightSqlClient({ host, port: Number(port), tls: false, headers: [], ...credentials });
}

const rows = async (sql: string): Promise<unknown[][]> => valuesOf(tableFromIPC(await client.query(sql)));

const FEATURES: Readonly<Record<string, () => Promise<void>>> = {
  'sign in': async () => {
    const byToken = await connect({ token: await cluster.token() });
    expect(valuesOf(tableFromIPC(await byToken.query('SELECT 42')))).toEqual([[42]]);
    // The package never answers after a wrong password: it ends its own thread.
    const byNothing = await connect({ token: 'wrong' });
    await expect(byNothing.query('SELECT 42')).rejects.toThrow();
  },
  queries: async () => {
    const counted = await rows('SELECT count(*) FROM lake.tpch.lineitem');
    expect(await rows('SELECT l_orderkey FROM lake.tpch.lineitem')).toHaveLength(Number(counted[0]?.[0]));
    expect(await rows("SHOW SCHEMAS FROM lake LIKE 'tpch'")).toEqual([['tpch']]);
  },
  metadata: async () => {
    await cluster.sql(`CREATE OR REPLACE TABLE lake.${SCHEMA}.described (id BIGINT NOT NULL, d DECIMAL(9, 2))`);
    expect(valuesOf(tableFromIPC(await client.getCatalogs()))).toContainEqual(['lake']);
    const schemas = await client.getDbSchemas({ catalog: 'lake', dbSchemaFilterPattern: 'flight\\_rust' });
    expect(valuesOf(tableFromIPC(schemas))).toEqual([['lake', SCHEMA]]);
    const tables = await client.getTables({
      dbSchemaFilterPattern: SCHEMA,
      tableTypes: ['TABLE'],
      includeSchema: true,
    });
    const [row] = valuesOf(tableFromIPC(tables));
    expect(row?.slice(0, 4)).toEqual(['lake', SCHEMA, 'described', 'TABLE']);
    const { fields } = tableFromIPC(row?.[4] as Uint8Array).schema;
    expect(fields.map(({ name, nullable }) => [name, nullable])).toEqual([
      ['id', false],
      ['d', true],
    ]);
  },
  'statements without rows': async () => {
    await client.query(`CREATE OR REPLACE TABLE lake.${SCHEMA}.updates (x INT)`);
    await client.query(`INSERT INTO lake.${SCHEMA}.updates VALUES (1), (2)`);
    expect(await rows(`SELECT * FROM lake.${SCHEMA}.updates ORDER BY 1`)).toEqual([[1], [2]]);
  },
};

test('every feature of the Rust client', async () => {
  await cluster.sql(`CREATE SCHEMA lake.${SCHEMA}`);
  const outcomes: Record<string, string> = {};
  for (const [feature, work] of Object.entries(FEATURES)) {
    outcomes[feature] = await work().then(
      () => 'ok',
      (error: unknown) => String(error),
    );
  }
  expect(outcomes).toEqual(documentedOutcomes('arrow-flight (Rust)', outcomes));
});
