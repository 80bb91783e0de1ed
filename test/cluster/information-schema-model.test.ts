import { randomUUID } from 'node:crypto';
import { DuckDBInstance, type DuckDBConnection } from '@duckdb/node-api';
import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Json } from '#shared/json.ts';
import { quoteIdentifier, quoteLiteral } from '#shared/sql/quote.ts';
import { DuckdbEngine } from '#test/slt/duckdb-engine.ts';
import type { Cluster } from '#test/support/cluster.ts';
import { bagDifferences } from '#test/support/compare-rows.ts';
import { sharedCluster } from '#test/support/resources.ts';
import { fixedSeed } from '#test/support/seed.ts';

/**
 * Random statements over the views of INFORMATION_SCHEMA of random catalogs give what plain DuckDB gives over the same rows, whole and in
 * fragments. The rows are those that the test has made, and come by names of three parts, which no filter narrows.
 */

const TENANT = 'modellers';
const USER = 'model_admin';
/** The first by name is the tenant's default. */
const CATALOGS = ['model_a', 'model_b'] as const;
const VIEWS = ['tables', 'columns', 'schemata', 'views'] as const;
const RUNS = 60;

type View = (typeof VIEWS)[number];
/** The catalogs that a statement reads, and how it says so. */
type Scope = 'named a' | 'named b' | 'filter a' | 'filter b' | 'filter both' | 'filter nowhere' | 'default';

let cluster: Cluster;
let duckdb: DuckDBConnection;
let plain: DuckdbEngine;
let sessions: readonly { readonly sessionId: string; readonly token: string }[];

/** Names of any script, with quotes, dots, patterns' characters, and of 255 bytes. */
const NAMES = ['orders', 'Orders 2', 'größe', '注文', 'a%b_c', `it's`, 'x"y', 'ﷺ'.repeat(85), 'Ω', 'zz'];
const KINDS = ['INT', 'DECIMAL(10, 2)', 'ARRAY<VARCHAR>', 'TIMESTAMP', 'VARCHAR', 'DECIMAL(38, 0)'];

beforeAll(async () => {
  ({ cluster } = await sharedCluster());
  await cluster.cliOk(['admin', 'tenant', 'create', TENANT, '--user', USER]);
  for (const name of CATALOGS) await cluster.cliOk(['admin', 'catalog', 'create', name, '--tenant', TENANT]);
  const token = await cluster.token({ tenant: TENANT, user: USER });
  sessions = [randomUUID(), randomUUID()].map((sessionId) => ({ sessionId, token }));
  await cluster.sql("SET skein.distribution = 'force'", sessions[1]);
  const random = fc.sample(objects, { numRuns: 1, seed: fixedSeed() })[0] ?? [];
  const made = await make(random);
  duckdb = await (await DuckDBInstance.create()).connect();
  plain = new DuckdbEngine(duckdb);
  await copyRows();
  const rows = await plain.run('SELECT table_catalog, table_schema, table_name FROM "both".tables');
  if (rows.kind !== 'rows') throw new Error(rows.message);
  expect(bagDifferences(rows.rows, made)).toBeNull();
});
afterAll(() => duckdb?.closeSync());

type Made = {
  readonly catalog: number;
  readonly schema: number;
  readonly name: number;
  readonly kind: 'table' | 'view' | 'materialized';
  readonly columns: readonly { readonly type: number; readonly notNull: boolean }[];
  readonly keys: number;
  readonly comment: boolean;
  readonly rows: number;
};
const objects: fc.Arbitrary<Made[]> = fc.array(
  fc.record({
    catalog: fc.nat({ max: 1 }),
    schema: fc.nat({ max: 2 }),
    name: fc.nat({ max: NAMES.length - 1 }),
    kind: fc.constantFrom('table', 'table', 'table', 'view', 'materialized'),
    columns: fc.array(fc.record({ type: fc.nat({ max: KINDS.length - 1 }), notNull: fc.boolean() }), {
      minLength: 1,
      maxLength: 5,
    }),
    keys: fc.nat({ max: 2 }),
    comment: fc.boolean(),
    rows: fc.nat({ max: 2 }),
  }),
  { minLength: 24, maxLength: 32 },
);

