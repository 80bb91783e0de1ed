import { afterAll, beforeAll, expect, test } from 'vitest';
import { browsedTables, type BrowsedTables } from '#test/support/browsed-tables.ts';
import { compileJava, java, mavenFile, POSTGRES_JDBC } from '#test/support/java.ts';

/** All of pgjdbc's DatabaseMetaData, on which DBeaver, Metabase and DataGrip sit, of Skein and of the real Postgres with the same tables. */
let tables: BrowsedTables;
let ours: Answers = new Map();
let theirs: Answers = new Map();
beforeAll(async () => {
  tables = await browsedTables(`metadata_${process.pid}`);
  const jar = await mavenFile(POSTGRES_JDBC);
  const classes = await compileJava('test/clients/PostgresMetadata.java', jar);
  const classpath = `${classes}:${jar}`;
  [ours, theirs] = await Promise.all([answersOf(tables.ours, classpath), answersOf(tables.theirs, classpath)]);
}, 300_000);
afterAll(() => tables[Symbol.asyncDispose]());

/** Lines that each method gives. */
type Answers = ReadonlyMap<string, readonly string[]>;

async function answersOf(url: URL, classpath: string): Promise<Answers> {
  const [user, password] = [url.username, url.password].map(decodeURIComponent);
  const args = [`jdbc:postgresql://${url.host}${url.pathname}${url.search}`, user ?? '', password ?? ''];
  const { stdout, stderr } = await java(classpath, {}, ['PostgresMetadata', ...args]);
  const answers = new Map<string, string[]>();
  for (const line of stdout.split('\n').filter((one) => one.includes('\t'))) {
    const [method = '', value = ''] = line.split('\t');
    answers.set(method, [...(answers.get(method) ?? []), value.replaceAll(url.pathname.slice(1), 'CATALOG')]);
  }
  if (answers.size === 0) throw new Error(stderr.slice(-2_000));
  return answers;
}

test('methods', () => {
  const found = [...theirs].filter(([method, lines]) => ours.get(method)?.join('\n') !== lines.join('\n'));
  for (const [method, lines] of found) {
    const mine = ours.get(method) ?? [];
    console.log(
      method,
      lines.length,
      mine.length,
      '\n-',
      lines
        .filter((l) => !mine.includes(l))
        .slice(0, 6)
        .join('\n- '),
      '\n+',
      mine
        .filter((l) => !lines.includes(l))
        .slice(0, 6)
        .join('\n+ '),
    );
  }
  expect(found.map(([method]) => method)).toEqual([]);
});
