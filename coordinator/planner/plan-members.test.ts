import { DuckDBInstance, type DuckDBConnection } from '@duckdb/node-api';
import { beforeAll, expect, test } from 'vitest';
import type { Json, JsonObject } from '#shared/json.ts';
import { decodePlan } from './decode-plan.ts';
import { disabledOptimizers } from './disabled-optimizers.ts';
import { parseDuckDbJson } from './duckdb-json.ts';
import { textOf } from '../plan/json-node.ts';
import { checkMembers, MEMBERS } from './plan-members.ts';

/** Statements with every operator and expression that the decoder knows, but for those that only tables of values have. */
const STATEMENTS = [
  'SELECT * FROM l ASOF JOIN r ON l.k = r.k AND l.t >= r.t AND l.u <> r.u',
  'SELECT l.k, r.t FROM l ASOF LEFT JOIN r ON l.k = r.k AND l.t >= r.t AND l.u + r.u < 3',
  'SELECT * FROM l JOIN r ON l.k = r.k AND l.u <> r.u',
  'SELECT * FROM l LEFT JOIN r ON l.k = r.k OR l.u = r.t',
  'SELECT * FROM l POSITIONAL JOIN r',
  'SELECT * FROM l, r LIMIT 3 OFFSET 1',
  'SELECT k FROM l WHERE u IN (SELECT u FROM r WHERE r.k = l.k)',
  'SELECT k, (SELECT max(t) FROM r WHERE r.k = l.k) FROM l ORDER BY k DESC NULLS LAST LIMIT (SELECT 3)',
  'SELECT k FROM l ORDER BY u, k DESC LIMIT 10%',
  "SELECT k, sum(u) FILTER (t > 2), string_agg(t::VARCHAR, '-' ORDER BY t DESC), count(DISTINCT u), grouping(k) FROM l GROUP BY GROUPING SETS ((k), ())",
  'SELECT sum(u) OVER (PARTITION BY k ORDER BY t ROWS BETWEEN 1 PRECEDING AND 2 FOLLOWING EXCLUDE TIES), ' +
    'lag(u, 2, 0) OVER (ORDER BY t), first_value(u ORDER BY k IGNORE NULLS) OVER (), count(DISTINCT u) FILTER (t > 1) OVER (PARTITION BY k) FROM l',
  'SELECT DISTINCT ON (k) k, u FROM l ORDER BY k, u DESC',
  'SELECT DISTINCT u FROM l',
  'SELECT k, unnest([u, t]) FROM l',
  'SELECT k FROM l USING SAMPLE 3 ROWS',
  'SELECT k FROM l UNION ALL SELECT k FROM r',
  'SELECT k FROM l INTERSECT SELECT k FROM r',
  'SELECT k FROM l EXCEPT ALL SELECT k FROM r',
  'WITH c AS MATERIALIZED (SELECT k, count(*) n FROM l GROUP BY k) SELECT * FROM c a JOIN c b ON a.n = b.n AND a.k < b.k',
  'WITH RECURSIVE c AS (SELECT 1 AS n UNION ALL SELECT n + 1 FROM c WHERE n < 5) SELECT * FROM c',
  "SELECT * FROM (VALUES (1, 'a'), (2, 'b')) v(x, y) JOIN l ON l.k = v.x",
  'SELECT k FROM l WHERE false',
  'SELECT 1',
  'SELECT CASE WHEN k BETWEEN 1 AND u THEN coalesce(u, t) ELSE TRY_CAST(k::VARCHAR AS INTEGER) END, k IN (1, t), k NOT IN (3, u), u IS NULL, NOT (k = 2 OR t > 3 AND u < 9) FROM l',
  'SELECT list_transform([u, t], lambda x, i: x + i + k), list_reduce([u, t], lambda a, x: a + x, 0::BIGINT), struct_update({a: 1}, a := u) FROM l',
  'SELECT k FROM l WHERE u = t AND k BETWEEN u AND t',
  'SELECT k FROM l WHERE (k % 7) BETWEEN 3 AND 5 OR random() BETWEEN 0.1 AND 0.2',
];

let plans: readonly JsonObject[];

