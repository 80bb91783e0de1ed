import { randomUUID } from 'node:crypto';
import { globSync, readFileSync } from 'node:fs';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DuckDBInstance } from '@duckdb/node-api';
import type { EngineAnswer } from '#test/slt/engine.ts';
import type { StartedCluster } from '#test/support/cluster.ts';
import { python } from '#test/support/python.ts';
import { bagDifferences, differences } from '#test/support/compare-rows.ts';
import { refusedFragments } from '#test/support/refused-fragments.ts';
import { functionTableSql, reorderedSql } from './function-table.ts';
import { DUCKDB_CRASHED, PlainDuckdb } from './plain-duckdb.ts';
import type { RandomTable } from './random-tables.ts';

/** A forced distribution; the query must give the same rows under each. */
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

/** The outcome of a query; `nothing` means that no rows could be compared. */
export type Outcome =
  | { readonly kind: 'same' }
  | { readonly kind: 'differs'; readonly difference: string }
  | { readonly kind: 'nothing'; readonly why: Nothing };
/** The share of the questions that may compare nothing. */
export const NOTHING_SHARE_MAX = 0.1;

export type Nothing =
  | 'DuckDB refuses it'
  | 'DuckDB crashes at it'
  | 'no rows'
  | 'too large an answer'
  | 'DuckDB gives other rows in another order or from other files';

/** Schemas where DuckDB has the same tables with their rows in other orders. */
const ORDERS = {
  backwards: 'filename DESC, file_row_number DESC',
  mixed: 'hash(filename, file_row_number)',
  mixed_again: 'hash(file_row_number, filename)',
} as const;
/**
 * A schema where each table is one file. DuckDB computes some functions over a whole dictionary of a column, also within TRY, which then gives
 * NULL for every row when one value of the dictionary fails.
 */
const ONE_FILE = 'one_file';
const OTHERS = [...Object.keys(ORDERS), ONE_FILE];

/** The fixed tables, the table of functions and random ones in `lake.oracle`, and in plain DuckDB of the same Parquet files. */
export async function openOracle(cluster: StartedCluster, random: readonly RandomTable[] = []): Promise<Oracle> {
  const folder = await mkdtemp(join(tmpdir(), 'skein-oracle-'));
  const tables = await writeTables(folder, random);
  const foreign = new Set(random.filter(({ isForeign }) => isForeign).map(({ name }) => name));
  for (const { name, files } of tables) {
    if (!foreign.has(name)) await cluster.load(['parquet', ...files, '--table', `lake.oracle.${name}`, '--create']);
  }
  const left = tables.filter(({ name }) => foreign.has(name)).map(({ name, files }) => [name, files] as const);
  const written = JSON.stringify(Object.fromEntries(left));
  await python('test/oracle/foreign_tables.py', cluster.catalogUrl, await cluster.token(), written);
  const duckdb = await PlainDuckdb.open([
    ...OTHERS.map((schema) => `CREATE SCHEMA ${schema}`),
    ...tables.flatMap(({ name, files, oneFile, columns }) => [
      `CREATE VIEW ${ONE_FILE}.${name} AS FROM read_parquet('${oneFile}')`,
      `CREATE VIEW ${name} AS ${plainText(columns, files)}`,
      ...Object.entries(ORDERS).map(
        ([schema, order]) => `CREATE TABLE ${schema}.${name} AS SELECT * EXCLUDE (filename, file_row_number)
          FROM read_parquet(['${files.join("', '")}'], filename = true, file_row_number = true) ORDER BY ${order}`,
      ),
    ]),
    ...reorderedSql,
  ]);
  return Oracle.open(cluster, duckdb, folder);
}

/** `files` are what is loaded, `oneFile` has the same rows. */
type WrittenTable = {
  readonly name: string;
  readonly files: readonly string[];
  readonly oneFile: string;
  readonly columns: readonly string[];
};

/** Reads files in DuckDB without their statistics, by which it would answer wrongly (`worker/scan/misleading-columns.ts`). */
const plainText = (columns: readonly string[], files: readonly string[]): string =>
  `SELECT ${columns.map((name) => `TRY("${name}") AS "${name}"`).join(', ')} FROM read_parquet(['${files.join("', '")}'])`;

const FILES = 4;
const FILE_ROWS_MIN = 20;