const SCHEMAS = ['s', '"größe"', '"s.sub"'];

/** Makes them; those whose place is taken, or whose schema the catalog has not, are left out. */
async function make(all: readonly Made[]): Promise<string[][]> {
  const run = (sql: string): Promise<unknown> => cluster.sql(sql, sessions[0]);
  for (const catalog of CATALOGS) for (const schema of SCHEMAS) await run(`CREATE SCHEMA ${catalog}.${schema}`);
  const places = new Map<string, string[]>();
  for (const one of all) {
    const [catalog, schema, name] = [CATALOGS[one.catalog] ?? '', SCHEMAS[one.schema] ?? '', NAMES[one.name] ?? ''];
    const place = `${catalog}.${schema}.${quoteIdentifier(name)}`;
    if (places.has(place)) continue;
    places.set(place, [catalog, schema.replaceAll('"', ''), name]);
    if (one.kind === 'table') {
      const columns = one.columns.map(
        ({ type, notNull }, i) => `c${i} ${KINDS[type]}${notNull || i < one.keys ? ' NOT NULL' : ''}`,
      );
      const keyed = one.columns
        .slice(0, one.keys)
        .every(({ type }) => KINDS[type] === 'INT' || KINDS[type] === 'VARCHAR');
      const keys = one.columns.slice(0, one.keys).map((_, i) => `c${i}`);
      if (keyed && keys.length > 0) columns.push(`PRIMARY KEY (${keys.join(', ')})`);
      await run(`CREATE TABLE ${place} (${columns.join(', ')})${one.comment ? ` COMMENT 'a ''comment'''` : ''}`);
      const values = one.columns.map(({ type }) => VALUES[KINDS[type] ?? ''] ?? 'NULL').join(', ');
      for (let i = 0; i < one.rows; i += 1) await run(`INSERT INTO ${place} VALUES (${values})`);
    } else {
      await run(`CREATE ${one.kind === 'view' ? '' : 'MATERIALIZED '}VIEW ${place} AS SELECT 1 AS a, 'x' AS b`);
    }
  }
  return [...places.values()];
}

const VALUES: Readonly<Record<string, string>> = {
  INT: '1',
  'DECIMAL(10, 2)': '1.5',
  'DECIMAL(38, 0)': '7',
  VARCHAR: "'x'",
  TIMESTAMP: "TIMESTAMP '2026-01-01'",
  'ARRAY<VARCHAR>': "['x']",
};

/** The rows of each catalog's views, as a schema of plain DuckDB; `both` has those of both, `neither` none. */
async function copyRows(): Promise<void> {
  for (const schema of [...CATALOGS, 'both', 'neither']) await duckdb.run(`CREATE SCHEMA "${schema}"`);
  for (const view of VIEWS) {
    for (const catalog of CATALOGS) {
      const { body } = await cluster.query(`SELECT * FROM ${catalog}.information_schema.${view}`, sessions[0] ?? {});
      const { columns, types, rows } = body as { columns: string[]; types: string[]; rows: Json[][] };
      const list = columns.map((name, i) => `"${name}" ${types[i]}`).join(', ');
      await duckdb.run(`CREATE TABLE ${catalog}.${view} (${list})`);
      for (const row of rows)
        await duckdb.run(`INSERT INTO ${catalog}.${view} VALUES (${row.map(literal).join(', ')})`);
    }
    const all = CATALOGS.map((catalog) => `SELECT * FROM ${catalog}.${view}`).join(' UNION ALL ');
    await duckdb.run(`CREATE VIEW "both".${view} AS ${all}`);
    await duckdb.run(`CREATE VIEW "neither".${view} AS ${all} LIMIT 0`);
  }
}

