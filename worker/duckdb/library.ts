import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { koffi } from '#shared/native/koffi.ts';
import { trimAllocator } from '#shared/thread/idle-memory.ts';

/** An address in this process: a handle of DuckDB's or a piece of its memory. Handles may be used from any thread. */
export type Address = bigint;
/** `duckdb_result`: six words, passed by value. */
export type ResultWords = BigUint64Array<ArrayBuffer>;
/** Receives a pointer: one word. */
export type Out = BigUint64Array<ArrayBuffer>;
/** Memory that a C function reads or writes: a JavaScript array that lives during the call, or an address. */
export type Memory = Address | Uint8Array | BigUint64Array | null;

/**
 * The part of DuckDB's C API (duckdb.h of 1.5) that a worker uses; function names lack the prefix `duckdb_`. Error texts are returned as
 * addresses for `errorAt`, which limits their length, because a client can make them arbitrarily long.
 */
export type Library = {
  readonly library_version: () => string;
  readonly create_config: (out: Out) => number;
  readonly set_config: (config: Address, name: string, value: string) => number;
  readonly destroy_config: (config: Out) => void;
  readonly open_ext: (path: string, out: Out, config: Address, error: Out) => number;
  readonly close: (database: Out) => void;
  readonly connect: (database: Address, out: Out) => number;
  readonly disconnect: (connection: Out) => void;
  readonly interrupt: (connection: Address) => void;
  readonly free: (pointer: Address) => void;
  readonly query: (connection: Address, sql: string, result: ResultWords) => number;
  readonly result_error: (result: ResultWords) => Address | null;
  readonly destroy_result: (result: ResultWords) => void;
  readonly value_int64: (result: ResultWords, column: number, row: number) => number | bigint;
  readonly column_count: (result: ResultWords) => number | bigint;
  readonly column_name: (result: ResultWords, column: number) => string;
  readonly column_logical_type: (result: ResultWords, column: number) => Address;
  readonly destroy_logical_type: (type: Out) => void;
  readonly prepare: (connection: Address, sql: string, out: Out) => number;
  readonly prepare_error: (statement: Address) => Address | null;
  /** A number of `duckdb_statement_type`. */
  readonly nparams: (prepared: Address) => number | bigint;
  readonly bind_parameter_index: (prepared: Address, out: Out, name: string) => number;
  readonly bind_boolean: (prepared: Address, index: bigint, value: boolean) => number;
  readonly prepared_statement_type: (statement: Address) => number;
  readonly destroy_prepare: (statement: Out) => void;
  readonly pending_prepared: (statement: Address, out: Out) => number;
  readonly pending_prepared_streaming: (statement: Address, out: Out) => number;
  readonly pending_execute_task: (pending: Address) => number;
  readonly pending_error: (pending: Address) => Address | null;
  readonly pending_execution_is_finished: (state: number) => boolean;
  readonly destroy_pending: (pending: Out) => void;
  readonly execute_pending: (pending: Address, result: ResultWords) => number;
  readonly fetch_chunk: (result: { readonly words: ResultWords }) => Address;
  readonly destroy_data_chunk: (chunk: Out) => void;
  readonly data_chunk_get_size: (chunk: Address) => number | bigint;
  readonly data_chunk_set_size: (chunk: Address, size: number) => void;
  readonly data_chunk_get_vector: (chunk: Address, column: number) => Address;
  readonly data_chunk_get_column_count: (chunk: Address) => number | bigint;
  /** Null when there is no memory. It belongs to no instance. */
  readonly create_vector: (type: Address, capacity: number) => Address | null;
  readonly destroy_vector: (vector: Out) => void;
  readonly vector_get_column_type: (vector: Address) => Address;
  readonly list_vector_get_child: (vector: Address) => Address;
  readonly list_vector_get_size: (vector: Address) => number | bigint;
  readonly struct_vector_get_child: (vector: Address, index: number) => Address;
  readonly vector_reference_vector: (target: Address, source: Address) => void;
  readonly vector_get_data: (vector: Address) => Address;
  /** Null when no row is NULL. */
  readonly vector_get_validity: (vector: Address) => Address | null;
  /** Copies the rows `selection[from..to)` behind the first `at` of `target`. */
  readonly vector_copy_sel: (
    source: Address,
    target: Address,
    selection: Address,
    to: number,
    from: number,
    at: number,
  ) => void;
  readonly create_selection_vector: (rows: number) => Address;
  readonly destroy_selection_vector: (selection: Address) => void;
  readonly selection_vector_get_data_ptr: (selection: Address) => Address;
  readonly get_type_id: (type: Address) => number;
  readonly decimal_internal_type: (type: Address) => number;
  readonly struct_type_child_count: (type: Address) => number | bigint;
  readonly create_logical_type: (id: number) => Address;
  readonly create_data_chunk: (types: Memory, columns: number) => Address;
  readonly data_chunk_reset: (chunk: Address) => void;
  readonly result_get_arrow_options: (result: ResultWords) => Address;
  readonly connection_get_arrow_options: (connection: Address, out: Out) => void;
  readonly destroy_arrow_options: (options: Out) => void;
  readonly to_arrow_schema: (
    options: Address,
    types: Memory,
    names: Memory,
    columns: number,
    schema: Memory,
  ) => Address;
  readonly data_chunk_to_arrow: (options: Address, chunk: Address, array: Memory) => Address;
  readonly schema_from_arrow: (connection: Address, schema: Memory, out: Out) => Address;
  readonly data_chunk_from_arrow: (connection: Address, array: Memory, schema: Address, out: Out) => Address;
  readonly destroy_arrow_converted_schema: (schema: Out) => void;
  readonly error_data_has_error: (error: Address) => boolean;
  readonly error_data_message: (error: Address) => Address | null;
  readonly destroy_error_data: (error: Out) => void;
  readonly create_table_function: () => Address;
  readonly destroy_table_function: (fn: Out) => void;
  readonly table_function_set_name: (fn: Address, name: string) => void;
  readonly table_function_add_named_parameter: (fn: Address, name: string, type: Address) => void;
  readonly table_function_set_bind: (fn: Address, callback: Address) => void;
  readonly table_function_set_init: (fn: Address, callback: Address) => void;
  readonly table_function_set_function: (fn: Address, callback: Address) => void;
  readonly table_function_set_extra_info: (fn: Address, info: Address, destroy: null) => void;
  readonly table_function_supports_projection_pushdown: (fn: Address, value: boolean) => void;
  readonly register_table_function: (connection: Address, fn: Address) => number;
  readonly bind_get_extra_info: (info: Address) => Address;
  readonly bind_add_result_column: (info: Address, name: string, type: Address) => void;
  readonly bind_set_cardinality: (info: Address, rows: number, exact: boolean) => void;
  readonly bind_set_error: (info: Address, message: string) => void;
  readonly init_get_extra_info: (info: Address) => Address;
  readonly init_get_column_count: (info: Address) => number | bigint;
  readonly init_get_column_index: (info: Address, position: number) => number | bigint;
  readonly init_set_init_data: (info: Address, data: Address, destroy: null) => void;
  readonly function_get_init_data: (info: Address) => Address;
  readonly init_set_error: (info: Address, message: string) => void;
  readonly init_set_max_threads: (info: Address, threads: number) => void;
  readonly function_set_error: (info: Address, message: string) => void;
  readonly appender_create: (connection: Address, schema: null, table: string, out: Out) => number;
  readonly append_data_chunk: (appender: Address, chunk: Address) => number;
  readonly appender_error: (appender: Address) => Address | null;
  readonly appender_flush: (appender: Address) => number;
  readonly appender_destroy: (appender: Out) => number;
  readonly get_profiling_info: (connection: Address) => Address;
  readonly profiling_info_get_metrics: (info: Address) => Address;
  readonly profiling_info_get_child_count: (info: Address) => number | bigint;
  readonly profiling_info_get_child: (info: Address, index: number) => Address;
  readonly get_map_size: (value: Address) => number | bigint;
  readonly get_map_key: (value: Address, index: number) => Address;
  readonly get_map_value: (value: Address, index: number) => Address;
  readonly get_varchar: (value: Address) => Address;
  readonly destroy_value: (value: Out) => void;
};

