import { DuckDBInstance, type DuckDBConnection } from '@duckdb/node-api';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { parseJson } from '#shared/json.ts';
import { quoteLiteral } from '#shared/sql/quote.ts';
import { viewFilters } from '../binding/schema-views.ts';
import { wantedConstants } from './view-filters.ts';

let duckdb: DuckDBConnection;
beforeAll(async () => {
  duckdb = await (await DuckDBInstance.create()).connect();
});
afterAll(() => duckdb.closeSync());

async function filtersOf(sql: string): Promise<readonly unknown[]> {
  const reader = await duckdb.runAndReadAll(`SELECT json_serialize_sql(${quoteLiteral(sql)})`);
  const found = wantedConstants(parseJson(String(reader.getRows()[0]?.[0])));
  return [...found].sort(([a], [b]) => a - b).map(([, wanted]) => viewFilters(wanted));
}

const [T, C] = ['information_schema.tables', 'information_schema.columns'];

test.each([
  [`SELECT * FROM ${T} WHERE table_catalog = 'a'`, [{ table_catalog: ['a'] }]],
  [
    `SELECT * FROM ${T} WHERE 'a' = Table_Catalog AND table_name IN ('x', 'y')`,
    [{ table_catalog: ['a'], table_name: ['x', 'y'] }],
  ],
  [
    `SELECT * FROM x.INFORMATION_SCHEMA."tables" t WHERE t.table_schema = CAST('a' AS VARCHAR)`,
    [{ table_schema: ['a'] }],
  ],
  [
    `SELECT * FROM information_schema.schemata WHERE catalog_name IN ('a', 'b') AND catalog_name = 'b'`,
    [{ catalog_name: ['b'] }],
  ],
  [
    `SELECT * FROM ${T} t JOIN ${C} c ON t.table_name = c.table_name AND c.table_catalog = 'a'`,
    [{}, { table_catalog: ['a'] }],
  ],
  [
    `SELECT * FROM ${T} t JOIN ${C} c USING (table_catalog, table_name) WHERE t.table_catalog = 'a'`,
    [{ table_catalog: ['a'] }, { table_catalog: ['a'] }],
  ],
  [
    `SELECT * FROM ${T} t, ${C} c WHERE c.table_catalog = t.table_catalog AND t.table_catalog = 'a'`,
    [{ table_catalog: ['a'] }, { table_catalog: ['a'] }],
  ],
  [`SELECT * FROM ${T} WHERE table_catalog IN ('a', NULL, 'b')`, [{ table_catalog: ['a', 'b'] }]],
  [
    `SELECT (SELECT count(*) FROM ${C} c WHERE c.table_catalog = t.table_catalog) FROM ${T} t WHERE t.table_catalog = 'a'`,
    [{ table_catalog: ['a'] }, { table_catalog: ['a'] }],
  ],
  [
    `SELECT 1 FROM ${T} t WHERE table_catalog = 'a' AND EXISTS (SELECT 1 FROM ${C} c WHERE (SELECT 1 FROM ${C} d WHERE t.table_catalog = d.table_catalog) = 1)`,
    [{ table_catalog: ['a'] }, {}, { table_catalog: ['a'] }],
  ],
  // The nearest t is another table; a wish of its own comes first; a comparison below OR is none.
  [
    `SELECT (SELECT 1 FROM ${C} c, other t WHERE c.table_catalog = t.table_catalog) FROM ${T} t WHERE t.table_catalog = 'a'`,
    [{}, { table_catalog: ['a'] }],
  ],
  [
    `SELECT (SELECT 1 FROM other t WHERE (SELECT 1 FROM ${C} c WHERE c.table_catalog = t.table_catalog) = 1) FROM ${T} t WHERE t.table_catalog = 'a'`,
    [{}, { table_catalog: ['a'] }],
  ],
  [
    `SELECT (SELECT 1 FROM ${C} c WHERE c.table_catalog = t.table_catalog AND c.table_catalog = 'b') FROM ${T} t WHERE t.table_catalog = 'a'`,
    [{ table_catalog: ['b'] }, { table_catalog: ['a'] }],
  ],
  [
    `SELECT (SELECT 1 FROM ${C} c WHERE c.table_catalog = t.table_catalog OR true) FROM ${T} t WHERE t.table_catalog = 'a'`,
    [{}, { table_catalog: ['a'] }],
  ],
  [
    `SELECT 1 FROM (SELECT * FROM ${T} WHERE table_catalog = 'a') WHERE table_catalog = 'b'`,
    [{ table_catalog: ['a'] }],
  ],
  [
    `SELECT * FROM ${T} t ANTI JOIN ${C} c USING (table_catalog) WHERE table_catalog = 'a' AND table_name = 'n'`,
    [{ table_catalog: ['a'], table_name: ['n'] }, { table_catalog: ['a'] }],
  ],
  [
    `SELECT * FROM ${T} t SEMI JOIN ${C} c ON t.table_catalog = c.table_catalog AND c.table_name = 'n' WHERE table_schema = 's'`,
    [{ table_schema: ['s'] }, { table_name: ['n'] }],
  ],
  [
    `SELECT * FROM ${T} t NATURAL JOIN ${C} c WHERE t.table_catalog = 'a'`,
    [{ table_catalog: ['a'] }, { table_catalog: ['a'] }],
  ],
  [
    `SELECT * FROM ${T} t JOIN u USING (table_catalog), ${C} c WHERE t.table_catalog = 'a'`,
    [{ table_catalog: ['a'] }, {}],
  ],
  [`SELECT * FROM u LEFT JOIN ${T} t ON t.table_catalog = 'a'`, [{ table_catalog: ['a'] }]],
  [`SELECT * FROM ${T} t RIGHT JOIN u ON t.table_catalog = 'a'`, [{ table_catalog: ['a'] }]],
  [
    `SELECT * FROM u LEFT JOIN (${T} t JOIN ${C} c ON c.table_catalog = 'b') ON t.table_catalog = 'a'`,
    [{ table_catalog: ['a'] }, { table_catalog: ['b'] }],
  ],
  [
    `SELECT * FROM ${T} t LEFT JOIN ${C} c ON t.table_catalog = c.table_catalog AND c.table_catalog = 'a'`,
    [{}, { table_catalog: ['a'] }],
  ],
  [
    `SELECT * FROM u LEFT JOIN (${T} t JOIN ${C} c ON c.table_catalog = t.table_catalog AND c.table_catalog = 'a') ON true`,
    [{ table_catalog: ['a'] }, { table_catalog: ['a'] }],
  ],
  [`SELECT 'x' FROM ${T} t WHERE EXISTS (FROM ${C} c WHERE c.table_name = 'n')`, [{}, { table_name: ['n'] }]],
])('%s wants %j', async (sql, wanted) => {
  expect(await filtersOf(sql)).toEqual(wanted);
});