const literal = (value: Json): string => (typeof value === 'string' ? quoteLiteral(value) : JSON.stringify(value));

/** A statement in two texts. */
type Texts = { readonly skein: string; readonly plain: string };

const CATALOG_FILTERS: Readonly<Record<Scope, readonly string[] | null>> = {
  'named a': null,
  'named b': null,
  'filter a': ['model_a'],
  'filter b': ['model_b'],
  'filter both': ['model_a', 'model_b'],
  'filter nowhere': ['nowhere', 'lake'],
  default: null,
};
const FROM: Readonly<Record<Scope, Texts>> = {
  'named a': { skein: 'model_a.information_schema', plain: 'model_a' },
  'named b': { skein: 'MODEL_B.INFORMATION_SCHEMA', plain: 'model_b' },
  'filter a': { skein: 'information_schema', plain: '"both"' },
  'filter b': { skein: 'Information_Schema', plain: '"both"' },
  'filter both': { skein: 'information_schema', plain: '"both"' },
  'filter nowhere': { skein: 'information_schema', plain: '"both"' },
  default: { skein: 'information_schema', plain: 'model_a' },
};
const SCOPES = Object.keys(FROM) as Scope[];

/** A view as it is read: its scope, how that is spelled, and further conditions. */
type Read = { readonly view: View; readonly scope: Scope; readonly spelled: number; readonly where: readonly string[] };

const NAME_VALUES = [...NAMES, 's', 's.sub', 'größe', 'c0', 'nothing'];
const text = fc.constantFrom(...NAME_VALUES).map(quoteLiteral);
const texts = fc.array(text, { minLength: 1, maxLength: 4 }).map((all) => all.join(', '));

/** Conditions on columns `@.x` of a view; each column of a place may be narrowed, others not. */
const conditions: Readonly<Record<View, fc.Arbitrary<string>>> = {
  tables: fc.oneof(
    text.map((name) => `@.table_name = ${name}`),
    texts.map((names) => `@.table_name IN (${names})`),
    texts.map((names) => `@.table_schema NOT IN (${names})`),
    fc.constantFrom(
      '@.row_count > 0',
      '@.row_count IS NULL',
      "@.comment LIKE '%comment%'",
      "@.table_type <> 'VIEW'",
      "(@.table_name = 'orders' OR @.table_schema = 's')",
      "NOT @.table_name = 'orders'",
      "@.created >= '2026' AND @.rls_enabled = false",
      "@.table_name ILIKE 'ORDERS%'",
    ),
  ),
  columns: fc.oneof(
    text.map((name) => `${name} = @.column_name`),
    texts.map((names) => `@.table_name IN (${names})`),
    fc.constantFrom(
      '@.ordinal_position BETWEEN 2 AND 3',
      '@.is_primary_key',
      "@.is_nullable = 'NO'",
      '@.numeric_precision IS NOT NULL',
      "@.data_type LIKE 'DECIMAL%' OR @.numeric_scale = 0",
      "@.table_schema = 's'",
    ),
  ),
  schemata: fc.oneof(
    text.map((name) => `@.schema_name = ${name}`),
    fc.constantFrom('@.schema_owner IS NOT NULL', "@.default_character_set_name = 'UTF8'"),
  ),
  views: fc.oneof(
    text.map((name) => `@.table_name <> ${name}`),
    fc.constantFrom('@.view_definition IS NULL', "@.is_updatable = 'NO'"),
  ),
};

const reads = (view: View): fc.Arbitrary<Read> =>
  fc.record({
    view: fc.constant(view),
    scope: fc.constantFrom(...SCOPES),
    spelled: fc.nat({ max: 3 }),
    where: fc.array(conditions[view], { maxLength: 2 }),
  });

