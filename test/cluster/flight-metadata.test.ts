import { status } from '@grpc/grpc-js';
import { tableFromIPC } from 'apache-arrow';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { must } from '#shared/must.ts';
import type { Cluster } from '#test/support/cluster.ts';
import { failureOf, FlightClient, valuesOf } from '#test/support/flight-client.ts';
import { sharedCluster } from '#test/support/resources.ts';

/** The metadata commands of Flight SQL, and their schemas, which clients compare exactly. */
let cluster: Cluster;
let client: FlightClient;
const SCHEMA = 'flight_meta';

beforeAll(async () => {
  ({ cluster } = await sharedCluster());
  client = new FlightClient(
    must(cluster.ready.flight_sql_url, 'it serves Flight SQL'),
    `Bearer ${await cluster.token()}`,
  );
  await cluster.sql(`CREATE SCHEMA lake.${SCHEMA}`);
  await cluster.sql(`CREATE SCHEMA lake.${SCHEMA}_2`);
  await cluster.sql(`CREATE TABLE lake.${SCHEMA}.a_b (id BIGINT NOT NULL, d DECIMAL(10,2), s VARCHAR)`);
  await cluster.sql(`COMMENT ON COLUMN lake.${SCHEMA}.a_b.s IS 'a text'`);
  await cluster.sql(`CREATE TABLE lake.${SCHEMA}.axb (id INT)`);
  await cluster.sql(`CREATE VIEW lake.${SCHEMA}.v AS SELECT 1 AS x, INTERVAL 1 DAY AS i`);
});
afterAll(() => client[Symbol.dispose]());

const shapeOf = (schema: { fields: readonly { name: string; type: unknown; nullable: boolean }[] }): string =>
  schema.fields.map(({ name, type, nullable }) => `${name} ${String(type)}${nullable ? '?' : ''}`).join(', ');

test('catalogs', async () => {
  const table = await client.metadataRows('CommandGetCatalogs', {});
  expect(shapeOf(table.schema)).toBe('catalog_name Utf8');
  expect(valuesOf(table)).toContainEqual(['lake']);
});

describe('schemas', () => {
  test('by a pattern', async () => {
    const table = await client.metadataRows('CommandGetDbSchemas', { db_schema_filter_pattern: `${SCHEMA}%` });
    expect(shapeOf(table.schema)).toBe('catalog_name Utf8?, db_schema_name Utf8');
    expect(valuesOf(table)).toEqual([
      ['lake', SCHEMA],
      ['lake', `${SCHEMA}_2`],
    ]);
  });

  test('of a catalog that is not there: none', async () => {
    expect(valuesOf(await client.metadataRows('CommandGetDbSchemas', { catalog: 'nowhere' }))).toEqual([]);
  });
});

describe('tables', () => {
  const of = { catalog: 'lake', db_schema_filter_pattern: SCHEMA };

  test.each([
    ['every kind', {}, ['a_b TABLE', 'axb TABLE', 'v VIEW']],
    ['a pattern with _', { table_name_filter_pattern: 'a_b' }, ['a_b TABLE', 'axb TABLE']],
    ['an escaped _', { table_name_filter_pattern: String.raw`a\_b` }, ['a_b TABLE']],
    ['a pattern with %', { table_name_filter_pattern: '%' }, ['a_b TABLE', 'axb TABLE', 'v VIEW']],
    ['views', { table_types: ['VIEW'] }, ['v VIEW']],
    ['kinds that are not there', { table_types: ['SYSTEM TABLE'] }, []],
  ])('%s', async (_what, more, expected) => {
    const table = await client.metadataRows('CommandGetTables', { ...of, ...more });
    expect(shapeOf(table.schema)).toBe('catalog_name Utf8?, db_schema_name Utf8?, table_name Utf8, table_type Utf8');
    expect(valuesOf(table)).toEqual(expected.map((one) => ['lake', SCHEMA, ...one.split(' ')]));
  });

  test('with their columns, each with the metadata of Flight SQL', async () => {
    const table = await client.metadataRows('CommandGetTables', { ...of, include_schema: true });
    expect(shapeOf(table.schema)).toMatch(/table_type Utf8, table_schema Binary$/);
    const schemas = valuesOf(table).map((row) => tableFromIPC(row[4] as Uint8Array).schema);
    expect(schemas.map(shapeOf)).toEqual([
      'id Int64, d Decimal[10e+2]?, s Utf8?',
      'id Int32?',
      'x Int32?, i Interval<MONTH_DAY_NANO>?',
    ]);
    const metadata = Object.fromEntries(must(schemas[0]?.fields[1], 'a column').metadata);
    expect(metadata).toMatchObject({
      'ARROW:FLIGHT:SQL:TYPE_NAME': 'DECIMAL(10, 2)',
      'ARROW:FLIGHT:SQL:PRECISION': '10',
      'ARROW:FLIGHT:SQL:SCALE': '2',
      'ARROW:FLIGHT:SQL:TABLE_NAME': 'a_b',
    });
    expect(schemas[0]?.fields[2]?.metadata.get('ARROW:FLIGHT:SQL:REMARKS')).toBe('a text');
  });
});

