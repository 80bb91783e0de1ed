import { randomUUID } from 'node:crypto';
import { globSync, readFileSync } from 'node:fs';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DuckDBInstance, type DuckDBConnection } from '@duckdb/node-api';
import { printJson, type Json } from '#shared/json.ts';
import { DuckdbEngine } from '#test/slt/duckdb-engine.ts';
import type { EngineAnswer } from '#test/slt/engine.ts';
import type { StartedCluster } from '#test/support/cluster.ts';
import { refusedFragments } from '#test/support/refused-fragments.ts';

/** How a query is forced to run; every one must give the same rows. */
export type Forced = { readonly join: 'auto' | 'broadcast' | 'partitioned'; readonly partitions: number };
export const DISTRIBUTIONS: readonly Forced[] = [
  { join: 'broadcast', partitions: 2 },
  { join: 'partitioned', partitions: 3 },
  { join: 'auto', partitions: 1 },
];

/** A query that once gave other rows; they run first. */
export type FoundQuery = { readonly sql: string; readonly why: string };

export const foundQueries = (): readonly (FoundQuery & { readonly name: string })[] =>
  globSync(join(import.meta.dirname, 'found/*.json'))
    .sort()
    .map((file) => ({ ...(JSON.parse(readFileSync(file, 'utf8')) as FoundQuery), name: file }));

/** The random tables in plain DuckDB, and in `lake.oracle` in several files each. */
export async function openOracle(cluster: StartedCluster): Promise<Oracle> {
  const duckdb = await (await DuckDBInstance.create(':memory:', { threads: '2', memory_limit: '4GB' })).connect();
  await duckdb.run(await readFile(join(import.meta.dirname, 'random-tables.sql'), 'utf8'));
  const folder = await mkdtemp(join(tmpdir(), 'skein-oracle-'));
  try {
    const tables = await duckdb.runAndReadAll('SELECT table_name, estimated_size FROM duckdb_tables()');
    for (const [name, size] of tables.getRows()) await loadTable(duckdb, cluster, folder, [String(name), Number(size)]);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
  return Oracle.open(cluster, duckdb);
}

const FILES = 4;
const FILE_ROWS_MIN = 20;

async function loadTable(
  duckdb: DuckDBConnection,
  cluster: StartedCluster,
  folder: string,
  [name, rows]: readonly [string, number],
): Promise<void> {
  const files = rows < FILE_ROWS_MIN ? 1 : FILES;
  for (let part = 0; part < files; part++) {
    const file = join(folder, `${name}-${part}.parquet`);
    await duckdb.run(`COPY (FROM ${name} WHERE rowid % ${files} = ${part}) TO '${file}' (ROW_GROUP_SIZE 2048)`);
    const create = part === 0 ? ['--create'] : [];
    await cluster.load(['parquet', file, '--table', `lake.oracle.${name}`, ...create]);
  }
}

type Session = { readonly forced: Forced; readonly id: string };

/** Asks a cluster and plain DuckDB the same. */
export class Oracle implements AsyncDisposable {
  readonly #cluster: StartedCluster;
  readonly #duckdb: DuckDBConnection;
  readonly #sessions: readonly Session[];

  private constructor(cluster: StartedCluster, duckdb: DuckDBConnection, sessions: readonly Session[]) {
    this.#cluster = cluster;
    this.#duckdb = duckdb;
    this.#sessions = sessions;
  }

  static async open(cluster: StartedCluster, duckdb: DuckDBConnection): Promise<Oracle> {
    const sessions = DISTRIBUTIONS.map((forced) => ({ forced, id: randomUUID() }));
    for (const { forced, id } of sessions) {
      const statements = [
        'USE lake.oracle',
        "SET skein.distribution = 'force'",
        `SET skein.join_distribution = '${forced.join}'`,
        `SET skein.partitions = ${forced.partitions}`,
      ];
      for (const sql of statements) await cluster.sql(sql, { sessionId: id });
    }
    return new Oracle(cluster, duckdb, sessions);
  }

  /** What differs under any of the distributions, or a fragment that DuckDB does not bind, as text; null when nothing does, or when the query is none for DuckDB: refused, long, of very many rows. */
  async difference(sql: string, distributions: readonly Forced[] = DISTRIBUTIONS): Promise<string | null> {
    const count = await this.#askDuckdb(`SELECT count(*) FROM (${sql})`);
    if (count.kind === 'error' || Number(count.rows[0]?.[0]) > ROWS_MAX) return null;
    const expected = await this.#askDuckdb(sql);
    if (expected.kind === 'error') return null;
    const isOrdered = ORDERED.test(sql);
    const wanted = comparable(expected.rows, isOrdered);
    const refusedBefore = await refusedFragments(this.#cluster);
    for (const { forced, id } of this.#sessions.filter((session) => distributions.includes(session.forced))) {
      const { status, body } = await this.#cluster.query(sql, { sessionId: id, timeoutMs: QUERY_TIMEOUT_MS });
      const how = `${forced.join} joins, ${forced.partitions} partitions`;
      if (status !== 200) return `${how}: ${body.error}: ${body.message}`;
      const difference = compare(comparable(body.rows ?? [], isOrdered), wanted);
      if (difference !== null) return `${how}: ${difference}`;
    }
    const refused = (await refusedFragments(this.#cluster)) - refusedBefore;
    return refused === 0
      ? null
      : 'it ran whole, because DuckDB does not bind one of its fragments: the log has the SQL';
  }

  async #askDuckdb(sql: string): Promise<EngineAnswer> {
    const timer = setTimeout(() => this.#duckdb.interrupt(), DUCKDB_TIMEOUT_MS);
    try {
      return await new DuckdbEngine(this.#duckdb).run(sql);
    } finally {
      clearTimeout(timer);
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#duckdb.closeSync();
    await this.#cluster.stop();
  }
}

const QUERY_TIMEOUT_MS = 60_000;
/** Some random joins give millions of rows: to sort so many texts takes minutes, and shows no more than another query. */
const ROWS_MAX = 200_000;
/** The same of those that take DuckDB so long. */
const DUCKDB_TIMEOUT_MS = 5_000;

/** ORDER BY of the whole query; the generator's name all columns, so that there is one order. */
const ORDERED = /\bORDER BY [^()]*$/;

function comparable(rows: readonly (readonly Json[])[], isOrdered: boolean): readonly string[] {
  const texts = rows.map((row) => printJson(row));
  return isOrdered ? texts : texts.sort();
}

function compare(actual: readonly string[], expected: readonly string[]): string | null {
  const at = expected.findIndex((row, i) => row !== actual[i]);
  if (actual.length === expected.length && at < 0) return null;
  const first = at < 0 ? expected.length : at;
  return `${actual.length} rows, expected ${expected.length}; row ${first}: ${actual[first]} expected ${expected[first]}`;
}