/** The catalog that a read wants, in one of the ways in which a filter may be spelled. */
function catalogFilter({ view, scope, spelled }: Read): readonly string[] {
  const wanted = CATALOG_FILTERS[scope];
  if (wanted === null) return [];
  const column = view === 'schemata' ? '@.catalog_name' : '@.table_catalog';
  const [first = '', ...others] = wanted.map(quoteLiteral);
  if (others.length > 0 || spelled === 0) return [`${column} IN (${[first, ...others].join(', ')})`];
  return [
    spelled === 1
      ? `${column} = ${first}`
      : spelled === 2
        ? `${first} = ${column}`
        : `${column.toUpperCase()} = CAST(${first} AS VARCHAR)`,
  ];
}

const whereOf = (read: Read, alias: string): string =>
  ['true', ...catalogFilter(read), ...read.where.map((one) => `(${one})`)].join(' AND ').replaceAll('@', alias);

const schemaOf = ({ view }: Read, alias: string): string =>
  `${alias}.${view === 'schemata' ? 'schema_name' : 'table_schema'}`;

type From = (read: Read) => string;

/** Statements over one view. */
const ONE: readonly ((x: Read, from: From) => string)[] = [
  (x, from) => `SELECT * FROM ${from(x)} x WHERE ${whereOf(x, 'x')}`,
  (x, from) => `SELECT count(*) FROM ${from(x)} x WHERE ${whereOf(x, 'x')}`,
  (x, from) =>
    `WITH w AS (SELECT * FROM ${from(x)} x WHERE ${whereOf(x, 'x')}) SELECT *, count(*) OVER (PARTITION BY ${schemaOf(x, 'w')}) FROM w`,
  (x, from) => `SELECT DISTINCT ${schemaOf(x, 'x')} FROM ${from(x)} AS x WHERE ${whereOf(x, 'x')}`,
  (x, from) =>
    `SELECT ${schemaOf(x, 'x')} AS s, count(*) AS n FROM ${from(x)} x WHERE ${whereOf(x, 'x')} GROUP BY 1 HAVING n > 1 ORDER BY 2, 1 LIMIT 2`,
];

/** Statements over two views, each with a scope of its own. */
const TWO: readonly ((x: Read, y: Read, from: From) => string)[] = [
  (x, y, from) =>
    `SELECT * FROM ${from(x)} x JOIN ${from(y)} y ON ${schemaOf(x, 'x')} = ${schemaOf(y, 'y')} AND ${whereOf(y, 'y')} WHERE ${whereOf(x, 'x')}`,
  (x, y, from) =>
    `SELECT * FROM (SELECT * FROM ${from(x)} x WHERE ${whereOf(x, 'x')}) x LEFT JOIN (SELECT * FROM ${from(y)} y WHERE ${whereOf(y, 'y')}) y ON ${schemaOf(x, 'x')} = ${schemaOf(y, 'y')}`,
  (x, y, from) =>
    `SELECT * FROM ${from(x)} x WHERE ${whereOf(x, 'x')} AND ${schemaOf(x, 'x')} IN (SELECT ${schemaOf(y, 'y')} FROM ${from(y)} y WHERE ${whereOf(y, 'y')})`,
  (x, y, from) =>
    `SELECT * FROM ${from(x)} x WHERE ${whereOf(x, 'x')} AND NOT EXISTS (FROM ${from(y)} y WHERE ${whereOf(y, 'y')} AND ${schemaOf(x, 'x')} = ${schemaOf(y, 'y')})`,
  (x, y, from) =>
    `SELECT ${schemaOf(x, 'x')}, (SELECT count(*) FROM ${from(y)} y WHERE ${whereOf(y, 'y')} AND ${schemaOf(y, 'y')} = ${schemaOf(x, 'x')}) FROM ${from(x)} x WHERE ${whereOf(x, 'x')}`,
  (x, y, from) =>
    `SELECT ${schemaOf(x, 'x')} FROM ${from(x)} x WHERE ${whereOf(x, 'x')} EXCEPT SELECT ${schemaOf(y, 'y')} FROM ${from(y)} y WHERE ${whereOf(y, 'y')}`,
];

