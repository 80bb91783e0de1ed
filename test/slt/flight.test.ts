import { randomUUID } from 'node:crypto';
import { globSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { tableFromIPC, type Table } from 'apache-arrow';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { must } from '#shared/must.ts';
import type { Cluster } from '#test/support/cluster.ts';
import { failureOf, FlightClient } from '#test/support/flight-client.ts';
import { sharedFixture } from '#test/support/resources.ts';
import { parseSlt } from './slt-file.ts';

/** Every statement of the files that DuckDB answers, too: Flight SQL gives the columns, rows and SQLSTATEs that HTTP gives. */
let cluster: Cluster;
let names: Readonly<Record<string, string>>;
let flight: FlightClient;

beforeAll(async () => {
  ({ cluster, names } = await sharedFixture());
  const url = must(cluster.ready.flight_sql_url, 'it serves Flight SQL');
  flight = new FlightClient(url, `Bearer ${await cluster.token()}`);
});
afterAll(() => flight?.[Symbol.dispose]());

type Answer = { readonly columns: string; readonly rows: readonly string[] } | { readonly sqlState: string };

/** Rows without their order, which a query need not have; doubles to the digits that do not depend on the order of a sum. */
const answerOf = (table: Table): Answer => ({
  columns: table.schema.fields.map(({ name, type }) => `${name} ${String(type)}`).join(', '),
  rows: table
    .toArray()
    .map((row) => JSON.stringify(row, (_, value: unknown) => plain(value)))
    .toSorted(),
});

function plain(value: unknown): unknown {
  if (typeof value === 'bigint') return String(value);
  return typeof value === 'number' && !Number.isInteger(value) ? value.toPrecision(12) : value;
}

async function overHttp(sql: string, sessionId: string): Promise<Answer> {
  const response = await fetch(`${cluster.queryUrl}/api/query`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${await cluster.token()}`,
      'content-type': 'application/json',
      accept: 'application/vnd.apache.arrow.stream',
      'x-skein-session': sessionId,
    },
    body: JSON.stringify({ sql }),
  });
  if (response.ok) return answerOf(tableFromIPC(new Uint8Array(await response.arrayBuffer())));
  return { sqlState: ((await response.json()) as { readonly sql_state: string }).sql_state };
}

async function overFlight(sql: string): Promise<Answer> {
  const table = await flight.query(sql).catch((error: unknown) => error);
  if (!(table instanceof Error)) return answerOf(table as Table);
  const { info } = await failureOf(Promise.reject(table));
  return { sqlState: info['sql_state'] ?? String(table) };
}

const FILES = ['both', 'statements'].flatMap((folder) => globSync(join(import.meta.dirname, folder, '*.slt')).sort());

for (const file of FILES) {
  test(`${basename(file)}: the same over Flight SQL as over HTTP`, async () => {
    const sessionId = randomUUID();
    flight.metadata.set('cookie', `skein-session=${randomUUID()}`);
    const records = parseSlt(await readFile(file, 'utf8'), names).filter(
      ({ kind, skip, only }) => kind !== 'file' && !skip.includes('skein') && only !== 'duckdb',
    );
    for (const { kind, sql } of records) {
      if (kind === 'ok') {
        await flight.run(sql);
        await cluster.sql(sql, { sessionId });
      } else {
        expect([sql, await overFlight(sql)]).toEqual([sql, await overHttp(sql, sessionId)]);
      }
    }
    expect(records.length).toBeGreaterThan(0);
  });
}
