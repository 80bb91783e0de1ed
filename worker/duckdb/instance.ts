import { SkeinError } from '#shared/error.ts';
import { errorAt } from './error-at.ts';
import { duckdb, word, type Address } from './library.ts';

/** One in-memory DuckDB. Everything opened from it must be disposed first. */
export class Instance implements Disposable {
  readonly #database: BigUint64Array<ArrayBuffer>;
  #withoutViews: Connection | undefined;
  #plain: Connection | undefined;

  private constructor(database: BigUint64Array<ArrayBuffer>) {
    this.#database = database;
  }

  /** @throws DuckDB's error when a setting is not valid. */
  static open(settings: Readonly<Record<string, string>>): Instance {
    const config = word();
    const database = word();
    const failure = word();
    duckdb.create_config(config);
    try {
      for (const [name, value] of Object.entries(settings)) {
        if (duckdb.set_config(config[0] ?? 0n, name, value) !== 0) {
          throw new SkeinError('INTERNAL_ERROR', `DuckDB has no setting ${name}`);
        }
      }
      if (duckdb.open_ext(':memory:', database, config[0] ?? 0n, failure) !== 0) {
        const error = errorAt(failure[0] ?? 0n);
        duckdb.free(failure[0] ?? 0n);
        throw error;
      }
    } finally {
      duckdb.destroy_config(config);
    }
    return new Instance(database);
  }

  connect(): Connection {
    const handle = word();
    if (duckdb.connect(this.#database[0] ?? 0n, handle) !== 0) {
      throw new SkeinError('INTERNAL_ERROR', 'no connection to DuckDB');
    }
    return new Connection(handle);
  }

  /** Arrow options without views, whatever format version is set; the caller destroys them before the instance. */
  arrowWithoutViews(): BigUint64Array<ArrayBuffer> {
    this.#withoutViews ??= this.#set("SET SESSION arrow_output_version = '1.0'");
    return arrowOptions(this.#withoutViews);
  }

  /**
   * Arrow options for clients, with the forms that every Arrow library reads: no views, no small decimals, no types of DuckDB's own. The
   * caller destroys them before the instance.
   */
  plainArrow(): BigUint64Array<ArrayBuffer> {
    this.#plain ??= this.#set(
      "SET SESSION arrow_output_version = '1.0'; SET SESSION arrow_lossless_conversion = false",
    );
    return arrowOptions(this.#plain);
  }

  #set(settings: string): Connection {
    const connection = this.connect();
    connection.run(settings);
    return connection;
  }

  [Symbol.dispose](): void {
    this.#withoutViews?.[Symbol.dispose]();
    this.#plain?.[Symbol.dispose]();
    duckdb.close(this.#database);
  }
}

function arrowOptions({ address }: Connection): BigUint64Array<ArrayBuffer> {
  const options = word();
  duckdb.connection_get_arrow_options(address, options);
  return options;
}

/** One connection, which runs one statement at a time. */
export class Connection implements Disposable {
  readonly #handle: BigUint64Array<ArrayBuffer>;

  constructor(handle: BigUint64Array<ArrayBuffer>) {
    this.#handle = handle;
  }

  /** The handle, for this folder and for `interrupt`, which any thread may call while the connection is open. */
  get address(): Address {
    return this.#handle[0] ?? 0n;
  }

  /** Runs statements to their end and drops their rows; used for settings and temporary tables. */
  run(sql: string): void {
    const result = new BigUint64Array(6);
    try {
      if (duckdb.query(this.address, cString(sql), result) !== 0) throw errorAt(duckdb.result_error(result));
    } finally {
      duckdb.destroy_result(result);
    }
  }

  /** Runs a statement and returns its first row; columns must be whole numbers below 2^53, and NULL is read as 0. */
  readNumbers(sql: string): number[] {
    const result = new BigUint64Array(6);
    try {
      if (duckdb.query(this.address, cString(sql), result) !== 0) throw errorAt(duckdb.result_error(result));
      const columns = Number(duckdb.column_count(result));
      return Array.from({ length: columns }, (_, column) => Number(duckdb.value_int64(result, column, 0)));
    } finally {
      duckdb.destroy_result(result);
    }
  }

  [Symbol.dispose](): void {
    duckdb.disconnect(this.#handle);
  }
}

/** Interrupts the statement that runs on a connection of any thread: it fails with QUERY_CANCELLED within milliseconds. */
export const interruptConnection = (address: Address): void => duckdb.interrupt(address);

export const duckDbVersion = (): string => duckdb.library_version();

/** Checks a text for C: it ends at the first NUL there, so anything behind one would be dropped silently. */
export function cString(text: string): string {
  if (text.includes('\0')) throw new SkeinError('INVALID_REQUEST', 'a statement may not hold a NUL character');
  return text;
}