describe('the same as INFORMATION_SCHEMA', () => {
  const own = { catalog: 'lake', db_schema_filter_pattern: `${SCHEMA}%` };
  beforeAll(async () => {
    await cluster.sql(`CREATE TABLE lake.${SCHEMA}_2.typed (b BOOLEAN NOT NULL, i INT, l BIGINT, f FLOAT, d DOUBLE, n DECIMAL(38, 10),
      dt DATE, t TIME, ts TIMESTAMP, tz TIMESTAMP WITH TIME ZONE, s VARCHAR, u UUID, bin BINARY, li INT[], m MAP(VARCHAR, DOUBLE),
      st STRUCT(x DOUBLE, y VARCHAR[]))`);
    await cluster.sql(`CREATE MATERIALIZED VIEW lake.${SCHEMA}_2.mv AS SELECT 1 AS x`);
  });

  test('schemas', async () => {
    const told = await client.metadataRows('CommandGetDbSchemas', own);
    const sql = `SELECT catalog_name, schema_name FROM lake.information_schema.schemata WHERE schema_name LIKE '${SCHEMA}%' ORDER BY schema_name`;
    expect(valuesOf(told)).toEqual(await cluster.sql(sql));
  });

  test('catalogs, those that have no schema, too', async () => {
    const [empty, filled] = [`${SCHEMA}_empty`, `${SCHEMA}_filled`];
    for (const name of [empty, filled]) await cluster.sql(`CREATE CATALOG ${name}`);
    await cluster.sql(`CREATE SCHEMA ${filled}.s`);
    const told = valuesOf(await client.metadataRows('CommandGetCatalogs', {})).flat();
    // Other suites may make and drop catalogs.
    const lasting = ['lake', empty, filled];
    expect(told.filter((name) => lasting.includes(String(name)))).toEqual(lasting.toSorted());
    const listed = new Set((await cluster.sql('SHOW CATALOGS')).map(([name]) => name));
    expect(lasting.filter((name) => !listed.has(name))).toEqual([]);
    const list = told.map((name) => `'${String(name)}'`).join(', ');
    const sql = `SELECT DISTINCT catalog_name FROM information_schema.schemata WHERE catalog_name IN (${list}, 'nowhere') ORDER BY 1`;
    const inViews = (await cluster.sql(sql)).flat();
    // Each that the view has is told, and each that is told has as many schemas in the view as Flight SQL tells of it.
    expect(inViews.filter((name) => !told.includes(name))).toEqual([]);
    for (const catalog of lasting) {
      const schemas = valuesOf(await client.metadataRows('CommandGetDbSchemas', { catalog }));
      expect(inViews.includes(catalog), catalog).toBe(schemas.length > 0);
      const ofView = `SELECT catalog_name, schema_name FROM ${catalog}.information_schema.schemata`;
      const own = ({ 1: name }: readonly unknown[]): boolean => catalog !== 'lake' || String(name).startsWith(SCHEMA);
      const sorted = (rows: readonly (readonly unknown[])[]): string[] => rows.filter(own).map(String).toSorted();
      expect(sorted(await cluster.sql(ofView)), catalog).toEqual(sorted(schemas));
    }
    expect(inViews).not.toContain(empty);
    await cluster.sql(`DROP SCHEMA ${filled}.s`);
    for (const name of [empty, filled]) await cluster.sql(`DROP CATALOG ${name}`);
  });

  test('primary keys', async () => {
    await cluster.sql(
      `CREATE TABLE lake.${SCHEMA}_2.keyed (a INT NOT NULL, b VARCHAR, c BIGINT NOT NULL, PRIMARY KEY (c, a))`,
    );
    for (const table of ['keyed', 'typed', 'mv']) {
      const told = await client.metadataRows('CommandGetPrimaryKeys', {
        catalog: 'lake',
        db_schema: `${SCHEMA}_2`,
        table,
      });
      const sql = `SELECT table_catalog, table_schema, table_name, column_name FROM lake.information_schema.columns
        WHERE table_schema = '${SCHEMA}_2' AND table_name = '${table}' AND is_primary_key ORDER BY ordinal_position`;
      expect(
        valuesOf(told).map((row) => row.slice(0, 4)),
        table,
      ).toEqual(await cluster.sql(sql));
    }
  });

  test('tables and their kinds', async () => {
    const told = await client.metadataRows('CommandGetTables', own);
    const sql = `SELECT table_catalog, table_schema, table_name, replace(table_type, 'BASE TABLE', 'TABLE')
      FROM lake.information_schema.tables WHERE table_schema LIKE '${SCHEMA}%' ORDER BY table_schema, table_name`;
    expect(valuesOf(told)).toEqual(await cluster.sql(sql));
  });

  test('columns, their types, and whether they may be NULL', async () => {
    const told = await client.metadataRows('CommandGetTables', { ...own, include_schema: true });
    const columns = valuesOf(told).flatMap(([, schema, table, , bytes]) =>
      tableFromIPC(bytes as Uint8Array).schema.fields.map(({ name, nullable, metadata }) => {
        return [schema, table, name, metadata.get('ARROW:FLIGHT:SQL:TYPE_NAME'), nullable ? 'YES' : 'NO'];
      }),
    );
    const sql = `SELECT table_schema, table_name, column_name, data_type, is_nullable
      FROM lake.information_schema.columns WHERE table_schema LIKE '${SCHEMA}%' ORDER BY table_schema, table_name, ordinal_position`;
    expect(columns).toEqual(await cluster.sql(sql));
    expect(columns.length).toBeGreaterThan(20);
  });
});