/** Result and parameters of each function, as koffi types; `result` is the struct of six words. */
const SIGNATURES: { readonly [K in keyof Library]: readonly [result: string, ...parameters: string[]] } = {
  library_version: ['str'],
  create_config: ['int', 'void *'],
  set_config: ['int', 'void *', 'str', 'str'],
  destroy_config: ['void', 'void *'],
  open_ext: ['int', 'str', 'void *', 'void *', 'void *'],
  close: ['void', 'void *'],
  connect: ['int', 'void *', 'void *'],
  disconnect: ['void', 'void *'],
  interrupt: ['void', 'void *'],
  free: ['void', 'void *'],
  query: ['int', 'void *', 'str', 'void *'],
  result_error: ['void *', 'void *'],
  destroy_result: ['void', 'void *'],
  value_int64: ['int64', 'void *', 'uint64', 'uint64'],
  column_count: ['uint64', 'void *'],
  column_name: ['str', 'void *', 'uint64'],
  column_logical_type: ['void *', 'void *', 'uint64'],
  destroy_logical_type: ['void', 'void *'],
  prepare: ['int', 'void *', 'str', 'void *'],
  prepare_error: ['void *', 'void *'],
  nparams: ['uint64', 'void *'],
  bind_parameter_index: ['int', 'void *', 'void *', 'str'],
  bind_boolean: ['int', 'void *', 'uint64', 'bool'],
  prepared_statement_type: ['int', 'void *'],
  destroy_prepare: ['void', 'void *'],
  pending_prepared: ['int', 'void *', 'void *'],
  pending_prepared_streaming: ['int', 'void *', 'void *'],
  pending_execute_task: ['int', 'void *'],
  pending_error: ['void *', 'void *'],
  pending_execution_is_finished: ['bool', 'int'],
  destroy_pending: ['void', 'void *'],
  execute_pending: ['int', 'void *', 'void *'],
  fetch_chunk: ['void *', 'result'],
  destroy_data_chunk: ['void', 'void *'],
  data_chunk_get_size: ['uint64', 'void *'],
  data_chunk_set_size: ['void', 'void *', 'uint64'],
  data_chunk_get_vector: ['void *', 'void *', 'uint64'],
  data_chunk_get_column_count: ['uint64', 'void *'],
  create_vector: ['void *', 'void *', 'uint64'],
  destroy_vector: ['void', 'void *'],
  vector_get_column_type: ['void *', 'void *'],
  list_vector_get_child: ['void *', 'void *'],
  list_vector_get_size: ['uint64', 'void *'],
  struct_vector_get_child: ['void *', 'void *', 'uint64'],
  vector_reference_vector: ['void', 'void *', 'void *'],
  vector_get_data: ['void *', 'void *'],
  vector_get_validity: ['void *', 'void *'],
  vector_copy_sel: ['void', 'void *', 'void *', 'void *', 'uint64', 'uint64', 'uint64'],
  create_selection_vector: ['void *', 'uint64'],
  destroy_selection_vector: ['void', 'void *'],
  selection_vector_get_data_ptr: ['void *', 'void *'],
  get_type_id: ['int', 'void *'],
  decimal_internal_type: ['int', 'void *'],
  struct_type_child_count: ['uint64', 'void *'],
  create_logical_type: ['void *', 'int'],
  create_data_chunk: ['void *', 'void *', 'uint64'],
  data_chunk_reset: ['void', 'void *'],
  result_get_arrow_options: ['void *', 'void *'],
  connection_get_arrow_options: ['void', 'void *', 'void *'],
  destroy_arrow_options: ['void', 'void *'],
  to_arrow_schema: ['void *', 'void *', 'void *', 'void *', 'uint64', 'void *'],
  data_chunk_to_arrow: ['void *', 'void *', 'void *', 'void *'],
  schema_from_arrow: ['void *', 'void *', 'void *', 'void *'],
  data_chunk_from_arrow: ['void *', 'void *', 'void *', 'void *', 'void *'],
  destroy_arrow_converted_schema: ['void', 'void *'],
  error_data_has_error: ['bool', 'void *'],
  error_data_message: ['void *', 'void *'],
  destroy_error_data: ['void', 'void *'],
  create_table_function: ['void *'],
  destroy_table_function: ['void', 'void *'],
  table_function_set_name: ['void', 'void *', 'str'],
  table_function_add_named_parameter: ['void', 'void *', 'str', 'void *'],
  table_function_set_bind: ['void', 'void *', 'void *'],
  table_function_set_init: ['void', 'void *', 'void *'],
  table_function_set_function: ['void', 'void *', 'void *'],
  table_function_set_extra_info: ['void', 'void *', 'void *', 'void *'],
  table_function_supports_projection_pushdown: ['void', 'void *', 'bool'],
  register_table_function: ['int', 'void *', 'void *'],
  bind_get_extra_info: ['void *', 'void *'],
  bind_add_result_column: ['void', 'void *', 'str', 'void *'],
  bind_set_cardinality: ['void', 'void *', 'uint64', 'bool'],
  bind_set_error: ['void', 'void *', 'str'],
  init_get_extra_info: ['void *', 'void *'],
  init_get_column_count: ['uint64', 'void *'],
  init_get_column_index: ['uint64', 'void *', 'uint64'],
  init_set_init_data: ['void', 'void *', 'void *', 'void *'],
  function_get_init_data: ['void *', 'void *'],
  init_set_error: ['void', 'void *', 'str'],
  init_set_max_threads: ['void', 'void *', 'uint64'],
  function_set_error: ['void', 'void *', 'str'],
  appender_create: ['int', 'void *', 'str', 'str', 'void *'],
  append_data_chunk: ['int', 'void *', 'void *'],
  appender_error: ['void *', 'void *'],
  appender_flush: ['int', 'void *'],
  appender_destroy: ['int', 'void *'],
  get_profiling_info: ['void *', 'void *'],
  profiling_info_get_metrics: ['void *', 'void *'],
  profiling_info_get_child_count: ['uint64', 'void *'],
  profiling_info_get_child: ['void *', 'void *', 'uint64'],
  get_map_size: ['uint64', 'void *'],
  get_map_key: ['void *', 'void *', 'uint64'],
  get_map_value: ['void *', 'void *', 'uint64'],
  get_varchar: ['void *', 'void *'],
  destroy_value: ['void', 'void *'],
};

