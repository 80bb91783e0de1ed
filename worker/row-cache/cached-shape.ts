import { ArrowForm, isView } from '../duckdb/arrow-out.ts';
import type { ArrowField } from '../duckdb/arrow-schema.ts';
import type { Connection, Instance } from '../duckdb/instance.ts';
import { duckdb, word, type Address } from '../duckdb/library.ts';
import { PreparedStatement, Statement } from '../duckdb/statement.ts';

/** The columns of a scan as DuckDB has them. The types are native objects without an owner, freed when the last holder has released them. */
export class CachedShape {
  /** The Arrow form of each column, which depends on nothing but its type. */
  readonly fields: readonly ArrowField[];
  /** The columns that need the form without views, in which decimals take twice the memory. */
  readonly inViews: ReadonlySet<number>;
  readonly #types: readonly Address[];
  #holders = 1;

  /** Binds a statement; the caller is the first holder. @throws DuckDB's error */
  constructor(sql: string, { connection, instance }: { readonly connection: Connection; readonly instance: Instance }) {
    using prepared = new PreparedStatement(connection, sql);
    using statement = new Statement(prepared);
    while (statement.step() !== 'ready');
    using form = formOf(statement, instance, false);
    using withoutViews = formOf(statement, instance, true);
    this.inViews = new Set([...form.fields.keys()].filter((i) => form.fields.slice(i, i + 1).some(isView)));
    this.fields = form.fields.map((field, i) => (this.inViews.has(i) ? (withoutViews.fields[i] ?? field) : field));
    this.#types = form.fields.map((_, i) => duckdb.column_logical_type(statement.result, i));
  }

  /** Declares the columns of a table function. */
  declare(info: Address): void {
    this.fields.forEach(({ name }, i) => duckdb.bind_add_result_column(info, name, this.#types[i] ?? 0n));
  }

  retain(): void {
    this.#holders++;
  }

  release(): void {
    if (--this.#holders > 0) return;
    for (const type of this.#types) duckdb.destroy_logical_type(word(type));
  }
}

/** The form of a result whose columns are all `inViews` of a shape, or none of them is. */
export const formOf = ({ result }: Statement, instance: Instance, withoutViews: boolean): ArrowForm =>
  new ArrowForm(result, withoutViews ? instance.arrowWithoutViews() : word(duckdb.result_get_arrow_options(result)));