test('table types', async () => {
  const table = await client.metadataRows('CommandGetTableTypes', {});
  expect(shapeOf(table.schema)).toBe('table_type Utf8');
  expect(valuesOf(table)).toEqual([['MATERIALIZED VIEW'], ['TABLE'], ['VIEW']]);
});

test('primary keys are the identifier fields', async () => {
  const path = `/v1/lake/namespaces/${SCHEMA}/tables`;
  const fields = [
    { id: 1, name: 'k', required: true, type: 'long' },
    { id: 2, name: 'v', required: false, type: 'string' },
  ];
  const schema = { type: 'struct', 'schema-id': 0, fields, 'identifier-field-ids': [1] };
  expect((await cluster.catalog('POST', path, { name: 'keyed', schema })).status).toBe(200);
  const asked = { catalog: 'lake', db_schema: SCHEMA, table: 'keyed' };
  const table = await client.metadataRows('CommandGetPrimaryKeys', asked);
  expect(shapeOf(table.schema)).toBe(
    'catalog_name Utf8?, db_schema_name Utf8?, table_name Utf8, column_name Utf8, key_sequence Int32, key_name Utf8?',
  );
  expect(valuesOf(table)).toEqual([['lake', SCHEMA, 'keyed', 'k', 1, null]]);
});

test.each(['CommandGetExportedKeys', 'CommandGetImportedKeys', 'CommandGetCrossReference'] as const)(
  '%s: there are no foreign keys',
  async (command) => {
    const table = await client.metadataRows(command, {});
    expect(shapeOf(table.schema)).toBe(
      'pk_catalog_name Utf8?, pk_db_schema_name Utf8?, pk_table_name Utf8, pk_column_name Utf8, fk_catalog_name Utf8?, ' +
        'fk_db_schema_name Utf8?, fk_table_name Utf8, fk_column_name Utf8, key_sequence Int32, fk_key_name Utf8?, pk_key_name Utf8?, ' +
        'update_rule Uint8, delete_rule Uint8',
    );
    expect(table.numRows).toBe(0);
  },
);

describe('SqlInfo', () => {
  test('has every value of the specification', async () => {
    const table = await client.metadataRows('CommandGetSqlInfo', {});
    const ids = valuesOf(table).map(([id]) => id);
    const range = (from: number, to: number): number[] => Array.from({ length: to - from + 1 }, (_, i) => from + i);
    expect(ids).toEqual([...range(0, 11), 100, 101, ...range(500, 576)]);
    expect(shapeOf(table.schema)).toMatch(/^info_name Uint32, value Union<.*>$/);
  });

  test('of some ids; one that nobody knows has no row', async () => {
    const table = await client.metadataRows('CommandGetSqlInfo', { info: [8, 0, 9_999, 517, 508] });
    const rows = valuesOf(table);
    expect(rows.map(([id]) => id)).toEqual([0, 8, 508, 517]);
    expect(rows.slice(0, 2).map(([, value]) => value)).toEqual(['Skein', 2]);
  });
});

describe('XdbcTypeInfo', () => {
  test('is sorted by the numbers of types', async () => {
    const table = await client.metadataRows('CommandGetXdbcTypeInfo', {});
    const rows = valuesOf(table);
    const numbers = rows.map(([, type]) => Number(type));
    expect(numbers).toEqual(numbers.toSorted((a, b) => a - b));
    expect(table.schema.fields).toHaveLength(19);
  });

  test('of one type', async () => {
    const rows = valuesOf(await client.metadataRows('CommandGetXdbcTypeInfo', { data_type: 3 }));
    expect(rows.map(([name]) => name)).toEqual(['DECIMAL']);
  });
});

test('a token that may not list tables sees none', async () => {
  const token = await cluster.token({ scope: ['catalog:read'] });
  using poor = new FlightClient(must(cluster.ready.flight_sql_url, 'it serves'), `Bearer ${token}`);
  expect(await failureOf(poor.metadataRows('CommandGetTables', {}))).toMatchObject({ code: status.PERMISSION_DENIED });
});