const PLACE = ['catalog', 'schema', 'name'].map((part) => `x.table_${part} = y.table_${part}`).join(' AND ');

/** Joins that make the catalogs of two views equal, of which a filter names one. */
const SHARED: readonly ((filter: string, names: string) => string)[] = [
  (filter, names) =>
    `SELECT * FROM @.tables x JOIN @.columns y USING (table_catalog, table_schema, table_name) WHERE ${filter} AND table_name IN (${names})`,
  (filter, names) =>
    `SELECT * FROM @.tables x, @.columns y WHERE ${PLACE} AND x.${filter} AND y.table_name IN (${names})`,
  (filter, names) =>
    `SELECT * FROM @.tables x LEFT JOIN @.views y ON ${PLACE} AND y.table_name IN (${names}) WHERE x.${filter}`,
  (filter, names) =>
    `SELECT * FROM @.views x RIGHT JOIN @.columns y ON ${PLACE} WHERE y.${filter} AND y.table_name IN (${names})`,
  (filter, names) =>
    `SELECT * FROM @.tables x FULL JOIN @.views y USING (table_catalog, table_schema, table_name) WHERE ${filter} AND table_name NOT IN (${names})`,
  (filter, names) =>
    `SELECT * FROM @.tables x ANTI JOIN @.columns y USING (table_catalog, table_schema) WHERE ${filter} AND table_name IN (${names})`,
  (filter, names) =>
    `SELECT * FROM @.tables x SEMI JOIN @.columns y USING (table_catalog, table_schema) WHERE ${filter} AND table_name IN (${names})`,
  (filter, names) => `SELECT * FROM @.tables NATURAL JOIN @.views WHERE ${filter} AND table_name NOT IN (${names})`,
  (filter, names) =>
    `SELECT count(*) FROM @.tables x JOIN @.columns y ON ${PLACE} LEFT JOIN @.schemata z ON z.catalog_name = y.table_catalog AND z.schema_name = y.table_schema WHERE x.${filter} AND x.table_name IN (${names})`,
];

const anyRead = fc.constantFrom(...VIEWS).chain(reads);
const sides = (textOf: (side: keyof Texts) => string): Texts => ({ skein: textOf('skein'), plain: textOf('plain') });
const from =
  (side: keyof Texts): From =>
  ({ view, scope }) =>
    `${FROM[scope][side]}.${view}`;
const statements: fc.Arbitrary<Texts> = fc.oneof(
  fc.tuple(fc.constantFrom(...ONE), anyRead).map(([shape, x]) => sides((side) => shape(x, from(side)))),
  fc.tuple(fc.constantFrom(...TWO), anyRead, anyRead).map(([shape, x, y]) => sides((side) => shape(x, y, from(side)))),
  fc
    .tuple(fc.constantFrom(...SHARED), fc.constantFrom('filter a' as const, 'filter b' as const), texts)
    .map(([shape, scope, names]) => {
      const filter = `table_catalog = '${scope === 'filter a' ? 'model_a' : 'model_b'}'`;
      return sides((side) => shape(filter, names).replaceAll('@', FROM[scope][side]));
    }),
);

test(`${RUNS} random statements give what plain DuckDB gives over the same rows, whole and forced`, async () => {
  let withRows = 0;
  const property = fc.asyncProperty(statements, async ({ skein, plain: expected }) => {
    const wanted = await plain.run(expected);
    if (wanted.kind !== 'rows') throw new Error(`plain DuckDB: ${wanted.message}\n${expected}`);
    withRows += wanted.rows.length > 0 ? 1 : 0;
    for (const [i, session] of sessions.entries()) {
      const found = await cluster.sql(skein, session);
      expect(bagDifferences(found, wanted.rows), `${i === 0 ? 'whole' : 'forced'}: ${skein}`).toBeNull();
    }
  });
  await fc.assert(property, { numRuns: RUNS, seed: fixedSeed(), endOnFailure: true });
  expect(withRows).toBeGreaterThan(RUNS / 3);
});
