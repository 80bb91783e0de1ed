import { expect, test } from 'vitest';
import { must } from '#shared/must.ts';
import { ADMIN_PASSWORD } from '#test/support/cluster.ts';
import { documentedOutcomes } from '#test/support/feature-matrix.ts';
import { compileJava, FLIGHT_JDBC, java, mavenFile } from '#test/support/java.ts';
import { sharedCluster } from '#test/support/resources.ts';

/** The JDBC driver, on which DBeaver, DataGrip and Tableau sit. `FlightJdbc.java` tries each feature by itself. */
test('every feature of the JDBC driver', async () => {
  const { cluster } = await sharedCluster();
  const { host } = new URL(must(cluster.ready.flight_sql_url, 'it serves Flight SQL'));
  const jar = await mavenFile(FLIGHT_JDBC);
  const classes = await compileJava('test/clients/FlightJdbc.java', jar);
  const args = [host, cluster.ready.user, ADMIN_PASSWORD, await cluster.token()];
  const { stdout, stderr } = await java(`${classes}:${jar}`, {}, ['FlightJdbc', ...args]);
  const lines = stdout.split('\n').filter((line) => line.includes('\t'));
  if (lines.length === 0) throw new Error(stderr.slice(-2_000));
  const outcomes = Object.fromEntries(lines.map((line) => line.split('\t') as [string, string]));
  expect(outcomes).toEqual(documentedOutcomes('JDBC (Java)', outcomes));
}, 300_000);
