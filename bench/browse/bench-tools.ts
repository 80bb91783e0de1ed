import pg from 'pg';
import { must } from '#shared/must.ts';
import { ADMIN_PASSWORD, type Cluster } from '#test/support/cluster.ts';
import { toolStatements, type ToolStatement } from '#test/support/tool-statements.ts';
import { quantile } from '../report/statistics.ts';

/** A table of the benchmark, in the middle of the others. */
const SCHEMA = 'ns50';
const TABLE = 't50';
const BROWSERS = 50;
/** Time for which a person looks at an answer. */
const READING_MS = 1_000;
/** Runs of each question. */
const RUNS = 9;

/** Times in ms: the first of a question, and the median of others. */
type Question = { readonly name: string; readonly firstMs: number; readonly p50Ms: number };

export type ToolFigures = {
  readonly questions: readonly Question[];
  /** Median of all statements of tools, each run once behind a first run. */
  readonly allMs: number;
  readonly selectOneMs: number;
  /** The count of all columns right behind a commit. */
  readonly behindMs: number;
  /** 95th percentile of `SELECT 1`, alone and beside clients that browse. */
  readonly browsing: { readonly alone: number; readonly beside: number; readonly ratio: number };
};

/** Statements that only read, and that one connection may send in any order. */
const isRead = ({ sql, values }: ToolStatement): boolean =>
  /^\s*(?:select|with|show)\b/i.test(sql) && !/advisory|pg_sleep/i.test(sql) && parameters(sql) === values.length;
const parameters = (sql: string): number => Math.max(0, ...[...sql.matchAll(/\$(\d+)/g)].map(([, n]) => Number(n)));

/** Measures what tools of Postgres ask over the tables of the benchmark. */
export async function benchTools(cluster: Cluster, seconds: number): Promise<ToolFigures> {
  const client = await connected(cluster);
  try {
    const oid = await oidOf(client);
    const statements = toolStatements().map((one) => ({
      ...one,
      sql: one.sql.replaceAll('16390', oid),
      values: one.values.map((value) => (value === 'customers' || value === 'orders' ? TABLE : value)),
    }));
    const run = async (from: number, to = from, values?: readonly string[]): Promise<void> => {
      for (const one of statements.filter(({ number }) => from <= number && number <= to)) {
        await client.query({ text: one.sql, values: [...(values ?? one.values)] }).catch(() => undefined);
      }
    };
    const questions = [
      await timed('\\dt', () => run(5)),
      await timed('\\d of a table', () => run(9, 21)),
      await timed('getTables of a schema', () => run(245, 245, [SCHEMA, '%'])),
      await timed('getColumns of a table', () => run(247, 247, [TABLE, '%'])),
      await timed('count of pg_attribute', () => client.query(COUNT)),
    ];
    const behindMs = await behind(client);
    const selectOneMs = (await timed('SELECT 1', () => client.query('SELECT 1'))).p50Ms;
    const allMs = quantile(await all(client, statements.filter(isRead)), 0.5);
    return { questions, allMs, selectOneMs, behindMs, browsing: await beside(cluster, client, seconds) };
  } finally {
    await client.end();
  }
}

const COUNT = 'SELECT count(*) FROM pg_attribute';

async function connected(cluster: Cluster): Promise<pg.Client> {
  const url = new URL(must(cluster.ready.postgres_url, 'it serves the Postgres wire'));
  [url.username, url.password] = [cluster.ready.user, ADMIN_PASSWORD];
  const client = new pg.Client({ connectionString: url.href });
  await client.connect();
  await client.query(`SET search_path = ${SCHEMA}`);
  return client;
}

async function oidOf(client: pg.Client): Promise<string> {
  const { rows } = await client.query<{ oid: number }>(`SELECT '${SCHEMA}.${TABLE}'::regclass::oid AS oid`);
  return String(must(rows[0], 'the table is there').oid);
}

async function timed(name: string, work: () => Promise<unknown>): Promise<Question> {
  const times: number[] = [];
  for (let i = 0; i <= RUNS; i += 1) {
    const started = performance.now();
    await work();
    times.push(performance.now() - started);
  }
  const [firstMs = 0, ...others] = times;
  return { name, firstMs, p50Ms: quantile(others, 0.5) };
}

async function behind(client: pg.Client): Promise<number> {
  const times: number[] = [];
  for (let i = 0; i < RUNS; i += 1) {
    await client.query(`ALTER TABLE ns${i}.t0 SET PROPERTIES ('bench.commit' = '${Date.now()}')`);
    const started = performance.now();
    await client.query(COUNT);
    times.push(performance.now() - started);
  }
  return quantile(times, 0.5);
}

/** The second time of each statement. */
async function all(client: pg.Client, statements: readonly ToolStatement[]): Promise<readonly number[]> {
  const times: number[] = [];
  for (let round = 0; round < 2; round += 1) {
    for (const { sql, values } of statements) {
      const started = performance.now();
      await client.query({ text: sql, values: [...values] }).catch(() => undefined);
      if (round === 1) times.push(performance.now() - started);
    }
  }
  return times;
}

async function beside(cluster: Cluster, client: pg.Client, seconds: number): Promise<ToolFigures['browsing']> {
  const alone = await probe(client, seconds);
  const busy = new AbortController();
  const browsers = await Promise.all(Array.from({ length: BROWSERS }, () => connected(cluster)));
  const browsing = browsers.map((one) => browse(one, busy.signal));
  const probed = await probe(client, seconds);
  busy.abort();
  await Promise.all(browsing);
  await Promise.all(browsers.map((one) => one.end()));
  return { alone, beside: probed, ratio: probed / alone };
}

async function probe(client: pg.Client, seconds: number): Promise<number> {
  const times: number[] = [];
  for (const end = performance.now() + seconds * 1_000; performance.now() < end;) {
    const started = performance.now();
    await client.query('SELECT 1');
    times.push(performance.now() - started);
  }
  return quantile(times, 0.95);
}

/** A client that looks around: tables of a schema, columns of one, and a moment of reading. */
async function browse(client: pg.Client, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    const [schema, table] = [draw(), draw()];
    await client.query(
      `SELECT c.oid, c.relname FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace WHERE n.nspname = 'ns${schema}' AND c.relkind = 'r'`,
    );
    await client.query(
      `SELECT a.attname, format_type(a.atttypid, a.atttypmod), a.attnotnull FROM pg_attribute a
       WHERE a.attrelid = 'ns${schema}.t${table}'::regclass AND a.attnum > 0 ORDER BY a.attnum`,
    );
    await new Promise((resolve) => setTimeout(resolve, READING_MS));
  }
}

const draw = (): number => Math.floor(Math.random() * 100);