async function plansOf(connection: DuckDBConnection, sql: string): Promise<JsonObject[]> {
  const text = `WITH l AS (SELECT i AS k, i * 2 AS t, i % 3 AS u FROM range(20) s(i)), r AS (SELECT i % 5 AS k, i AS t, i % 2 AS u FROM range(9) s(i)) ${sql.replace(/^WITH (RECURSIVE )?/, ', ')}`;
  const whole = sql.startsWith('WITH RECURSIVE') ? text.replace('WITH', 'WITH RECURSIVE') : text;
  const statement = whole.replace(') ,', '),');
  await connection.run(`SET disabled_optimizers = '${disabledOptimizers(statement)}'`);
  const found: JsonObject[] = [];
  for (const optimize of [true, false]) {
    const rows = await connection.runAndReadAll(
      `SELECT json_serialize_plan($1::VARCHAR, optimize := ${optimize}, skip_null := true, skip_empty := false)`,
      [statement],
    );
    const json = parseDuckDbJson(String(rows.getRows()[0]?.[0])) as JsonObject;
    if (json['error'] === true) throw new Error(`${textOf(json['error_message'])}: ${statement}`);
    found.push((json['plans'] as readonly JsonObject[])[0] as JsonObject);
  }
  return found;
}

beforeAll(async () => {
  const connection = await (await DuckDBInstance.create(':memory:')).connect();
  const found: JsonObject[] = [];
  for (const sql of STATEMENTS) found.push(...(await plansOf(connection, sql)));
  plans = found;
});

/** Whether the decoder takes a plan; it does not take all that were not optimised. */
function isTaken(plan: JsonObject): boolean {
  try {
    decodePlan(plan);
    return true;
  } catch {
    return false;
  }
}

/** Objects of DuckDB's JSON whose members are listed, with the name of their list. Where the decoder reads no further, none. */
function* listed(json: Json, kind = ''): Generator<readonly [kind: string, node: Record<string, Json>]> {
  if (Array.isArray(json)) {
    for (const one of json as readonly Json[]) yield* listed(one, kind);
    return;
  }
  if (typeof json !== 'object' || json === null) return;
  const node = json as Record<string, Json>;
  const own = textOf(node['type']);
  const name = own.startsWith('LOGICAL_') ? own : textOf(node['expression_class']) || kind;
  if (name in MEMBERS) yield [name, node];
  for (const [key, value] of Object.entries(node)) {
    if (!UNREAD.has(key)) yield* listed(value, KINDS[key] ?? '');
  }
}

const KINDS: Readonly<Record<string, string>> = {
  conditions: 'condition',
  orders: 'order',
  arg_orders: 'order',
  order_by: 'orders',
  order_bys: 'orders',
  case_checks: 'case',
  limit_val: 'limit',
  offset_val: 'limit',
  table_filters: 'filters',
};
/** The data that a function keeps for itself are read by its name, and values and types are read whole. */
const UNREAD: ReadonlySet<string> = new Set(['function_data', 'value', 'return_type', 'original_arguments']);

test('the statements have nearly everything that is listed', () => {
  const seen = new Set(plans.flatMap((plan) => [...listed(plan)].map(([kind]) => kind)));
  const missing = Object.keys(MEMBERS).filter((kind) => !seen.has(kind));
  expect(missing.toSorted()).toEqual(['BOUND_COLUMN_REF', 'LOGICAL_CHUNK_GET']);
  expect(plans.filter(isTaken).length).toBeGreaterThan(STATEMENTS.length);
});

test('a member that is not known, anywhere in a plan, is refused', () => {
  for (const plan of plans.filter(isTaken)) {
    for (const [kind, node] of listed(plan)) {
      node['predicates'] = true;
      expect(() => decodePlan(plan), kind).toThrow('unknown member predicates');
      delete node['predicates'];
    }
  }
});

test('a member that is listed as read is read', () => {
  const [found, read] = [new Set<string>(), new Set<string>()];
  for (const plan of plans.filter(isTaken)) {
    for (const [kind, node] of listed(plan)) {
      // The scan is copied whole before it is read.
      if (kind === 'LOGICAL_GET') continue;
      for (const name of MEMBERS[kind]?.read ?? []) {
        if (!(name in node)) continue;
        let isRead = false;
        const value = node[name];
        Object.defineProperty(node, name, {
          configurable: true,
          enumerable: true,
          get: () => {
            isRead = true;
            return value;
          },
        });
        decodePlan(plan);
        Object.defineProperty(node, name, { configurable: true, enumerable: true, writable: true, value });
        found.add(`${kind} ${name}`);
        if (isRead) read.add(`${kind} ${name}`);
      }
    }
  }
  expect([...found].filter((member) => !read.has(member))).toEqual([]);
});

test('an operator that is not known is refused', () => {
  expect(() => checkMembers({}, 'LOGICAL_NEW')).toThrow('unknown LOGICAL_NEW');
  expect(() => decodePlan({ type: 'LOGICAL_NEW', children: [] })).toThrow('unknown operator LOGICAL_NEW');
});
