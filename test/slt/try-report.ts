import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DuckDBInstance, type DuckDBConnection } from '@duckdb/node-api';
import { expect } from 'vitest';
import { must } from '#shared/must.ts';
import type { Cluster } from '#test/support/cluster.ts';
import { ClusterEngine } from './cluster-engine.ts';
import type { Report } from './duckdb-reports.ts';
import { DuckdbEngine } from './duckdb-engine.ts';
import type { Engine } from './engine.ts';

/** The rows in some order, or that there was an error. */
type Answer = readonly string[] | 'fails';

async function answer(engine: Engine, sql: string): Promise<Answer> {
  const found = await engine.run(sql);
  return found.kind === 'error' ? 'fails' : found.rows.map((row) => JSON.stringify(row)).toSorted();
}

/** DuckDB's own answers, with all optimizers and with none. Its tables are Parquet files, as those that a worker reads. */
export async function duckdbAnswers(report: Report): Promise<{ readonly alone: Answer; readonly truth: Answer }> {
  const folder = mkdtempSync(join(tmpdir(), 'skein-report-'));
  try {
    const alone = await answerOf(await duckdbWith(report, folder), report.statement);
    const connection = await duckdbWith(report, folder);
    const optimizers = await connection.runAndReadAll("SELECT string_agg(name, ',') FROM duckdb_optimizers()");
    await connection.run(`SET disabled_optimizers = '${String(optimizers.getRows()[0]?.[0])}'`);
    return { alone, truth: await answerOf(connection, report.truth ?? report.statement) };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

async function answerOf(connection: DuckDBConnection, statement: string): Promise<Answer> {
  try {
    return await answer(new DuckdbEngine(connection), statement);
  } finally {
    connection.closeSync();
  }
}

async function duckdbWith({ tables }: Report, folder: string): Promise<DuckDBConnection> {
  const connection = await (await DuckDBInstance.create(':memory:', { threads: '1' })).connect();
  for (const [name, query] of Object.entries(tables)) {
    const path = join(folder, `${name}.parquet`);
    await connection.run(`COPY (${query}) TO '${path}'`);
    await connection.run(`CREATE VIEW ${name} AS SELECT * FROM read_parquet('${path}')`);
  }
  return connection;
}

const WAYS = [
  ['whole', ["SET skein.distribution = 'single'"]],
  ['broadcast', ["SET skein.distribution = 'force'", "SET skein.join_distribution = 'broadcast'"]],
  ['partitioned', ["SET skein.join_distribution = 'partitioned'", 'SET skein.partitions = 3']],
] as const;

/** Runs a report's statement whole and in fragments, and compares with DuckDB without optimizers. */
export async function tryReport(cluster: Cluster, report: Report): Promise<void> {
  const { truth } = await duckdbAnswers(report);
  expect(truth === 'fails').toBe(report.fails === true);
  const engine = new ClusterEngine(cluster, randomUUID());
  await engine.run(`CREATE SCHEMA lake.report_${report.number}`);
  await engine.run(`USE lake.report_${report.number}`);
  for (const [name, query] of Object.entries(report.tables)) {
    expect(await engine.run(`CREATE TABLE ${name} AS ${query}`)).toMatchObject({ kind: 'rows' });
  }
  for (const [way, settings] of WAYS) {
    for (const setting of settings) expect(await engine.run(setting)).toMatchObject({ kind: 'rows' });
    if (report.refused === true) {
      expect(await engine.run(report.statement), way).toMatchObject({
        sqlState: '0A000',
        message: expect.stringMatching(/^NOT_SUPPORTED: .* is wrong in this release of DuckDB: write /) as string,
      });
    }
    const statement = report.refused === true ? must(report.truth, 'what is advised instead') : report.statement;
    expect(await answer(engine, statement), way).toEqual(truth);
  }
  if (report.fails !== true) return;
  expect(await engine.run(report.statement)).toMatchObject({
    sqlState: '0A000',
    message: expect.stringMatching(/^ENGINE_FAULT: .*internal error of DuckDB/) as string,
  });
}
