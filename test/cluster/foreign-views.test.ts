import { randomUUID } from 'node:crypto';
import { beforeAll, describe, expect, test } from 'vitest';
import type { Json, JsonObject } from '#shared/json.ts';
import type { Cluster } from '#test/support/cluster.ts';
import { sharedCluster } from '#test/support/resources.ts';

/**
 * Views as Spark 4.1 and Trino 476 have written them over this catalog: the texts, columns and namespaces are theirs. Each is read with the
 * rows of a query of ours, or refused with the dialect's name and the place. `test/conformance/*.full.test.ts` asks the engines themselves.
 */
const SCHEMA = 'foreign_views';
const VIEWS = `/v1/lake/namespaces/${SCHEMA}/views`;
const session = { sessionId: randomUUID() };
let cluster: Cluster;
const sql = (text: string): ReturnType<Cluster['sql']> => cluster.sql(text, session);
const errorOf = (text: string): Promise<string> =>
  sql(text).then(
    () => '',
    (error: unknown) => (error as Error).message,
  );

beforeAll(async () => {
  ({ cluster } = await sharedCluster());
  await cluster.sql(`CREATE SCHEMA lake.${SCHEMA}`);
  await sql(`USE lake.${SCHEMA}`);
  await sql('CREATE TABLE base (id INT, name VARCHAR, price DECIMAL(10, 2), d DATE, big BIGINT)');
  await sql(`INSERT INTO base VALUES (1, 'a', 1.5, DATE '2024-01-01', 5), (2, 'b', 2.5, DATE '2024-02-01', 6),
    (3, NULL, NULL, NULL, NULL), (4, 'b', 7.25, DATE '2024-03-01', 8)`);
});

type Column = readonly [name: string, type: string];
type Foreign = { readonly dialect: string; readonly text: string; readonly columns: readonly Column[] };

/** Makes a view as the engine does. */
async function create(name: string, { dialect, text, columns }: Foreign, more: JsonObject = {}): Promise<void> {
  const fields = columns.map(([column, type], i): Json => ({
    id: i + 1,
    name: column,
    required: dialect === 'trino',
    type,
  }));
  const { status, body } = await cluster.catalog('POST', VIEWS, {
    name,
    schema: { type: 'struct', 'schema-id': 0, fields },
    'view-version': {
      'version-id': 1,
      'timestamp-ms': 1_700_000_000_000,
      'schema-id': 0,
      summary: { 'engine-name': dialect },
      'default-namespace': [SCHEMA],
      representations: [{ type: 'sql', dialect, sql: text.replaceAll('@', `lake.${SCHEMA}`) }],
      ...more,
    },
    properties: {},
  });
  expect(status, JSON.stringify(body)).toBe(200);
}

