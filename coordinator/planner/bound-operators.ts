import type { DuckDBConnection } from '@duckdb/node-api';
import { parseJson, type Json, type JsonObject } from '#shared/json.ts';
import { textOf } from '../plan/json-node.ts';

/** EXPLAIN's name for the plan before optimisation. */
const BOUND_PLAN = 'logical_plan';

/**
 * The operators of a query's plan as DuckDB binds it, each once. EXPLAIN prints every plan, also those that `json_serialize_plan` cannot,
 * and an operator that reads a table function has that function's name in capitals. The connection has `explain_output = 'all'`.
 * @returns none when there is no such plan.
 * @throws DuckDB's error; nothing of the query runs.
 */
export async function boundOperators(connection: DuckDBConnection, sql: string): Promise<readonly string[]> {
  const prepared = await connection.prepare(`EXPLAIN (FORMAT json) ${sql}`);
  try {
    const rows = (await prepared.runAndReadAll()).getRows();
    const text = rows.find(([plan]) => plan === BOUND_PLAN)?.[1];
    const names = new Set<string>();
    if (typeof text === 'string') collect(parseJson(text), names);
    return [...names];
  } finally {
    prepared.destroySync();
  }
}

function collect(nodes: Json | undefined, names: Set<string>): void {
  for (const node of (nodes ?? []) as readonly JsonObject[]) {
    names.add(textOf(node['name']));
    collect(node['children'], names);
  }
}
