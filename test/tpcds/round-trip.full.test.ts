import { join } from 'node:path';
import { DuckDBInstance, type DuckDBConnection } from '@duckdb/node-api';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { sessionPlanner } from '#test/support/session-planner.ts';
import type { Planner } from '#coordinator/binding/planner.ts';
import { roundTrip, setRoundTripContext } from '#test/support/round-trip.ts';
import { TPCDS_TABLES, tpcdsData, tpcdsQueries } from './tpcds.ts';

let connection: DuckDBConnection;
let planner: Planner;

beforeAll(async () => {
  planner = await sessionPlanner();
  const folder = await tpcdsData('0.01');
  connection = await (await DuckDBInstance.create(':memory:', { threads: '2' })).connect();
  await connection.run('CREATE SCHEMA tpcds');
  for (const table of TPCDS_TABLES) {
    await connection.run(`CREATE VIEW tpcds.${table} AS FROM read_parquet('${join(folder, table)}.parquet')`);
  }
  await connection.run('USE memory.tpcds');
  await setRoundTripContext(connection, 'tpcds');
}, 300_000);

afterAll(async () => {
  await planner?.close();
  connection?.closeSync();
});

const queries = await tpcdsQueries();

test('there are 103 statements', () => expect(queries.length).toBe(103));

test.each(queries)('the printed plan of $name gives its rows', async ({ sql }) => {
  const { kind, message, sql: printed } = await roundTrip(sql, { connection, planner, schema: 'tpcds' });
  expect(kind, `${message}\n${printed}`).toBe('same');
});
