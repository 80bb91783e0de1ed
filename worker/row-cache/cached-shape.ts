import type { Connection } from '../duckdb/instance.ts';
import { duckdb, word, type Address } from '../duckdb/library.ts';
import { PreparedStatement, Statement } from '../duckdb/statement.ts';

/** The columns of a scan as DuckDB has them. The types are native objects without an owner, freed when the last holder has released them. */
export class CachedShape {
  readonly #columns: readonly { readonly name: string; readonly type: Address }[];
  #holders = 1;

  /** Binds a statement with columns of these names; the caller is the first holder. @throws DuckDB's error */
  constructor(sql: string, names: readonly string[], connection: Connection) {
    using prepared = new PreparedStatement(connection, sql);
    using statement = new Statement(prepared);
    while (statement.step() !== 'ready');
    this.#columns = names.map((name, i) => ({ name, type: duckdb.column_logical_type(statement.result, i) }));
  }

  /** Declares the columns of a table function. */
  declare(info: Address): void {
    for (const { name, type } of this.#columns) duckdb.bind_add_result_column(info, name, type);
  }

  retain(): void {
    this.#holders++;
  }

  release(): void {
    if (--this.#holders > 0) return;
    for (const { type } of this.#columns) duckdb.destroy_logical_type(word(type));
  }
}