/** A view, and the query of ours with the same rows. */
const READ: Readonly<Record<string, Foreign & { readonly ours: string }>> = {
  'spark: names for columns': {
    dialect: 'spark',
    text: 'SELECT id FROM base',
    columns: [['n', 'int']],
    ours: 'SELECT id FROM base',
  },
  'spark: a filter, groups, an order that sorts NULLs first, a limit': {
    dialect: 'spark',
    text: 'SELECT `name` nm, count(*) FROM @.base b WHERE id > 0 GROUP BY `name` ORDER BY name LIMIT 2',
    columns: [
      ['nm', 'string'],
      ['count(1)', 'long'],
    ],
    ours: 'SELECT name, count(*) FROM base GROUP BY name ORDER BY name NULLS FIRST LIMIT 2',
  },
  'spark: an aggregate of a join, concat': {
    dialect: 'spark',
    text: "SELECT a.id + 1, sum(price) total, concat(name, 'x') c FROM base a JOIN @.spark_1 x ON a.id = x.n GROUP BY a.id, name",
    columns: [
      ['(id + 1)', 'int'],
      ['total', 'decimal(20, 2)'],
      ['c', 'string'],
    ],
    ours: "SELECT id + 1, sum(price)::DECIMAL(20, 2), name || 'x' FROM base GROUP BY id, name",
  },
  'spark: all columns': {
    dialect: 'spark',
    text: 'SELECT * FROM base',
    columns: [
      ['id', 'int'],
      ['name', 'string'],
      ['price', 'decimal(10, 2)'],
      ['d', 'date'],
      ['big', 'long'],
    ],
    ours: 'FROM base',
  },
  'spark: WITH, an average, a window': {
    dialect: 'spark',
    text: 'WITH q AS (SELECT id, avg(big) m FROM base GROUP BY 1) SELECT q.*, row_number() OVER (ORDER BY id DESC) r FROM q',
    columns: [
      ['id', 'int'],
      ['m', 'double'],
      ['r', 'int'],
    ],
    ours: 'SELECT id, avg(big), row_number() OVER (ORDER BY id DESC) FROM base GROUP BY id',
  },
  'spark: days as texts': {
    dialect: 'spark',
    text: "SELECT id, d > '2024-01-15' AS late FROM base WHERE d <> '2024-03-01'",
    columns: [
      ['id', 'int'],
      ['late', 'boolean'],
    ],
    ours: "SELECT id, d > DATE '2024-01-15' FROM base WHERE d <> DATE '2024-03-01'",
  },
  'trino: as it prints a query': {
    dialect: 'trino',
    text: "SELECT\n  id\n, b.name nm\n, count(*) c\nFROM\n  @.base b\nWHERE ((id > 1) AND (name LIKE 'b%'))\nGROUP BY id, name\nORDER BY id DESC\nLIMIT 1\n",
    columns: [
      ['id', 'int'],
      ['nm', 'string'],
      ['c', 'long'],
    ],
    ours: "SELECT 4, 'b', 1",
  },
  'trino: a join in brackets, doubled quotes': {
    dialect: 'trino',
    text: "SELECT\n  (a.id + 1) i\n, sum(price) total\n, concat(name, 'x') c\n, concat(name, 'it''s') q\nFROM\n  (@.base a\nLEFT JOIN @.spark_1 x ON (a.id = x.n))\nGROUP BY a.id, name\n",
    columns: [
      ['i', 'int'],
      ['total', 'decimal(38, 2)'],
      ['c', 'string'],
      ['q', 'string'],
    ],
    ours: "SELECT id + 1, sum(price), name || 'x', name || 'it''s' FROM base GROUP BY id, name",
  },
  'trino: WITH, NOT IN, BETWEEN': {
    dialect: 'trino',
    text: 'WITH\n  q AS (\n   SELECT\n     id\n   , avg(big) m\n   FROM\n     @.base\n   GROUP BY 1\n) \nSELECT\n  q.*\n, row_number() OVER (ORDER BY id ASC) r\nFROM\n  q\nWHERE ((NOT (id IN (2, 8))) AND (id BETWEEN 0 AND 9))\n',
    columns: [
      ['id', 'int'],
      ['m', 'double'],
      ['r', 'long'],
    ],
    ours: 'SELECT id, avg(big), row_number() OVER (ORDER BY id) FROM base WHERE id <> 2 GROUP BY id',
  },
  'trino: CASE, CAST, a date': {
    dialect: 'trino',
    text: "SELECT\n  (d > DATE '2024-01-15') late\n, (CASE WHEN (id = 1) THEN 'one' ELSE 'more' END) t\n, CAST(id AS bigint) bb\nFROM\n  @.base\n",
    columns: [
      ['late', 'boolean'],
      ['t', 'string'],
      ['bb', 'long'],
    ],
    ours: "SELECT d > DATE '2024-01-15', CASE WHEN id = 1 THEN 'one' ELSE 'more' END, id::BIGINT FROM base",
  },
};

