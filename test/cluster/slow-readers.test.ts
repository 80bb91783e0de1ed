import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { must } from '#shared/must.ts';
import type { StartedCluster } from '#test/support/cluster.ts';
import { FlightClient, ticketOf } from '#test/support/flight-client.ts';
import { startOwnCluster } from '#test/support/resources.ts';
import { machineSlowness } from '#test/support/run/machine-speed.ts';

/** One query runs at a time; a client counts as stopped after a second. */
let cluster: StartedCluster;
let flight: FlightClient;
let folder: string;

const ROWS = 100_000;
/** A result of 100 MB, more than sockets and windows hold. */
const LARGE = `SELECT range AS i, repeat('x', 1000) AS x FROM range(${ROWS})`;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'skein-slow-readers-'));
  const workload = join(folder, 'workload.yaml');
  await writeFile(workload, 'resource_groups: [{name: root, hard_concurrency_limit: 1}]');
  cluster = await startOwnCluster({
    env: { SKEIN_COORDINATOR_WORKLOAD_FILE: workload, SKEIN_COORDINATOR_RESULT_WAIT: '1s' },
  });
  flight = new FlightClient(
    must(cluster.ready.flight_sql_url, 'it serves Flight SQL'),
    `Bearer ${await cluster.token()}`,
  );
});
afterAll(async () => {
  flight?.[Symbol.dispose]();
  await cluster?.stop();
  await rm(folder, { recursive: true, force: true });
});

test('a door knows the columns of a query that still waits for its place', async () => {
  const queryId = randomUUID();
  const holder = cluster.query('SELECT sum(a.range * b.range) FROM range(1000000) a, range(1000000) b', { queryId });
  const isRunning = async (): Promise<boolean> => {
    const { rows = [] } = (await cluster.query('SHOW QUERIES')).body;
    return JSON.stringify(rows).includes(queryId) && JSON.stringify(rows).includes('running');
  };
  while (!(await isRunning())) await sleep(50);
  const info = await flight.info('CommandStatementQuery', { query: 'SELECT range AS waited FROM range(3)' });
  expect(info.schema.toString('latin1')).toContain('waited');
  // The first query still has the only place.
  expect(await isRunning()).toBe(true);
  await cluster.query(`KILL QUERY '${queryId}'`);
  await holder;
  expect((await flight.get(ticketOf(info))).numRows).toBe(3);
});

test('a result that is not fetched holds no place, and is there when it is fetched', async () => {
  const info = await flight.info('CommandStatementQuery', { query: LARGE });
  const startMs = performance.now();
  expect(await cluster.sql('SELECT count(*) FROM range(3)')).toEqual([[3]]);
  expect(performance.now() - startMs).toBeLessThan(15_000 * machineSlowness());
  const table = await flight.get(ticketOf(info));
  expect(table.numRows).toBe(ROWS);
  const numbers = new Set<number>();
  for (const row of table) numbers.add(Number((row as unknown as { readonly i: bigint }).i));
  expect(numbers.size).toBe(ROWS);
});

test('nor does one whose reader has stopped; it gets the rest when it reads again', async () => {
  const body = Promise.withResolvers<{ rows: readonly [number, string][]; row_count: number }>();
  const asked = request(`${cluster.ready.query_url}/api/query`, {
    method: 'POST',
    headers: { authorization: `Bearer ${await cluster.token()}`, 'content-type': 'application/json' },
  });
  const reading = Promise.withResolvers<() => void>();
  asked.on('response', (response) => {
    const parts: Buffer[] = [];
    response.on('data', (part: Buffer) => parts.push(part));
    response.on('end', () => body.resolve(JSON.parse(Buffer.concat(parts).toString()) as never));
    response.on('error', body.reject);
    response.pause();
    reading.resolve(() => response.resume());
  });
  asked.end(JSON.stringify({ sql: LARGE }));
  const readOn = await reading.promise;
  const startMs = performance.now();
  expect(await cluster.sql('SELECT count(*) FROM range(3)')).toEqual([[3]]);
  expect(performance.now() - startMs).toBeLessThan(15_000 * machineSlowness());
  readOn();
  const { rows, row_count: rowCount } = await body.promise;
  expect([rowCount, rows.length, new Set(rows.map(([i]) => i)).size]).toEqual([ROWS, ROWS, ROWS]);
});

test('nor does a client of Flight SQL that stops reading', async () => {
  const info = await flight.info('CommandStatementQuery', { query: LARGE });
  const call = flight.client.DoGet({ ticket: ticketOf(info) }, flight.metadata);
  await once(call, 'data');
  call.pause();
  const startMs = performance.now();
  expect(await cluster.sql('SELECT count(*) FROM range(3)')).toEqual([[3]]);
  expect(performance.now() - startMs).toBeLessThan(15_000 * machineSlowness());
  let bytes = 0;
  call.on('data', ({ data_body: body }: { readonly data_body: Buffer }) => (bytes += body.length));
  call.resume();
  await once(call, 'end');
  expect(bytes).toBeGreaterThan(ROWS * 900);
});