test.each([
  `SELECT * FROM ${T} WHERE table_catalog = 'a' OR table_catalog = 'b'`,
  `SELECT * FROM ${T} WHERE NOT table_catalog = 'a'`,
  `SELECT * FROM ${T} WHERE table_catalog <> 'a'`,
  `SELECT * FROM ${T} WHERE table_catalog NOT IN ('a')`,
  `SELECT * FROM ${T} WHERE table_catalog IN ('a', table_name)`,
  `SELECT * FROM ${T} WHERE table_catalog = lower('A')`,
  `SELECT * FROM ${T} WHERE other.table_catalog = 'a'`,
  `SELECT * FROM ${T} WHERE table_type = 'VIEW'`,
  `SELECT * FROM ${T} WHERE table_catalog = NULL`,
  `SELECT * FROM ${T} AS t(table_name, table_catalog) WHERE table_catalog = 'a'`,
  `SELECT * FROM ${T} t LEFT JOIN u ON t.table_catalog = 'a'`,
  `SELECT * FROM u FULL JOIN ${T} t ON t.table_catalog = 'a'`,
])('%s wants nothing that is known', async (sql) => {
  expect((await filtersOf(sql)).every((filters) => Object.keys(filters as object).length === 0)).toBe(true);
});

const [CLASS, ATTRIBUTE, NAMESPACE] = ['pg_catalog.pg_class', 'pg_catalog.pg_attribute', 'pg_catalog.pg_namespace'];

