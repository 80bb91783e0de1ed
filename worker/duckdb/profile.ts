import type { Json, JsonObject } from '#shared/json.ts';
import type { Connection } from './instance.ts';
import { duckdb, word, type Address } from './library.ts';
import { readText } from './memory.ts';

/**
 * The measurements that DuckDB makes of the connection's next statements: nothing; those of operators that a profile shows, which cost 1 % of a
 * statement of some size, and half a millisecond to read; or all.
 */
export const PROFILING = {
  none: 'PRAGMA disable_profiling',
  operators: `RESET custom_profiling_settings; SET enable_profiling = 'no_output'; SET custom_profiling_settings = '${JSON.stringify(
    Object.fromEntries(
      ['NAME', 'TYPE', 'CARDINALITY', 'ROWS_SCANNED', 'TIMING']
        .map((name) => `OPERATOR_${name}`)
        .concat('EXTRA_INFO')
        .map((name) => [name, 'true']),
    ),
  )}'`,
  exact: "RESET custom_profiling_settings; SET enable_profiling = 'no_output'",
} as const;
export type Profiling = keyof typeof PROFILING;

/**
 * Metrics that are meaningful for a query that only reads: the others count writes, attached files and whole subtrees.
 * `TOTAL_BYTES_READ` is wrong for local Parquet.
 */
const METRICS: ReadonlySet<string> = new Set([
  'BLOCKED_THREAD_TIME',
  'CPU_TIME',
  'EXTRA_INFO',
  'LATENCY',
  'OPERATOR_CARDINALITY',
  'OPERATOR_NAME',
  'OPERATOR_ROWS_SCANNED',
  'OPERATOR_TIMING',
  'OPERATOR_TYPE',
  'RESULT_SET_SIZE',
  'ROWS_RETURNED',
  'SYSTEM_PEAK_BUFFER_MEMORY',
  'SYSTEM_PEAK_TEMP_DIR_SIZE',
]);

/** Depth to which an operator tree is read. */
const DEPTH_MAX = 500;

/** The operator tree of the statement that has just ended on this connection: `{operator_name, ..., children}`; null without one. */
export function readProfile(connection: Connection): Json {
  const root = duckdb.get_profiling_info(connection.address) as Address | null;
  return root === null || root === 0n ? null : readNode(root, 0);
}

function readNode(info: Address, depth: number): JsonObject {
  const count = depth < DEPTH_MAX ? Number(duckdb.profiling_info_get_child_count(info)) : 0;
  const children = Array.from({ length: count }, (_, i) =>
    readNode(duckdb.profiling_info_get_child(info, i), depth + 1),
  );
  return { ...readMetrics(info), children };
}

function readMetrics(info: Address): Record<string, Json> {
  const map = duckdb.profiling_info_get_metrics(info);
  const metrics: Record<string, Json> = {};
  for (let i = 0; i < Number(duckdb.get_map_size(map)); i++) {
    const key = takeText(duckdb.get_map_key(map, i));
    const value = takeText(duckdb.get_map_value(map, i));
    if (!METRICS.has(key)) continue;
    const number = Number(value);
    metrics[key.toLowerCase()] = value !== '' && Number.isFinite(number) ? number : withoutPaths(value);
  }
  duckdb.destroy_value(word(map));
  return metrics;
}

/** Reduces file paths to their base names, because users must not learn where the files are stored. */
const withoutPaths = (text: string): string => text.replaceAll(/(?:\/[^\s/,'"[\]{}]+)+\/([^\s/,'"[\]{}]+)/g, '$1');

/** Copies the text of a value and destroys the value. */
function takeText(value: Address): string {
  const text = duckdb.get_varchar(value);
  const copy = readText(text);
  duckdb.free(text);
  duckdb.destroy_value(word(value));
  return copy;
}