const FILES: Readonly<Record<string, string>> = {
  linux: 'libduckdb.so',
  darwin: 'libduckdb.dylib',
  win32: 'duckdb.dll',
};

/** The shared library lies beside the addon of the pinned `@duckdb/node-bindings-<platform>`. */
function libraryPath(): string {
  const bindings = createRequire(createRequire(import.meta.url).resolve('@duckdb/node-bindings'));
  const manifest = bindings.resolve(`@duckdb/node-bindings-${process.platform}-${process.arch}/package.json`);
  return join(dirname(manifest), FILES[process.platform] ?? 'libduckdb.so');
}

/**
 * DuckDB's allocator (jemalloc, on Linux) keeps the addresses of freed memory by default, and they count against the limit of the
 * process (`process-limit.ts`). It reads this variable when the library is loaded, from the C environment.
 */
function releaseFreedMemory(): void {
  if (process.platform !== 'linux') return;
  koffi.load(null).func('int setenv(str name, str value, int overwrite)')('DUCKDB_JE_MALLOC_CONF', 'retain:false', 0);
}

function loadLibrary(): Library {
  releaseFreedMemory();
  const handle = koffi.load(libraryPath());
  const result = koffi.struct({ words: koffi.array('uint64', 6, 'Typed') });
  const bind = (name: string, [returns, ...parameters]: readonly [string, ...string[]]): unknown =>
    handle.func(
      `duckdb_${name}`,
      returns,
      parameters.map((parameter) => (parameter === 'result' ? result : parameter)),
    );
  return Object.fromEntries(
    Object.entries(SIGNATURES).map(([name, signature]) => [name, bind(name, signature)]),
  ) as unknown as Library;
}

