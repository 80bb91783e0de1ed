import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { must } from '#shared/must.ts';

/** The clients of Flight SQL, as the table of `docs/clients.md` names its columns. */
export type FlightClientName = 'ADBC (Go)' | 'JDBC (Java)' | 'pyarrow (C++)' | 'arrow-flight (Rust)';

/** Those of the Postgres wire, whose table follows. */
export type PostgresClientName =
  | 'psycopg 3'
  | 'psycopg 2'
  | 'asyncpg'
  | 'pgjdbc'
  | 'pgx'
  | 'pg'
  | 'postgres.js'
  | 'psqlODBC'
  | 'psql'
  | 'pgbench';

const PAGE = join(import.meta.dirname, '../../docs/clients.md');
const HEADING = '## Which client has what';

/** Features that each have a suite of their own, for all clients. */
export const EVERY_TYPE = 'every type, with edge values and NULL';
export const TLS = 'TLS';

/**
 * The outcomes that a client must have, by the table of `docs/clients.md`: "ok" for each feature that the table says it has, but those with a
 * suite of their own. Prints what it has, a line for each feature, so that the suites of all clients make one table.
 */
export function documentedOutcomes(
  client: FlightClientName | PostgresClientName,
  outcomes: Readonly<Record<string, string>>,
): Readonly<Record<string, string>> {
  for (const [feature, outcome] of Object.entries(outcomes)) {
    process.stdout.write(`${client.padEnd(20)} | ${feature.padEnd(40)} | ${outcome === 'ok' ? 'ok' : 'FAILED'}\n`);
  }
  const features = featuresOf(client).filter(
    (feature) => feature in outcomes || (feature !== EVERY_TYPE && feature !== TLS),
  );
  return Object.fromEntries(features.map((feature) => [feature, 'ok']));
}

/** The features that a client has, by the table of `docs/clients.md`. */
export function featuresOf(client: FlightClientName | PostgresClientName): readonly string[] {
  const [, after = ''] = readFileSync(PAGE, 'utf8').split(HEADING);
  const tables = after.split(/\n(?!\|)/).map((text) => text.split('\n').filter((line) => line.startsWith('|')));
  const table = tables.find(([head = '']) => head.includes(`| ${client} |`)) ?? [];
  const [head = [], , ...rows] = table.map((line) => line.split('|').map((cell) => cell.trim()));
  const column = head.indexOf(client);
  must(column === -1 ? undefined : column, `${PAGE} has a column ${client}`);
  return rows.filter((row) => row[column] === 'yes').map(([, feature = '']) => feature);
}
