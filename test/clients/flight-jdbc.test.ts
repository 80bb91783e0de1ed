import { expect, test } from 'vitest';
import { must } from '#shared/must.ts';
import { ADMIN_PASSWORD, run } from '#test/support/cluster.ts';
import { printMatrix } from '#test/support/feature-matrix.ts';
import { compileJava, mavenFile } from '#test/support/java.ts';
import { sharedCluster } from '#test/support/resources.ts';

const DRIVER = 'org.apache.arrow:flight-sql-jdbc-driver:18.3.0';
/** Arrow's memory in Java reaches into java.nio. */
const MACHINE = [
  '--add-opens=java.base/java.nio=ALL-UNNAMED',
  '-Xmx1g',
  '-XX:TieredStopAtLevel=1',
  '-Dfile.encoding=UTF-8',
];

/** The JDBC driver, on which DBeaver, DataGrip and Tableau sit. `FlightJdbc.java` tries each feature by itself. */
test('every feature of the JDBC driver', async () => {
  const { cluster } = await sharedCluster();
  const { host } = new URL(must(cluster.ready.flight_sql_url, 'it serves Flight SQL'));
  const jar = await mavenFile(DRIVER);
  const classes = await compileJava('test/clients/FlightJdbc.java', jar);
  const args = [host, cluster.ready.user, ADMIN_PASSWORD, await cluster.token()];
  const { stdout, stderr } = await run('java', [...MACHINE, '-cp', `${classes}:${jar}`, 'FlightJdbc', ...args]);
  const lines = stdout.split('\n').filter((line) => line.includes('\t'));
  const outcomes = Object.fromEntries(lines.map((line) => line.split('\t') as [string, string]));
  printMatrix('JDBC (Java)', outcomes);
  expect([
    Object.entries(outcomes).filter(([, outcome]) => outcome !== 'ok'),
    lines.length,
    stderr.slice(-500),
  ]).toEqual([[], 8, expect.any(String)]);
}, 300_000);
