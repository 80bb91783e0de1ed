import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createFlightSqlClient } from '@lakehouse-rs/flight-sql-client';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { must } from '#shared/must.ts';
import { ADMIN_PASSWORD, type Cluster } from '#test/support/cluster.ts';
import { EVERY_TYPE, featuresOf, type FlightClientName } from '#test/support/feature-matrix.ts';
import { compileJava, FLIGHT_JDBC, java, mavenFile } from '#test/support/java.ts';
import { pythonIn } from '#test/support/python.ts';
import { sharedCluster } from '#test/support/resources.ts';

/** A table of every type, with values at the ends of each and NULL: written through PyIceberg, read by every client of Flight SQL. */
type Nested = string | null | readonly Nested[] | { readonly [name: string]: Nested };
type Rows = readonly { readonly [column: string]: Nested }[];

const SCRIPT = 'test/clients/flight_types.py';
const QUERY = 'SELECT * FROM lake.flight_types.every';
const TYPES =
  'int32, bool, int32, int64, float, double, decimal128(4, 2), decimal128(18, 0), decimal128(38, 10), date32[day], time64[us], ' +
  'timestamp[us], timestamp[us, tz=UTC], string, string, binary, binary, list<l: int32>, map<string, double>, struct<x: double, y: list<l: string>>';

let cluster: Cluster;
let url: string;
let written: Rows;
beforeAll(async () => {
  ({ cluster } = await sharedCluster());
  url = must(cluster.ready.flight_sql_url, 'it serves Flight SQL');
  const printed = await pythonIn('flight', SCRIPT, 'write', cluster.catalogUrl, await cluster.token());
  written = JSON.parse(printed) as Rows;
}, 300_000);
afterAll(() => cluster.sql('DROP TABLE lake.flight_types.every PURGE'));

const hasEveryType = (client: FlightClientName): boolean => featuresOf(client).includes(EVERY_TYPE);

test('ADBC, pyarrow and the Rust client read every type, with edge values and NULL', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'skein-flight-types-'));
  try {
    const { hostname: host, port } = new URL(url);
    const [username, password] = [cluster.ready.user, ADMIN_PASSWORD];
    const rust = await createFlightSqlClient({ host, port: Number(port), tls: false, headers: [], username, password });
    const ipc = join(folder, 'rust');
    await writeFile(ipc, await rust.query(QUERY));
    const printed = await pythonIn('flight', SCRIPT, 'read', url, username, password, ipc);
    const { types, rows } = JSON.parse(printed) as {
      types: Record<FlightClientName, readonly string[]>;
      rows: Record<FlightClientName, Rows>;
    };
    for (const client of ['ADBC (Go)', 'pyarrow (C++)', 'arrow-flight (Rust)'] as const) {
      expect([client, hasEveryType(client), types[client].join(', ')]).toEqual([client, true, TYPES]);
      expect([client, rows[client]]).toEqual([client, written]);
    }
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}, 300_000);

test('JDBC reads every type, with edge values and NULL', async () => {
  const jar = await mavenFile(FLIGHT_JDBC);
  const classes = await compileJava('test/clients/FlightTypes.java', jar);
  const args = ['FlightTypes', new URL(url).host, cluster.ready.user, ADMIN_PASSWORD, `${QUERY} ORDER BY id`];
  const { stdout, stderr } = await java(`${classes}:${jar}`, { 'user.timezone': 'UTC' }, args);
  const values = stdout.split('\n').filter((line) => line !== '');
  expect(values.length, stderr.slice(-2_000)).toBeGreaterThan(0);
  const read = values.map((line) => {
    const [column = '', , ...value] = line.split('\t');
    return [column, value.join('\t')];
  });
  const expected = written.flatMap((row) =>
    Object.entries(row).map(([column, value]) => [column, value === null ? 'NULL' : `=${inJdbc(column, value)}`]),
  );
  expect(read).toEqual(expected);
  expect(hasEveryType('JDBC (Java)')).toBe(true);
}, 300_000);

/** A value as the driver prints it: java.sql.Time has milliseconds, and a struct without its fields that are NULL. */
function inJdbc(column: string, value: Exclude<Nested, null>): string {
  if (typeof value === 'string') {
    switch (column) {
      case 't':
        return value.slice(0, '00:00:00.000'.length).replace(/\.000$/, '');
      case 'ts':
      case 'tz':
        return value.replace('T', ' ').replace('+00:00', '').replace('.000000', '.0');
      default:
        return value;
    }
  }
  switch (column) {
    case 'li':
      return JSON.stringify((value as readonly Nested[]).map((one) => (one === null ? null : Number(one))));
    case 'm':
      return json(Object.fromEntries((value as readonly [string, Nested][]).map(([key, one]) => [key, double(one)])));
    default: {
      const { x, y } = value as { readonly x: Nested; readonly y: Nested };
      return json({ ...(x === null ? {} : { x: double(x) }), ...(y === null ? {} : { y }) });
    }
  }
}

/** The number whose bits a text has; one that JSON has no form for is a text. */
function double(bits: Nested): number | string | null {
  if (bits === null) return null;
  const value = Buffer.from(bits as string, 'hex').readDoubleBE();
  return Number.isFinite(value) ? value : String(value);
}

/** As JSON, in which -0 has its sign. */
const json = (value: object): string =>
  JSON.stringify(value, (_, one: unknown) => (Object.is(one, -0) ? '-0' : one)).replaceAll('"-0"', '-0.0');