test.each([
  [
    `SELECT 1 FROM ${CLASS} c JOIN ${ATTRIBUTE} a ON a.attrelid = c.oid WHERE c.relname = 't'`,
    [{ relname: ['t'], '@relation': ['t'] }, { '@relation': ['t'] }],
  ],
  [
    `SELECT 1 FROM ${CLASS} c LEFT JOIN ${ATTRIBUTE} a ON a.attrelid = c.oid WHERE c.relname IN ('t', 'u')`,
    [{ relname: ['t', 'u'] }, { '@relation': ['t', 'u'] }],
  ],
  [
    `SELECT 1 FROM ${CLASS} c JOIN ${NAMESPACE} n ON n.oid = c.relnamespace, ${ATTRIBUTE} a WHERE n.nspname = 's' AND c.oid = a.attrelid`,
    [{ '@schema': ['s'] }, { nspname: ['s'] }, { '@schema': ['s'] }],
  ],
  [
    `SELECT (SELECT 1 FROM ${ATTRIBUTE} a WHERE a.attrelid = c.oid) FROM ${CLASS} c WHERE c.oid = 7`,
    [
      { attrelid: ['7'], '@number': ['7'] },
      { oid: ['7'], '@number': ['7'] },
    ],
  ],
  [
    `SELECT 1 FROM ${ATTRIBUTE} a WHERE a.attrelid = coalesce((SELECT r.oid FROM ${CLASS} r JOIN ${NAMESPACE} n ON n.oid = r.relnamespace WHERE r.relname = 't' AND n.nspname = 's' LIMIT 1), 0)`,
    [{ '@relation': ['t'] }, { relname: ['t'], '@schema': ['s'] }, { nspname: ['s'] }],
  ],
  // Values that may be the number of another table.
  ...[
    `coalesce((SELECT r.oid FROM ${CLASS} r JOIN ${NAMESPACE} n ON n.oid = r.relnamespace WHERE r.relname = 't'), 16392)`,
    `(SELECT max(r.oid) FROM ${CLASS} r JOIN ${NAMESPACE} n ON n.oid = r.relnamespace WHERE r.relname = 't')`,
    `(SELECT r.reltoastrelid FROM ${CLASS} r JOIN ${NAMESPACE} n ON n.oid = r.relnamespace WHERE r.relname = 't')`,
  ].map((value): [string, object[]] => [
    `SELECT 1 FROM ${ATTRIBUTE} a WHERE a.attrelid = ${value}`,
    [{}, { relname: ['t'] }, {}],
  ]),
  [
    `SELECT 1 FROM ${ATTRIBUTE} a WHERE a.attrelid = (SELECT o.oid FROM ${CLASS} r JOIN ${CLASS} o ON o.relowner = r.relowner WHERE r.relname = 't')`,
    [{}, { relname: ['t'] }, {}],
  ],
  // The side that an outer join keeps has all of its rows, another c is no relation of the catalog, and OR narrows nothing.
  [
    `SELECT 1 FROM ${ATTRIBUTE} a LEFT JOIN ${CLASS} c ON a.attrelid = c.oid AND c.relname = 't'`,
    [{}, { relname: ['t'] }],
  ],
  [
    `SELECT (SELECT 1 FROM ${ATTRIBUTE} a, other c WHERE a.attrelid = c.oid) FROM ${CLASS} c WHERE c.relname = 't'`,
    [{}, { relname: ['t'] }],
  ],
  [
    `SELECT 1 FROM ${CLASS} c, ${ATTRIBUTE} a WHERE c.relname = 't' AND (a.attrelid = c.oid OR a.attnum = 1)`,
    [{ relname: ['t'] }, {}],
  ],
])('%s hands on %j', async (sql, wanted) => {
  expect(await filtersOf(sql)).toEqual(wanted);
});

test('other tables have no filters', async () => {
  expect(await filtersOf("SELECT * FROM tables WHERE table_catalog = 'a'")).toEqual([]);
  expect(await filtersOf("SELECT * FROM information_schema.other WHERE table_catalog = 'a'")).toEqual([]);
});
