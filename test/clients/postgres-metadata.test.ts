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
  const classpath = `${await compileJava('test/clients/PostgresMetadata.java', jar)}:${jar}`;
  [ours, theirs] = await Promise.all([answersOf(tables.ours, classpath), answersOf(tables.theirs, classpath)]);
}, 300_000);
afterAll(() => tables[Symbol.asyncDispose]());

/** Lines that each method gives. */
type Answers = ReadonlyMap<string, readonly string[]>;

async function answersOf(url: URL, classpath: string): Promise<Answers> {
  const [user = '', password = ''] = [url.username, url.password].map(decodeURIComponent);
  const args = [`jdbc:postgresql://${url.host}${url.pathname}${url.search}`, user, password];
  const { stdout, stderr } = await java(classpath, {}, ['PostgresMetadata', ...args]);
  const answers = new Map<string, string[]>();
  for (const line of stdout.split('\n').filter((one) => one.includes('\t'))) {
    const [method = '', value = ''] = line.split('\t');
    answers.set(method, [...(answers.get(method) ?? []), value]);
  }
  if (answers.size === 0) throw new Error(stderr.slice(-2_000));
  return answers;
}

/** Methods that answer otherwise, and why; `but` tells the lines that may differ, all others are the same. */
const DIFFERENCES: Readonly<Record<string, { readonly but: RegExp; readonly why: string }>> = {
  getCatalogs: { but: /^(?:postgres|template\d)$/, why: 'there is one catalog, and no templates' },
  getDatabaseMinorVersion: { but: /^\d+$/, why: 'the release' },
  getDatabaseProductVersion: { but: /^18\.\d+$/, why: 'the release' },
  getDefaultTransactionIsolation: { but: /^[24]$/, why: 'a transaction here sees one snapshot: repeatable read' },
  'getIndexInfo/5': { but: /customers_pkey/, why: 'there are no pages' },
  'getTables/4': { but: /\|SYSTEM INDEX\||\|pg_toast\|/, why: 'the catalog has no indexes and no TOAST of its own' },
  getTypeInfo: { but: /^_?(?:customers|order_names|orders|t)\|/, why: 'rows of tables are no types' },
  getURL: { but: /^jdbc:postgresql:/, why: 'the URL' },
};

test('every method of DatabaseMetaData answers as with Postgres, but for the listed differences', () => {
  expect(theirs.size).toBeGreaterThan(170);
  const different: Record<string, readonly string[]> = {};
  for (const [method, lines] of theirs) {
    const mine = ours.get(method) ?? [];
    if (mine.join('\n') === lines.join('\n')) continue;
    const differing = [
      ...lines.filter((line) => !mine.includes(line)),
      ...mine.filter((line) => !lines.includes(line)),
    ];
    const but = DIFFERENCES[method]?.but;
    different[method] = differing.filter((line) => but?.test(line) !== true).slice(0, 10);
  }
  expect(different).toEqual(Object.fromEntries(Object.keys(DIFFERENCES).map((method) => [method, []])));
});

test('columns, keys, schemas and views are found', () => {
  expect(ours.get('getColumns/4')).toHaveLength(15);
  expect(ours.get('getPrimaryKeys/3')?.[1]).toContain('|public|customers|id|1|customers_pkey');
  expect(ours.get('getSchemas')?.map((line) => line.split('|')[0])).toContain('other');
  expect(ours.get('getTables/4')?.some((line) => line.includes('|public|order_names|VIEW|names_of_orders|'))).toBe(
    true,
  );
});
