import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DuckDBInstance } from '@duckdb/node-api';
import type { Client } from 'pg';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { CATALOG_SCHEMA } from '#catalog/store/postgres/migrations.ts';
import { COORDINATOR_SCHEMA } from '#coordinator/history/history-database.ts';
import type { JsonObject } from '#shared/json.ts';
import { must } from '#shared/must.ts';
import { startCluster, type StartedCluster } from '#test/support/cluster.ts';
import { connect, embeddedUrl } from './embedded-postgres.ts';
import { fixtureNames, readFixture, takePlace, type Fixture, type FixturePlace } from './fixture.ts';
import { answerOf, askCatalog, grant } from './requests.ts';
import { restoreFixture } from './restore-fixture.ts';
import { patience } from '#test/support/run/slowness.ts';

/** Every fixture, written by an earlier commit, starts under the present code. */

test('there is a fixture', () => {
  expect(fixtureNames().length).toBeGreaterThan(0);
});

describe.each(fixtureNames())('the data directory of %s', (name) => {
  let fixture: Fixture;
  let place: FixturePlace;
  let cluster: StartedCluster;
  let database: Client;

  beforeAll(async () => {
    fixture = await readFixture(name);
    place = await takePlace();
    await restoreFixture(name, place.dataDir);
    // A fixture grows old, and none of its records may be dropped for its age.
    const env = { SKEIN_COORDINATOR_HISTORY_RETENTION: '36500d' };
    cluster = await startCluster({ dataDir: place.dataDir, workers: 1, env });
    const postgres = (await cluster.services()).find(({ kind }) => kind === 'postgres');
    const { port } = new URL(must(postgres?.url, 'the cluster has a Postgres of its own'));
    database = await connect(embeddedUrl(place.dataDir, Number(port)));
  });
  afterAll(async () => {
    await database?.end();
    await cluster?.stop();
    await place?.[Symbol.asyncDispose]();
  });

  const rows = async <Row extends object>(sql: string, ...values: readonly unknown[]): Promise<readonly Row[]> =>
    (await database.query<Row>(sql, [...values])).rows;

  test('is migrated', async () => {
    for (const schema of [CATALOG_SCHEMA, COORDINATOR_SCHEMA]) {
      const applied = await rows<{ name: string }>(`select name from ${schema.name}.kysely_migration order by name`);
      expect(applied.map((migration) => migration.name)).toEqual(Object.keys(schema.migrations).sort());
    }
  });

  test('answers every query as it did', async () => {
    expect(fixture.queries.length).toBeGreaterThan(0);
    for (const { tenant, sql, answer } of fixture.queries) {
      expect(await answerOf(cluster, fixture.tokens[tenant], sql), sql).toEqual(answer);
    }
  });

  test('has every namespace, table with its snapshots, view and function', async () => {
    expect(fixture.documents.length).toBeGreaterThan(0);
    for (const { tenant, path, body } of fixture.documents) {
      const answer = await askCatalog(cluster, fixture.tokens[tenant], 'GET', path);
      expect({ path, ...answer }).toMatchObject({ path, status: 200, body });
    }
  });

  test('gets the facts of its tables and views for INFORMATION_SCHEMA, once', async () => {
    const facts = (): Promise<readonly { id: string; is_of_now: boolean; columns: string | null; xmin: string }[]> =>
      rows(
        ['table', 'view']
          .map(
            (kind) =>
              `select id, facts_version = version as is_of_now, columns, xmin::text from catalog.iceberg_${kind}`,
          )
          .join(' union all '),
      );
    const isFilled = async (): Promise<boolean> =>
      (await facts()).every(({ is_of_now: isOfNow, columns }) => isOfNow && columns !== null);
    await expect.poll(isFilled, { timeout: patience(10_000) }).toBe(true);
    const before = await facts();
    const named = await cluster.sql('SELECT table_schema, table_name FROM lake.information_schema.tables');
    expect(named.length).toBeGreaterThan(0);
    for (const [schema, name] of named as readonly string[][]) {
      const columns = `SELECT column_name, data_type, is_nullable, column_default FROM lake.information_schema.columns
        WHERE table_schema = '${schema}' AND table_name = '${name}' ORDER BY ordinal_position`;
      expect(await cluster.sql(columns), name).toEqual(await cluster.sql(`DESCRIBE lake."${schema}"."${name}"`));
    }
    expect(await facts()).toEqual(before);
  });

  test('has every record of its history', async () => {
    expect(fixture.history.length).toBeGreaterThan(0);
    const found = await rows<{ record: JsonObject }>(
      'select to_jsonb(h) as record from coordinator.query_history h where record_id = any($1)',
      fixture.history.map((record) => record['record_id']),
    );
    const byId = new Map(found.map(({ record }) => [record['record_id'], record]));
    for (const record of fixture.history) expect(byId.get(record['record_id'])).toMatchObject(record);
  });

  test('knows its tokens and clients, and no others', async () => {
    const { client, tokens, tokenSeconds } = fixture;
    const status = async (token: string): Promise<readonly unknown[]> => [
      (await askCatalog(cluster, token, 'GET', '/v1/lake/namespaces')).status,
      (await cluster.query('SELECT count(*) FROM lake.sales.orders', { token })).status,
    ];
    expect(await status(tokens.default)).toEqual([200, 200]);
    expect(await status(`${tokens.default.slice(0, -8)}AAAAAAAA`)).toEqual([401, 401]);
    const { refresh_token, ...secret } = client;
    const byId = await grant(cluster, { grant_type: 'client_credentials', ...secret });
    const renewed = await grant(cluster, { grant_type: 'refresh_token', refresh_token, ...secret });
    for (const granted of [byId, renewed]) {
      expect(granted.expires_in).toBe(tokenSeconds);
      expect(await status(granted.access_token)).toEqual([200, 200]);
    }
    const wrong = { grant_type: 'client_credentials', ...secret, client_secret: `${secret.client_secret}x` };
    await expect(grant(cluster, wrong)).rejects.toThrow('HTTP 401');
  });

  test('takes new rows, tables and records', async () => {
    const token = fixture.tokens.default;
    const count = async (): Promise<number> =>
      Number((await cluster.sql('SELECT count(*) FROM lake.sales.customers'))[0]?.[0]);
    const before = await count();
    const file = join(tmpdir(), `skein-upgrade-${process.pid}.parquet`);
    try {
      const duckdb = await (await DuckDBInstance.create(':memory:')).connect();
      await duckdb.run(`COPY (SELECT 7::BIGINT AS id, 'new' AS full_name, 'n@example.com' AS email) TO '${file}'`);
      duckdb.closeSync();
      await cluster.cliOk(['load', 'parquet', file, '--table', 'lake.sales.customers']);
      await cluster.cliOk(['load', 'parquet', file, '--table', 'lake.today.made', '--create']);
    } finally {
      await rm(file, { force: true });
    }
    expect(await count()).toBe(before + 1);
    const made = await cluster.query('SELECT full_name FROM lake.today.made', { token });
    expect(made.body.rows).toEqual([['new']]);
    // Its coordinator started after those of the fixture.
    const epochs = fixture.history.map((record) => Number(record['epoch']));
    const record = async (): Promise<object | undefined> =>
      (await rows<object>('select status, epoch from coordinator.query_history where query_id = $1', made.queryId))[0];
    await expect.poll(record).toMatchObject({ status: 'completed', epoch: String(Math.max(...epochs) + 1) });
  });
});