/** One per thread; all threads of a process share the mapped code. */
export const duckdb: Library = loadLibrary();

/** A new word that receives a handle, or passes one to a `destroy` function. */
export const word = (value: Address = 0n): Out => BigUint64Array.of(value);

/** jemalloc's index for all of its arenas. */
const ALL_ARENAS = 4096;

/** A function of DuckDB's allocator, which is jemalloc on Linux only. */
const control =
  process.platform === 'linux'
    ? koffi
        .load(libraryPath())
        .func('int duckdb_je_mallctl(str name, void *old, void *oldLength, void *value, size_t valueLength)')
    : undefined;

/**
 * Returns the pages that DuckDB has freed to the system. Its allocator keeps them for later statements, even after the instance that used
 * them has been closed. Does nothing on systems where DuckDB has another allocator.
 */
export function returnFreedMemory(): void {
  if (control === undefined) return;
  control(`arena.${ALL_ARENAS}.purge`, null, null, null, 0);
  trimAllocator();
}

/** Bytes of the pages that DuckDB's allocator has handed out in this process; undefined on systems where DuckDB has another. */
export function allocatedBytes(): number | undefined {
  if (control === undefined) return undefined;
  // Its statistics are those of the last epoch.
  control('epoch', null, null, word(1n), 8);
  const bytes = word();
  control('stats.active', bytes, word(8n), null, 0);
  return Number(bytes[0]);
}
