import { randomUUID } from 'node:crypto';
import pg from 'pg';
import { must } from '#shared/must.ts';
import { parseJson, printJson, type Json } from '#shared/json.ts';
import type { Cluster } from './cluster.ts';
import { failureOf, FlightClient, valuesOf } from './flight-client.ts';

/** The ways on which a client sends SQL. */
export type Door = 'http' | 'flight' | 'postgres';

/** `error`: the code by which the door names it. Values are those that the door gives, so only answers of one door can be compared. */
export type DoorAnswer = { readonly error: string | undefined; readonly rows: readonly (readonly Json[])[] };

type Who = {
  readonly tenant: string;
  readonly user: string;
  readonly password: string;
  readonly settings: readonly string[];
};

/** A session of one user on each door. */
export type Doors = {
  readonly query: (door: Door, sql: string) => Promise<DoorAnswer>;
  readonly close: () => Promise<void>;
};

export async function openDoors(cluster: Cluster, { tenant, user, password, settings }: Who): Promise<Doors> {
  const http = { token: await cluster.token({ tenant, user }), sessionId: randomUUID() };
  const flight = new FlightClient(must(cluster.ready.flight_sql_url, 'Flight SQL'), `Bearer ${http.token}`);
  flight.metadata.set('cookie', `skein-session=${randomUUID()}`);
  const url = new URL(must(cluster.ready.postgres_url, 'the Postgres wire'));
  url.pathname = `/${tenant}`;
  url.username = user;
  url.password = password;
  const postgres = new pg.Client({ connectionString: url.href, options: `-c tenant=${tenant}`, types: TEXTS });
  // A cluster of the test's own may end before its doors.
  postgres.on('error', () => undefined);
  await postgres.connect();
  for (const sql of settings) {
    await cluster.sql(sql, http);
    await flight.run(sql);
    await postgres.query(sql);
  }
  const doors: Readonly<Record<Door, (sql: string) => Promise<DoorAnswer>>> = {
    http: async (sql) => {
      const { body } = await cluster.query(sql, http);
      return { error: body.error, rows: body.rows ?? [] };
    },
    flight: async (sql) => {
      const call = flight.query(sql);
      const rows = await call.then(valuesOf, () => undefined);
      if (rows === undefined) return { error: (await failureOf(call)).reason, rows: [] };
      return { error: undefined, rows: rows.map((row) => row.map(asJson)) };
    },
    postgres: async (sql) => {
      try {
        const { rows } = await postgres.query<Json[]>({ text: sql, rowMode: 'array' });
        return { error: undefined, rows };
      } catch (error) {
        return { error: String((error as { readonly code?: unknown }).code), rows: [] };
      }
    },
  };
  return {
    query: (door, sql) => doors[door](sql),
    close: async () => {
      flight[Symbol.dispose]();
      await postgres.end();
    },
  };
}

/** Values as the server has printed them. */
const TEXTS = { getTypeParser: () => (value: unknown) => value };

/** Values of Arrow: numbers of 64 bits, dates and structs print themselves. */
const asJson = (value: unknown): Json =>
  parseJson(
    printJson(
      JSON.parse(
        JSON.stringify(value ?? null, (_, one: unknown) => (typeof one === 'bigint' ? String(one) : one)),
      ) as Json,
    ),
  );
