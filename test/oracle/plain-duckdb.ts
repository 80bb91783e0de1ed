import { DuckDBInstance, type DuckDBConnection } from '@duckdb/node-api';
import { DuckdbEngine } from '#test/slt/duckdb-engine.ts';
import type { EngineAnswer } from '#test/slt/engine.ts';

/** An error of DuckDB's own after which the instance answers nothing any more. */
const BROKEN = /^(?:INTERNAL|FATAL) Error/;
const TEXT_TYPES = /GEOMETRY|VARIANT/g;
const MENTIONED = /GEOMETRY|VARIANT/i;
const TIMEOUT_MS = 5_000;

/** A DuckDB in memory that `setup` fills, and fills again when a statement has broken it: some do. */
export class PlainDuckdb implements Disposable {
  readonly #setup: (connection: DuckDBConnection) => Promise<void>;
  #connection: DuckDBConnection;

  private constructor(connection: DuckDBConnection, setup: (connection: DuckDBConnection) => Promise<void>) {
    this.#connection = connection;
    this.#setup = setup;
  }

  static async open(setup: (connection: DuckDBConnection) => Promise<void>): Promise<PlainDuckdb> {
    return new PlainDuckdb(await openDuckdb(setup), setup);
  }

  /** Its rows; an error, too, when it takes longer than five seconds. */
  async ask(sql: string): Promise<EngineAnswer> {
    const timer = setTimeout(() => this.#connection.interrupt(), TIMEOUT_MS);
    try {
      const answer = await this.#run(sql);
      if (answer.kind === 'error' && BROKEN.test(answer.message)) await this.#reopen();
      return answer;
    } finally {
      clearTimeout(timer);
    }
  }

  /** The library has forms of its own for two types, of which a client of Skein gets the text. */
  async #run(sql: string): Promise<EngineAnswer> {
    const engine = new DuckdbEngine(this.#connection);
    const answer = await engine.run(sql);
    if (answer.kind === 'error' || !MENTIONED.test(sql)) return answer;
    const types = await engine.run(`DESCRIBE ${sql}`);
    if (types.kind === 'error') return answer;
    const columns = types.rows.map(([, type], at) => {
      if (typeof type !== 'string') throw new Error('DESCRIBE gives a type for each column');
      const shown = type.replaceAll(TEXT_TYPES, 'VARCHAR');
      return shown === type ? `#${at + 1}` : `#${at + 1}::${shown}`;
    });
    return engine.run(`SELECT ${columns.join(', ')} FROM (${sql})`);
  }

  async #reopen(): Promise<void> {
    this.#connection.closeSync();
    this.#connection = await openDuckdb(this.#setup);
  }

  [Symbol.dispose](): void {
    this.#connection.closeSync();
  }
}

async function openDuckdb(setup: (connection: DuckDBConnection) => Promise<void>): Promise<DuckDBConnection> {
  const connection = await (await DuckDBInstance.create(':memory:', { threads: '2', memory_limit: '4GB' })).connect();
  await connection.run("SET TimeZone = 'UTC'");
  await setup(connection);
  return connection;
}
