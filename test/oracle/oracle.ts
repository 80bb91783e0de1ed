import { randomUUID } from 'node:crypto';
import { globSync, readFileSync } from 'node:fs';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DuckDBInstance } from '@duckdb/node-api';
import type { EngineAnswer } from '#test/slt/engine.ts';
import type { StartedCluster } from '#test/support/cluster.ts';
import { bagDifferences, differences } from '#test/support/compare-rows.ts';
import { refusedFragments } from '#test/support/refused-fragments.ts';
import { functionTableSql, reorderedSql } from './function-table.ts';
import { PlainDuckdb } from './plain-duckdb.ts';
import type { RandomTable } from './random-tables.ts';

/** How a query is forced to run; every one must give the same rows. */
export type Forced = { readonly join: 'auto' | 'broadcast' | 'partitioned'; readonly partitions: number };
export const DISTRIBUTIONS: readonly Forced[] = [
  { join: 'broadcast', partitions: 2 },
  { join: 'partitioned', partitions: 3 },
  { join: 'auto', partitions: 1 },
];

/** A query that once gave other rows; they run first. `tables` makes what it reads besides the fixed tables. */
export type FoundQuery = { readonly sql: string; readonly why: string; readonly tables?: readonly string[] };

export const foundQueries = (): readonly (FoundQuery & { readonly name: string })[] =>
  globSync(join(import.meta.dirname, 'found/*.json'))
    .sort()
    .map((file) => ({ ...(JSON.parse(readFileSync(file, 'utf8')) as FoundQuery), name: file }));

/** How a query ended: `nothing` when no rows could be compared. */
export type Outcome =
  | { readonly kind: 'same' }
  | { readonly kind: 'differs'; readonly difference: string }
  | { readonly kind: 'nothing'; readonly why: Nothing };
/** The share of the questions that may compare nothing. */
export const NOTHING_SHARE_MAX = 0.1;

export type Nothing = 'DuckDB refuses it' | 'no rows' | 'too many rows' | 'DuckDB gives other rows in another order';

/** The schema where DuckDB has the same tables with their rows in the opposite order. */
const BACKWARDS = 'backwards';

/** The fixed tables, the table of functions and random ones in `lake.oracle`, and in plain DuckDB of the same Parquet files. */
export async function openOracle(cluster: StartedCluster, random: readonly RandomTable[] = []): Promise<Oracle> {
  const folder = await mkdtemp(join(tmpdir(), 'skein-oracle-'));
  const tables = await writeTables(folder, random);
  for (const { name, files } of tables) {
    await cluster.load(['parquet', ...files, '--table', `lake.oracle.${name}`, '--create']);
  }
  const duckdb = await PlainDuckdb.open(async (connection) => {
    await connection.run(`CREATE SCHEMA ${BACKWARDS}`);
    for (const { name, files } of tables) {
      const rows = `read_parquet(['${files.join("', '")}'], filename = true, file_row_number = true)`;
      await connection.run(`CREATE VIEW ${name} AS FROM read_parquet(['${files.join("', '")}'])`);
      await connection.run(
        `CREATE TABLE ${BACKWARDS}.${name} AS SELECT * EXCLUDE (filename, file_row_number) FROM ${rows}
         ORDER BY filename DESC, file_row_number DESC`,
      );
    }
    for (const sql of reorderedSql) await connection.run(sql);
  });
  return Oracle.open(cluster, duckdb, folder);
}

type WrittenTable = { readonly name: string; readonly files: readonly string[] };

const FILES = 4;
const FILE_ROWS_MIN = 20;

async function writeTables(folder: string, random: readonly RandomTable[]): Promise<readonly WrittenTable[]> {
  const connection = await (await DuckDBInstance.create(':memory:')).connect();
  try {
    await connection.run(await readFile(join(import.meta.dirname, 'random-tables.sql'), 'utf8'));
    const found = foundQueries().flatMap(({ tables = [] }) => tables);
    const made = new Set([functionTableSql('calls'), ...found, ...random.map((table) => table.sql)]);
    for (const sql of made) await connection.run(sql);
    const listed = await connection.runAndReadAll('SELECT table_name, estimated_size FROM duckdb_tables()');
    const tables = listed.getRows().map(([name, rows]) => {
      const files = Array.from({ length: Number(rows) < FILE_ROWS_MIN ? 1 : FILES }, (_, part) =>
        join(folder, `${String(name)}-${part}.parquet`),
      );
      return { name: String(name), files };
    });
    for (const { name, files } of tables) {
      for (const [part, file] of files.entries()) {
        const rows = `FROM ${name} WHERE rowid % ${files.length} = ${part}`;
        await connection.run(`COPY (${rows}) TO '${file}' (ROW_GROUP_SIZE 2048)`);
      }
    }
    return tables;
  } finally {
    connection.closeSync();
  }
}

type Session = { readonly forced: Forced; readonly id: string };