async function writeTables(folder: string, random: readonly RandomTable[]): Promise<readonly WrittenTable[]> {
  const connection = await (await DuckDBInstance.create(':memory:')).connect();
  try {
    await connection.run(await readFile(join(import.meta.dirname, 'random-tables.sql'), 'utf8'));
    const found = foundQueries().flatMap(({ tables = [] }) => tables);
    const made = new Set([functionTableSql('calls'), ...found, ...random.map((table) => table.sql)]);
    for (const sql of made) await connection.run(sql);
    const listed = await connection.runAndReadAll(
      `SELECT table_name, estimated_size, list(column_name ORDER BY column_index) FROM duckdb_tables() JOIN duckdb_columns()
        USING (table_name) GROUP BY ALL`,
    );
    const listedTables = listed.getRowsJson() as [string, string, string[]][];
    const tables = listedTables.map(([name, rows, columns]) => {
      const files = Array.from({ length: Number(rows) < FILE_ROWS_MIN ? 1 : FILES }, (_, part) =>
        join(folder, `${name}-${part}.parquet`),
      );
      const oneFile = join(folder, `${name}-all.parquet`);
      return { name, files, oneFile, columns };
    });
    for (const { name, files, oneFile } of tables) {
      await connection.run(`COPY ${name} TO '${oneFile}'`);
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

/** Sends the same statements to a cluster and to plain DuckDB. */
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

  /**
   * Compares the rows of a query under each of the distributions, which run at the same time, with DuckDB's. When DuckDB gives none, the
   * cluster is asked as well, unless `asksEmpty` is false.
   */
  async compare(
    sql: string,
    distributions: readonly Forced[] = DISTRIBUTIONS,
    { asksEmpty = true } = {},
  ): Promise<Outcome> {
    const expected = await this.#duckdb.ask(sql, { rowsMax: ROWS_MAX + 1 });
    if (expected.kind === 'error') {
      return {
        kind: 'nothing',
        why: expected.message === DUCKDB_CRASHED ? 'DuckDB crashes at it' : 'DuckDB refuses it',
      };
    }
    if (expected.rows.length > ROWS_MAX || JSON.stringify(expected.rows).length > TEXT_MAX) {
      return { kind: 'nothing', why: 'too large an answer' };
    }
    if (expected.rows.length === 0 && !asksEmpty) return { kind: 'nothing', why: 'no rows' };
    const compareRows = ORDERED.test(sql) ? differences : bagDifferences;
    const sessions = this.#sessions.filter((session) => distributions.includes(session.forced));
    const answers = await Promise.all(
      sessions.map(async ({ forced, id }) => ({ forced, ...(await this.#ask(sql, id)) })),
    );
    const refused = await this.#newlyRefused();
    if (refused > 0) return { kind: 'differs', difference: `${refused} times it ran whole: ${UNBOUND}` };
    for (const { forced, ...answer } of answers) {
      const difference = answer.kind === 'error' ? answer.message : compareRows(answer.rows, expected.rows);
      if (difference === null) continue;
      if (answer.kind === 'rows' && !(await this.#isOrderFree(sql, expected))) {
        return { kind: 'nothing', why: 'DuckDB gives other rows in another order or from other files' };
      }
      return { kind: 'differs', difference: `${forced.join} joins, ${forced.partitions} partitions: ${difference}` };
    }
    return expected.rows.length === 0 ? { kind: 'nothing', why: 'no rows' } : { kind: 'same' };
  }

  /** Plain DuckDB's answer. */
  readonly duckdb = (sql: string): Promise<EngineAnswer> => this.#duckdb.ask(sql);

  /** The cluster's answer, in one fragment on one worker. */
  readonly whole = (sql: string): Promise<EngineAnswer> => this.#ask(sql, this.#whole);

  /** The cluster's answer in fragments, as the first of the distributions has them; an error when DuckDB does not bind one of them. */
  readonly distributed = async (sql: string): Promise<EngineAnswer> => {
    const answer = await this.#ask(sql, this.#sessions[0]?.id ?? '');
    const refused = await this.#newlyRefused();
    if (answer.kind === 'error' || refused === 0) return answer;
    return { kind: 'error', sqlState: null, message: `it ran whole: ${UNBOUND}` };
  };

  async #ask(sql: string, sessionId: string): Promise<EngineAnswer> {
    const { status, body } = await this.#cluster.query(sql, { sessionId, timeoutMs: QUERY_TIMEOUT_MS });
    if (status !== 200) return { kind: 'error', sqlState: null, message: `${body.error}: ${body.message}` };
    return { kind: 'rows', columns: body.columns ?? [], rows: body.rows ?? [] };
  }

  /** Queries that have run whole since the last call because DuckDB did not bind one of their fragments. */
  async #newlyRefused(): Promise<number> {
    const before = this.#refused;
    this.#refused = await refusedFragments(this.#cluster);
    return this.#refused - before;
  }

  async #isOrderFree(sql: string, expected: Extract<EngineAnswer, { kind: 'rows' }>): Promise<boolean> {
    // Elsewhere than in TRY one file answers otherwise only because its statistics mislead DuckDB.
    const schemas = sql.includes('TRY(') ? OTHERS : Object.keys(ORDERS);
    for (const schema of schemas) {
      const other = await this.#duckdb.ask(sql, { schema: `memory.${schema}` });
      if (other.kind === 'error' || bagDifferences(other.rows, expected.rows) !== null) return false;
    }
    return true;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#duckdb[Symbol.asyncDispose]();
    await rm(this.#folder, { recursive: true, force: true });
    await this.#cluster.stop();
  }
}

const UNBOUND = 'DuckDB does not bind a fragment, which the log has';
const QUERY_TIMEOUT_MS = 60_000;
/** Some random joins give millions of rows. Sorting their texts would take minutes and find no more than another query. */
const ROWS_MAX = 200_000;
/** A running string_agg over thousands of rows has an answer that is larger than the memory of a query of the cluster. */
const TEXT_MAX = 32 * 2 ** 20;
/** ORDER BY of the whole query; the generators end it with keys that are unique, so that there is one order. */
const ORDERED = /\bORDER BY [^()]*$/;
