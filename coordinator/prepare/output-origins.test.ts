import { expect, test } from 'vitest';
import { blankContext } from '#shared/sql/statement-context.ts';
import { scriptedTables } from '#test/support/scripted/tables.ts';
import type { TableSource } from '../binding/table-source.ts';
import { PlannerSession } from '../planner/planner-session.ts';
import { bindTables, type BoundView } from '../resolver/bind-tables.ts';
import { outputOrigins } from './output-origins.ts';

const TABLES = scriptedTables({
  'lake.default.t': { columns: 'a long, b string, s struct(f int)' },
  'lake.default.u': { columns: 'a long, c string' },
});
const OIDS: Readonly<Record<string, number>> = { t: 100, u: 200 };
const context = blankContext('UTC');
const defaults = { catalog: 'lake', schema: 'default' };

/** Numbers of the scripted tables; `v` is a view. */
const SOURCE = {
  ...TABLES,
  loadTables: async (names, signal) =>
    (await TABLES.loadTables(names, signal)).map((table) =>
      table.kind === 'found' ? { ...table, oid: OIDS[table.name.table] ?? 0 } : table,
    ),
} satisfies TableSource;
const VIEW: BoundView = { kind: 'view', oid: 300, columns: ['x', 'y'] };

/** `t.2` for the second column of table 100, `-` for a column of no table. */
async function origins(sql: string): Promise<string> {
  const session = await PlannerSession.open(48 * 2 ** 20);
  const references = await session.parse({ sql, defaults, context });
  session.close();
  const isView = ({ parts }: { readonly parts: readonly string[] }): boolean => parts.at(-1) === 'v';
  const bound = await bindTables({
    references: references.tables.filter((table) => !isView(table)),
    defaults,
    source: SOURCE,
    named: null,
    rows: new Map(),
    signal: new AbortController().signal,
  });
  const rest = [...bound];
  const tables = references.tables.map((table) => (isView(table) ? VIEW : (rest.shift() ?? VIEW)));
  const names: Readonly<Record<number, string>> = { 100: 't', 200: 'u', 300: 'v' };
  return outputOrigins(references, tables)
    .map(({ origin }) => (origin === null ? '-' : `${names[origin.oid] ?? ''}.${origin.column}`))
    .join(' ');
}

test.each([
  ['SELECT b, a AS k, a + 1, T.A, t.b FROM t', 't.2 t.1 - t.1 t.2'],
  ['SELECT *, a FROM t WHERE false LIMIT 0', 't.1 t.2 t.3 t.1'],
  ['FROM t', 't.1 t.2 t.3'],
  ['SELECT lake."default".t.a, "default".t.b FROM "default".t', 't.1 t.2'],
  // A field of a struct, a row, and a place are no columns.
  ['SELECT s.f, t.s.f, s, t, #1 FROM t', '- - t.3 - -'],
  ['SELECT x.*, u.c FROM t AS x(k), u', 't.1 t.2 t.3 u.2'],
  ['SELECT k, x.b, a FROM t AS x(k), u', 't.1 t.2 u.1'],
  ['SELECT * EXCLUDE (b) FROM t', 't.1 t.3'],
  ['SELECT max(a), b FROM t GROUP BY b HAVING max(a) > 1 ORDER BY b', '- t.2'],
  ['SELECT DISTINCT a FROM t', 't.1'],
  ['SELECT q.*, q.m FROM (SELECT a AS m, 1 AS n FROM t) q', 't.1 - t.1'],
  ['WITH w(p) AS (SELECT b FROM t), z AS (SELECT * FROM w) SELECT p, z.p FROM z', 't.2 t.2'],
  ['WITH t AS (SELECT b FROM t) SELECT * FROM t', 't.2'],
  ['SELECT a FROM t UNION ALL SELECT a FROM u', '-'],
  ['SELECT * FROM (SELECT a FROM t UNION SELECT a FROM u)', '-'],
  ['WITH RECURSIVE r AS (SELECT a FROM t UNION SELECT a + 1 FROM r) SELECT a FROM r', '-'],
  ['SELECT a, t.a, u.a, c FROM t JOIN u USING (a)', 't.1 t.1 u.1 u.2'],
  ['SELECT * FROM t JOIN u USING (a)', 't.1 t.2 t.3 u.2'],
  ['SELECT *, a, u.a FROM t FULL JOIN u USING (a)', '- t.2 t.3 u.2 - u.1'],
  ['SELECT * FROM t SEMI JOIN u USING (a)', 't.1 t.2 t.3'],
  ['SELECT b, r.i FROM t, (VALUES (1)) r(i)', 't.2 -'],
  ['SELECT x, v.y, * FROM v', 'v.1 v.2 v.1 v.2'],
  ['SELECT (SELECT a FROM t), b FROM t', '- t.2'],
  ["SELECT VALUE1 AS a FROM (SELECT 'x' AS value1)", '-'],
  // Their columns are not known here.
  ['SELECT * REPLACE (1 AS a) FROM t', ''],
  ['SELECT * FROM t, range(3)', ''],
  ['SELECT a, range FROM u, range(3)', 'u.1 -'],
  ['SELECT COLUMNS(*) FROM t', ''],
])('%s', async (sql, expected) => {
  expect(await origins(sql)).toBe(expected);
});

test('columns that double again and again are followed no further than a statement may have', async () => {
  const twice = Array.from({ length: 40 }, (_, i) => `q${i + 1} AS (SELECT x.*, y.* FROM q${i} x, q${i} y)`);
  expect(await origins(`WITH q0 AS (SELECT a FROM t), ${twice.join(', ')} SELECT * FROM q40`)).toBe('');
});
