import { SkeinError } from '#shared/error.ts';
import type { OpenInput, TableInput } from './arrow-in.ts';
import type { Connection } from './instance.ts';
import { duckdb, word, type Address } from './library.ts';
import { registerCallback } from './memory.ts';
import { LATE_FALSE } from './statement.ts';

/** The table function of an input, and the temporary table when it has one. */
export const inputName = (index: number): string => `skein_input_${index}`;

/** A call of that function in a text that is prepared and run once. */
export const inputCall = (index: number): string => `${inputName(index)}(${LATE} = ${LATE_FALSE})`;

/** A parameter without a meaning, for `LATE_FALSE`. */
const LATE = 'late';
const BOOLEAN = 1;

/** A function's current input, and the open scans of statements that read it. */
type Source = { input: TableInput | undefined; readonly scans: Set<Address> };

/**
 * The native callbacks of the input functions, shared by all instances of a thread: callbacks are scarce, and live as long as the thread.
 * DuckDB holds a number for each function or scan, which is looked up here, instead of an address.
 */
export class InputCallbacks {
  readonly #sources = new Map<Address, Source>();
  readonly #scans = new Map<Address, OpenInput>();
  #numbers = 0n;
  readonly bind = registerCallback((info) => {
    try {
      this.#input(duckdb.bind_get_extra_info(info)).input.bind(info);
    } catch (error) {
      duckdb.bind_set_error(info, SkeinError.of(error).message);
    }
  }, 1);
  readonly init = registerCallback((info) => {
    try {
      const columns = Array.from({ length: Number(duckdb.init_get_column_count(info)) }, (_, i) =>
        Number(duckdb.init_get_column_index(info, i)),
      );
      const { source, input } = this.#input(duckdb.init_get_extra_info(info));
      const scan = ++this.#numbers;
      this.#scans.set(scan, input.open(columns));
      source.scans.add(scan);
      duckdb.init_set_init_data(info, scan, null);
      duckdb.init_set_max_threads(info, 1);
    } catch (error) {
      duckdb.init_set_error(info, SkeinError.of(error).message);
    }
  }, 1);
  readonly read = registerCallback((info, output) => {
    try {
      const scan = this.#scans.get(duckdb.function_get_init_data(info));
      if (scan === undefined) duckdb.data_chunk_set_size(output, 0);
      else scan.read(output);
    } catch (error) {
      duckdb.function_set_error(info, SkeinError.of(error).message);
    }
  }, 2);

  add(source: Source): Address {
    this.#sources.set(++this.#numbers, source);
    return this.#numbers;
  }

  remove(id: Address): void {
    this.clear(this.#sources.get(id));
    this.#sources.delete(id);
  }

  /** Drops the input; no statement may read it any more. */
  clear(source: Source | undefined): void {
    if (source === undefined) return;
    for (const scan of source.scans) this.#scans.delete(scan);
    source.scans.clear();
    source.input = undefined;
  }

  #input(id: Address): { readonly source: Source; readonly input: TableInput } {
    const source = this.#sources.get(id);
    if (source?.input === undefined) throw new SkeinError('NOT_SUPPORTED', 'the task has no such input');
    return { source, input: source.input };
  }
}

/**
 * Table functions of one instance that return the rows of Arrow inputs without copying them: their chunks refer to the batches' memory.
 * A registered function cannot be removed, so each is registered once and looks up its current input when a statement binds it.
 * DuckDB calls back in this thread, so the instance must use a single thread while such a statement runs.
 */
export class InputFunctions implements Disposable {
  readonly #connection: Connection;
  readonly #callbacks: InputCallbacks;
  readonly #functions: { readonly id: Address; readonly source: Source }[] = [];

  constructor(connection: Connection, callbacks: InputCallbacks) {
    this.#connection = connection;
    this.#callbacks = callbacks;
  }

  /** Sets the input of the function `inputName(index)`; it must outlive the statements that read it. */
  set(index: number, input: TableInput): void {
    for (let i = this.#functions.length; i <= index; i++) this.#functions.push(this.#register(inputName(i)));
    const source = this.#functions[index]?.source;
    if (source !== undefined) source.input = input;
  }

  clear(): void {
    for (const { source } of this.#functions) this.#callbacks.clear(source);
  }

  #register(name: string): { readonly id: Address; readonly source: Source } {
    const source: Source = { input: undefined, scans: new Set() };
    const id = this.#callbacks.add(source);
    const fn = word(duckdb.create_table_function());
    const handle = fn[0] ?? 0n;
    duckdb.table_function_set_name(handle, name);
    const type = word(duckdb.create_logical_type(BOOLEAN));
    duckdb.table_function_add_named_parameter(handle, LATE, type[0] ?? 0n);
    duckdb.destroy_logical_type(type);
    duckdb.table_function_set_extra_info(handle, id, null);
    duckdb.table_function_set_bind(handle, this.#callbacks.bind);
    duckdb.table_function_set_init(handle, this.#callbacks.init);
    duckdb.table_function_set_function(handle, this.#callbacks.read);
    duckdb.table_function_supports_projection_pushdown(handle, true);
    const failed = duckdb.register_table_function(this.#connection.address, handle) !== 0;
    duckdb.destroy_table_function(fn);
    if (failed) throw new SkeinError('INTERNAL_ERROR', `the input ${name} cannot be registered`);
    return { id, source };
  }

  [Symbol.dispose](): void {
    for (const { id } of this.#functions) this.#callbacks.remove(id);
  }
}
