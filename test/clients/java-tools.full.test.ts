import { afterAll, beforeAll, expect, test } from 'vitest';
import { allOk, browsedTables, type BrowsedTables } from '#test/support/browsed-tables.ts';
import { compileJava, java, mavenClasspath, mavenFile, POSTGRES_JDBC } from '#test/support/java.ts';

/** Hibernate over the Postgres wire, and beside it over the real Postgres with the same tables. */
let tables: BrowsedTables;
let classpath: string;
beforeAll(async () => {
  tables = await browsedTables(`java_tools_${process.pid}`);
  const jars = `${await mavenClasspath('test/clients/java-tools/pom.xml')}:${await mavenFile(POSTGRES_JDBC)}`;
  classpath = `${await compileJava('test/clients/PostgresHibernate.java', jars)}:${jars}`;
});
afterAll(() => tables[Symbol.asyncDispose]());

/** Runs a main class that prints lines `tool, feature, outcome`, with tabs. @returns the outcomes */
async function outcomesOf(url: URL, main: string): Promise<Record<string, string>> {
  const [user = '', password = ''] = [url.username, url.password].map(decodeURIComponent);
  const jdbc = `jdbc:postgresql://${url.host}${url.pathname}${url.search}`;
  const { stdout, stderr } = await java(classpath, {}, [main, jdbc, user, password]);
  const lines = stdout.split('\n').filter((line) => line.includes('\t'));
  if (lines.length === 0) throw new Error(stderr.slice(-2_000));
  return Object.fromEntries(lines.map((line) => line.split('\t').slice(1) as [string, string]));
}

const HIBERNATE = [
  'validate',
  'validate: a wrong type',
  'validate: a missing column',
  'validate: a missing table',
  'insert',
  'load, every type',
  'HQL',
  'pages',
  'scroll',
  'update and delete',
  'rollback',
  'bulk update and delete',
  'a view',
  'native SQL',
  'batches',
  'create, update, drop',
  'versions',
  'two transactions change one row',
];

test('Hibernate', async () => {
  expect(await outcomesOf(tables.theirs, 'PostgresHibernate')).toEqual(allOk(HIBERNATE));
  expect(await outcomesOf(tables.ours, 'PostgresHibernate')).toEqual(allOk(HIBERNATE));
});
