import { expect, test } from 'vitest';
import { must } from '#shared/must.ts';
import { ADMIN_PASSWORD } from '#test/support/cluster.ts';
import { documentedOutcomes } from '#test/support/feature-matrix.ts';
import { compileJava, java, mavenFile, POSTGRES_JDBC } from '#test/support/java.ts';
import { sharedCluster } from '#test/support/resources.ts';

/** The Postgres wire by pgjdbc. `PostgresJdbc.java` tries each feature by itself. */
test('every feature of pgjdbc', async () => {
  const { cluster } = await sharedCluster();
  const { host } = new URL(must(cluster.ready.postgres_url, 'it serves the Postgres wire'));
  const jar = await mavenFile(POSTGRES_JDBC);
  const classes = await compileJava('test/clients/PostgresJdbc.java', jar);
  const args = [`jdbc:postgresql://${host}/lake`, cluster.ready.user, ADMIN_PASSWORD];
  const { stdout, stderr } = await java(`${classes}:${jar}`, {}, ['PostgresJdbc', ...args]);
  const lines = stdout.split('\n').filter((line) => line.includes('\t'));
  if (lines.length === 0) throw new Error(stderr.slice(-2_000));
  const outcomes = Object.fromEntries(lines.map((line) => line.split('\t') as [string, string]));
  expect(outcomes).toEqual(documentedOutcomes('pgjdbc', outcomes));
}, 300_000);
