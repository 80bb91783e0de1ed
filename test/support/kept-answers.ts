import { createHash } from 'node:crypto';
import { mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { DuckDBConnection } from '@duckdb/node-api';
import duckdb from '@duckdb/node-api/package.json' with { type: 'json' };
import { parseJson, printJson, type Json } from '#shared/json.ts';
import { DuckdbEngine } from '#test/slt/duckdb-engine.ts';
import { projectRoot } from './cluster.ts';

export type Rows = readonly (readonly Json[])[];

const FOLDER = join(projectRoot, '.cache/answers');

/**
 * A cache of plain DuckDB's answers over data that is identified by its hash. Each is computed once and kept in `.cache/answers` for all
 * runs over the same data with the same release of DuckDB.
 */
export class KeptAnswers {
  readonly #folder: string;
  readonly #open: () => Promise<DuckDBConnection>;
  #connection: Promise<DuckDBConnection> | undefined;
  /** A connection runs one statement at a time. */
  #last: Promise<unknown> = Promise.resolve();

  /** `open` is called when an answer is missing; the connection is closed with `close`. */
  constructor(dataHash: string, open: () => Promise<DuckDBConnection>) {
    this.#folder = join(FOLDER, digest(`${dataHash} ${duckdb.version}`));
    this.#open = open;
  }

  /** @throws what DuckDB says */
  async rows(sql: string): Promise<Rows> {
    const file = join(this.#folder, `${digest(sql)}.json`);
    const kept = await readFile(file, 'utf8').catch(() => undefined);
    if (kept !== undefined) return parseJson(kept) as Rows;
    this.#connection ??= this.#open();
    const connection = await this.#connection;
    const asked = this.#last.then(() => new DuckdbEngine(connection).run(sql));
    this.#last = asked;
    const answer = await asked;
    if (answer.kind === 'error') throw new Error(answer.message);
    await mkdir(this.#folder, { recursive: true });
    const whole = `${file}.${process.pid}`;
    await writeFile(whole, printJson(answer.rows));
    await rename(whole, file);
    return answer.rows;
  }

  async close(): Promise<void> {
    (await this.#connection)?.closeSync();
  }
}

export const digest = (text: string | Uint8Array): string =>
  createHash('sha256').update(text).digest('hex').slice(0, 32);
