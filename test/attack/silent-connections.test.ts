import { connect, type Socket } from 'node:net';
import pg from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { findCluster } from '#cli/cluster-file.ts';
import { must } from '#shared/must.ts';
import { patience } from '#test/support/run/slowness.ts';
import { ADMIN_PASSWORD, settingsEnv, type StartedCluster } from '#test/support/cluster.ts';
import { FlightClient } from '#test/support/flight-client.ts';
import { startOwnCluster } from '#test/support/resources.ts';

/** More connections than any port has places for, none of which sends a byte: on every port an honest client signs in all the same. */
const SILENT = 1_010;
const BATCH = 101;

let cluster: StartedCluster;
let known: pg.Client;

beforeAll(async () => {
  cluster = await startOwnCluster({ workers: 1, env: settingsEnv({ 'cluster.sign_in_timeout': '5s' }) });
  await cluster.token();
  known = await signIn();
});
afterAll(async () => {
  await known?.end();
  await cluster?.stop();
});

const basic = (): string => `Basic ${Buffer.from(`${cluster.ready.user}:${ADMIN_PASSWORD}`).toString('base64')}`;

async function signIn(): Promise<pg.Client> {
  const url = new URL(must(cluster.ready.postgres_url, 'it serves the Postgres wire'));
  url.username = cluster.ready.user;
  url.password = ADMIN_PASSWORD;
  const client = new pg.Client({ connectionString: url.href });
  await client.connect();
  return client;
}

const query = async (): Promise<void> => {
  expect((await cluster.query('SELECT 1 AS x')).status).toBe(200);
};

type Port = { readonly url: () => string; readonly honest: () => Promise<void> };
const PORTS: Readonly<Record<string, Port>> = {
  HTTP: { url: () => cluster.ready.query_url, honest: query },
  'Flight SQL': {
    url: () => must(cluster.ready.flight_sql_url, 'Flight SQL'),
    honest: async () => {
      using client = new FlightClient(must(cluster.ready.flight_sql_url, 'Flight SQL'), basic());
      await client.info('CommandStatementQuery', { query: 'SELECT 1 AS x' });
    },
  },
  'the Postgres wire': {
    url: () => must(cluster.ready.postgres_url, 'the Postgres wire'),
    honest: async () => {
      const client = await signIn();
      await client.query('SELECT 1 AS x');
      await client.end();
    },
  },
  'catalog REST': {
    url: () => cluster.catalogUrl,
    honest: async () => {
      const headers = { authorization: `Bearer ${await cluster.token()}` };
      expect((await fetch(`${cluster.catalogUrl}/v1/config?warehouse=lake`, { headers })).status).toBe(200);
    },
  },
  'internal port of the catalog': {
    url: () => `tcp://${findCluster(cluster.dataDir).services.catalog_internal_url}`,
    honest: async () => void (await cluster.token({})),
  },
  'internal port of a worker': {
    url: () => {
      const { services } = findCluster(cluster.dataDir).services;
      const url = must(services.find(({ kind }) => kind === 'worker')?.url, 'a worker');
      return url.includes('://') ? url : `tcp://${url}`;
    },
    honest: query,
  },
};

/** Connections that are open, of those that were tried. */
async function silent(url: string): Promise<{ readonly open: () => number; [Symbol.dispose](): void }> {
  const { hostname, port } = new URL(url);
  const sockets: Socket[] = [];
  const join = (): Promise<void> =>
    new Promise((resolve) => {
      const socket = connect({ host: hostname, port: Number(port) }, () => resolve());
      sockets.push(socket);
      socket.on('error', () => resolve()).resume();
    });
  for (let i = 0; i < SILENT; i += BATCH) await Promise.all(Array.from({ length: BATCH }, join));
  return {
    open: () => sockets.filter(({ closed }) => !closed).length,
    [Symbol.dispose]: () => sockets.forEach((socket) => socket.destroy()),
  };
}

test.concurrent.for(Object.entries(PORTS))('%s', async ([, { url, honest }], { expect }) => {
  using crowd = await silent(url());
  await honest();
  await expect.poll(crowd.open, { timeout: patience(15_000) }).toBe(0);
  await honest();
  expect((await known.query('SELECT 2 AS x')).rows).toEqual([{ x: 2 }]);
});
