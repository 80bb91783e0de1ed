/**
 * The functions of DuckDB that a query may call. Scalar functions, aggregates and macros are allowed, except those listed here, which read
 * or change the engine that runs them or run SQL that the gate has not seen. Table functions are refused unless listed.
 * `function-policy.test.ts` goes through every function of the pinned release.
 */

/** Table functions that make rows out of their arguments alone. */
export const TABLE_FUNCTIONS: ReadonlySet<string> = new Set([
  'generate_series',
  'json_each',
  'json_tree',
  'range',
  'repeat',
  'repeat_row',
  'unnest',
]);

const DENIED: ReadonlySet<string> = new Set(
  `ago col_description create_sort_key current_connection_id current_query current_query_id
  current_transaction_id currval format_pg_type format_type get_block_size get_type getenv getvariable in_search_path
  json_deserialize_sql json_execute_serialized_sql json_serialize_plan json_serialize_sql map_to_pg_oid nextval obj_description
  parse_duckdb_log_message query query_table setseed shobj_description sleep_ms stats txid_current vector_type write_log
  add_parquet_key is_histogram_other_bin replace_type cast_to_type can_cast_implicitly seq_scan glob summary skein_scan
  sql_auto_complete sniff_csv which_secret histogram_values
  variant_bytes_to_variant variant_to_parquet_variant`.split(/\s+/),
);

const DENIED_PREFIXES =
  /^(?:__internal|duckdb_|pragma_|pg_|has_.*_privilege$|inet_|read_|parquet_|arrow_scan|skein_|icu_calendar|test_)/;
/** Functions with a denied prefix that are allowed because they only compute, or that the context answers. */
const ALLOWED: ReadonlySet<string> = new Set([
  'pg_advisory_unlock_all',
  'pg_backend_pid',
  'pg_cancel_backend',
  'pg_terminate_backend',
  'pg_size_pretty',
  'pg_typeof',
]);

/** Whether a scalar function, an aggregate or a macro may be called; `name` in lower case. */
export const isFunctionAllowed = (name: string): boolean =>
  ALLOWED.has(name) || !(DENIED.has(name) || DENIED_PREFIXES.test(name));

/**
 * Functions that the statement's context answers (`shared/sql/statement-context.ts`). They are macros of ours, so they may not be called
 * through a schema, which would reach DuckDB's own.
 */
export const CONTEXT_FUNCTIONS: ReadonlySet<string> = new Set(
  `age current_catalog current_database current_date current_localtime current_localtimestamp current_role current_schema current_schemas
  current_setting current_tenant current_time current_timestamp current_user get_current_time get_current_timestamp is_role_in_session localtime localtimestamp now
  pg_advisory_unlock_all pg_backend_pid pg_cancel_backend pg_terminate_backend session_user set_config today transaction_timestamp user version`.split(
    /\s+/,
  ),
);

/** The functions of the context whose value depends on the current catalog and schema at most: `version` is a constant. */
export const PLACE_FUNCTIONS: ReadonlySet<string> = new Set([
  'current_catalog',
  'current_database',
  'current_schema',
  'current_schemas',
  'version',
]);