/** Asks a cluster and plain DuckDB the same. */
export class Oracle implements AsyncDisposable {
  readonly #cluster: StartedCluster;
  readonly #duckdb: PlainDuckdb;
  readonly #folder: string;
  readonly #sessions: readonly Session[];
  readonly #whole: string;
  #refused = 0;

  private constructor(
    cluster: StartedCluster,
    { duckdb, folder }: { readonly duckdb: PlainDuckdb; readonly folder: string },
    { sessions, whole }: { readonly sessions: readonly Session[]; readonly whole: string },
  ) {
    this.#cluster = cluster;
    this.#duckdb = duckdb;
    this.#folder = folder;
    this.#sessions = sessions;
    this.#whole = whole;
  }

  static async open(cluster: StartedCluster, duckdb: PlainDuckdb, folder: string): Promise<Oracle> {
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
    const whole = randomUUID();
    for (const sql of ['USE lake.oracle', "SET skein.distribution = 'single'"])
      await cluster.sql(sql, { sessionId: whole });
    return new Oracle(cluster, { duckdb, folder }, { sessions, whole });
  }

  /** Compares the rows of a query under each of the distributions with DuckDB's. */
  async compare(sql: string, distributions: readonly Forced[] = DISTRIBUTIONS): Promise<Outcome> {
    const count = await this.duckdb(`SELECT count(*) FROM (${sql})`);
    if (count.kind === 'error') return { kind: 'nothing', why: 'DuckDB refuses it' };
    if (Number(count.rows[0]?.[0]) > ROWS_MAX) return { kind: 'nothing', why: 'too many rows' };
    const expected = await this.duckdb(sql);
    if (expected.kind === 'error') return { kind: 'nothing', why: 'DuckDB refuses it' };
    const compareRows = ORDERED.test(sql) ? differences : bagDifferences;
    for (const { forced, id } of this.#sessions.filter((session) => distributions.includes(session.forced))) {
      const answer = await this.#ask(sql, id);
      const difference = answer.kind === 'error' ? answer.message : compareRows(answer.rows, expected.rows);
      if (difference === null) continue;
      if (answer.kind === 'rows' && !(await this.#isOrderFree(sql, expected))) {
        return { kind: 'nothing', why: 'DuckDB gives other rows in another order' };
      }
      return { kind: 'differs', difference: `${forced.join} joins, ${forced.partitions} partitions: ${difference}` };
    }
    return expected.rows.length === 0 ? { kind: 'nothing', why: 'no rows' } : { kind: 'same' };
  }

  /** Plain DuckDB's answer. */
  readonly duckdb = (sql: string): Promise<EngineAnswer> => this.#duckdb.ask(sql);

  /** The cluster's answer, in one fragment on one worker. */
  readonly whole = (sql: string): Promise<EngineAnswer> => this.#ask(sql, this.#whole);

  /** The cluster's answer in fragments, as the first of the distributions has them. */
  readonly distributed = (sql: string): Promise<EngineAnswer> => this.#ask(sql, this.#sessions[0]?.id ?? '');

  /** A query that ran whole because one of its fragments is not bound is answered as an error. */
  async #ask(sql: string, sessionId: string): Promise<EngineAnswer> {
    const error = (message: string): EngineAnswer => ({ kind: 'error', sqlState: null, message });
    const { status, body } = await this.#cluster.query(sql, { sessionId, timeoutMs: QUERY_TIMEOUT_MS });
    const refusedBefore = this.#refused;
    this.#refused = await refusedFragments(this.#cluster);
    if (status !== 200) return error(`${body.error}: ${body.message}`);
    if (this.#refused > refusedBefore && !MAY_RUN_WHOLE.test(sql))
      return error('it ran whole: DuckDB does not bind a fragment, which the log has');
    return { kind: 'rows', columns: body.columns ?? [], rows: body.rows ?? [] };
  }

  async #isOrderFree(sql: string, expected: Extract<EngineAnswer, { kind: 'rows' }>): Promise<boolean> {
    await this.duckdb(`USE memory.${BACKWARDS}`);
    const other = await this.duckdb(sql);
    await this.duckdb('USE memory.main');
    return other.kind === 'rows' && bagDifferences(other.rows, expected.rows) === null;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#duckdb[Symbol.dispose]();
    await rm(this.#folder, { recursive: true, force: true });
    await this.#cluster.stop();
  }
}

/** Fragments with structs whose fields have no names are not all bound yet; their rows are compared all the same. */
const MAY_RUN_WHOLE = /\brow\(/;

const QUERY_TIMEOUT_MS = 60_000;
/** Some random joins give millions of rows: to sort so many texts takes minutes, and shows no more than another query. */
const ROWS_MAX = 200_000;
/** ORDER BY of the whole query; the generators end it in what tells all rows apart, so that there is one order. */
const ORDERED = /\bORDER BY [^()]*$/;