const cases = Object.entries(READ).map(([title, view], i) => ({ title, name: `${view.dialect}_${i + 1}`, ...view }));
const texts = (from: string): string => `SELECT COLUMNS(*)::VARCHAR FROM (${from}) ORDER BY ALL`;

describe("another engine's view", () => {
  test.each(cases)('$title', async ({ name, ours, ...view }) => {
    await create(name, view);
    const rows = await sql(`SELECT * FROM (${texts(`FROM ${name}`)})`);
    expect(rows.length).toBeGreaterThan(0);
    expect(rows).toEqual(await sql(texts(ours)));
    const described = (await sql(`SELECT col_name FROM (DESCRIBE ${name})`)).flat();
    expect(described).toEqual(view.columns.map(([column]) => column));
    // Views of ours may read it, and it may be joined and filtered.
    expect(await sql(`SELECT count(*)::INT FROM ${name} AS x`)).toEqual([[rows.length]]);
  });

  test.each<[string, string, readonly Column[], string]>([
    ['spark', 'SELECT id / 2 AS h FROM base', [['h', 'double']], '"/" at line 1, column 11 of the view\'s text'],
    ['trino', 'SELECT\n  (id / 2) h\nFROM\n  base', [['h', 'int']], '"/" at line 2, column 7 of the view\'s text'],
    ['trino', 'SELECT avg(price) p FROM base', [['p', 'decimal(10, 2)']], 'avg of DECIMAL(10,2)'],
    ['spark', 'SELECT upper(name) u FROM base', [['u', 'string']], 'the function upper at line 1, column 8'],
    ['spark', 'SELECT sum(price) s FROM base', [['s', 'int']], 'the column'],
    ['hive', 'SELECT id FROM base', [['id', 'int']], 'hive'],
  ])('of %s is refused by name: %s', async (dialect, text, columns, reason) => {
    const name = `refused_${randomUUID().slice(0, 8)}`;
    await create(name, { dialect, text, columns });
    const message = await errorOf(`SELECT 1, * FROM ${name}`);
    expect(message).toMatch(/NOT_SUPPORTED.*line 1, column 18/s);
    expect(message).toContain(`view lake.${SCHEMA}.${name}: its query is written in ${dialect}`);
    expect(message).toContain(reason);
    expect(await errorOf(`DROP VIEW ${name}`)).toBe('');
  });

  test('is read with the catalog and namespace of its version, and refused when its table has other columns by now', async () => {
    await cluster.sql('CREATE SCHEMA lake.foreign_other');
    await cluster.sql('CREATE TABLE lake.foreign_other.base AS SELECT 77 AS id');
    const view = { dialect: 'spark', text: 'SELECT * FROM base', columns: [['id', 'int']] as const };
    await create('elsewhere', view, { 'default-catalog': 'lake', 'default-namespace': ['foreign_other'] });
    expect(await sql('FROM elsewhere')).toEqual([[77]]);
    await cluster.sql('ALTER TABLE lake.foreign_other.base ADD COLUMN more INT');
    expect(await errorOf('FROM elsewhere')).toMatch(/INVALID_VIEW.*view lake.*has 2 columns by now, and the view 1/s);
    await cluster.sql('DROP TABLE lake.foreign_other.base');
    expect(await errorOf('FROM elsewhere')).toContain('TABLE_NOT_FOUND');
  });

  test('that reads itself is refused', async () => {
    await create('loop', { dialect: 'trino', text: 'SELECT id FROM loop', columns: [['id', 'int']] });
    expect(await errorOf('FROM loop')).toMatch(/INVALID_VIEW.*reads itself/s);
  });

  test('becomes ours with OR REPLACE, which keeps its text', async () => {
    await create('replaced', { dialect: 'spark', text: 'SELECT id / 2 AS h FROM base', columns: [['h', 'double']] });
    await sql('CREATE OR REPLACE VIEW replaced AS SELECT id / 2 AS h FROM base WHERE id = 1');
    expect(await sql('FROM replaced')).toEqual([[0.5]]);
  });
});
