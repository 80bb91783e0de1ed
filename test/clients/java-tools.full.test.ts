import { mkdtempDisposable, readdir, readFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { allOk, browsedTables, type BrowsedTables } from '#test/support/browsed-tables.ts';
import { compileJava, java, mavenClasspath, mavenFile, POSTGRES_JDBC } from '#test/support/java.ts';

/** Hibernate and jOOQ over the Postgres wire, and beside it over the real Postgres with the same tables. */
let tables: BrowsedTables;
let classpath: string;
beforeAll(async () => {
  tables = await browsedTables(`java_tools_${process.pid}`);
  const jars = `${await mavenClasspath('test/clients/java-tools/pom.xml')}:${await mavenFile(POSTGRES_JDBC)}`;
  await compileJava('test/clients/PostgresHibernate.java', jars);
  classpath = `${await compileJava('test/clients/PostgresJooq.java', jars)}:${jars}`;
});
afterAll(() => tables[Symbol.asyncDispose]());

/** Runs a main class that prints lines `tool, feature, outcome`, with tabs. @returns the outcomes */
async function outcomesOf(url: URL, main: string, args: readonly string[] = []): Promise<Record<string, string>> {
  const [user = '', password = ''] = [url.username, url.password].map(decodeURIComponent);
  const jdbc = `jdbc:postgresql://${url.host}${url.pathname}${url.search}`;
  const { stdout, stderr } = await java(classpath, {}, [main, jdbc, user, password, ...args]);
  const lines = stdout.split('\n').filter((line) => line.includes('\t'));
  if (lines.length === 0) throw new Error(stderr.slice(-2_000));
  return Object.fromEntries(lines.map((line) => line.split('\t').slice(1) as [string, string]));
}

/** The files below a folder, each as its name and its text. */
async function textsBelow(folder: string): Promise<Readonly<Record<string, string>>> {
  const names = (await readdir(folder, { recursive: true })).filter((name) => name.endsWith('.java'));
  return Object.fromEntries(
    await Promise.all(names.map(async (name) => [name, await readFile(join(folder, name), 'utf8')] as const)),
  );
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

const JOOQ = [
  'generator',
  'schemata, tables, views',
  'columns',
  'primary keys',
  'what does not exist',
  'meta()',
  'insert, every type',
  'queries',
  'update and delete',
  'transactions',
  'batches',
  'cursors',
  'upsert',
  'multiset',
  'create, alter, drop',
];

test('jOOQ, and its generator makes the code that it makes of Postgres', async () => {
  await using theirs = await mkdtempDisposable(join(tmpdir(), 'jooq-'));
  await using ours = await mkdtempDisposable(join(tmpdir(), 'jooq-'));
  expect(await outcomesOf(tables.theirs, 'PostgresJooq', [theirs.path])).toEqual(allOk(JOOQ));
  // There is no ON CONFLICT.
  const upsert: unknown = expect.stringContaining('syntax error at or near "on"');
  expect(await outcomesOf(tables.ours, 'PostgresJooq', [ours.path])).toEqual({ ...allOk(JOOQ), upsert });
  expect(await textsBelow(ours.path)).toEqual(await textsBelow(theirs.path));
});
