import { globSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import type { DuckDBConnection } from '@duckdb/node-api';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { sessionPlanner } from '#test/support/session-planner.ts';
import type { Planner } from '#coordinator/binding/planner.ts';
import { TPCH_TABLES, tpchFiles } from '#cli/load/tpch.ts';
import { openFixture } from '#test/slt/fixture.ts';
import { parseSlt } from '#test/slt/slt-file.ts';
import { LONG_INTERVALS, TYPES } from '#test/support/duckdb-types.ts';
import { roundTrip, setRoundTripContext } from '#test/support/round-trip.ts';
import { TPCH_QUERIES } from '#test/tpch/tpch-queries.ts';

let connection: DuckDBConnection;
let planner: Planner;

beforeAll(async () => {
  planner = await sessionPlanner();
  connection = await openFixture();
  for (const table of TPCH_TABLES) {
    const { paths } = await tpchFiles(table, '0.01', '', AbortSignal.timeout(10_000));
    await connection.run(`CREATE VIEW tpch.${table} AS SELECT * FROM read_parquet('${paths.join("', '")}')`);
  }
}, 60_000);

afterAll(async () => {
  await planner?.close();
  connection?.closeSync();
});

let current = '';
const trip = async (sql: string, schema: string) => {
  if (schema !== current) {
    await connection.run(`USE memory.${schema}`);
    await setRoundTripContext(connection, schema);
    current = schema;
  }
  const { kind, message, sql: printed } = await roundTrip(sql, { connection, planner, schema });
  return { kind, message, printed };
};

describe('a printed plan gives the rows of its statement', () => {
  const lines = readFileSync(join(import.meta.dirname, 'round-trip.sql'), 'utf8')
    .trim()
    .split('\n');
  const statements = lines.filter((line) => !line.startsWith('--'));
  test.each(statements)('%s', async (line) => {
    const [, mark = '', sql = ''] = /^(error: |whole: |)(.*)$/.exec(line) ?? [];
    const kinds: Readonly<Record<string, string>> = { 'error: ': 'bothFail', 'whole: ': 'notPrintable' };
    const { kind, message, printed } = await trip(sql, 't');
    expect(kind, `${message}\n${printed}`).toBe(kinds[mark] ?? 'same');
  });
});

describe('constants are printed as they are, by themselves and in a list', () => {
  test.each([...TYPES, ['INTERVAL', LONG_INTERVALS] as const])('%s: %j', async (type, values) => {
    const constants = values.map((value) => `CAST(${value} AS ${type})`);
    // DuckDB prints no plan that holds constants as long as this list.
    const { kind, message, printed } = await trip(
      `SELECT id, ${constants.join(', ')}, [${constants.join(', ')}] FROM employees`,
      't',
    );
    expect(kind, `${message}\n${printed}`).toBe(type === 'BIGINT[]' ? 'noPlan' : 'same');
  });
});

describe('sums and products of DECIMALs have the type that they had, without a cast of each result', () => {
  const types = ['4,2', '9,2', '15,2', '17,4', '18,6', '20,4', '38,5'];
  test.each(types)('DECIMAL(%s)', async (type) => {
    const others = [...types.map((other) => `id::DECIMAL(${other})`), '1', '1.5', '0.001', '-12345.67'];
    const rows = (other: string) =>
      `(SELECT TRY_CAST(salary / 10000 AS DECIMAL(${type})) AS d, ${other} AS e FROM employees)`;
    for (const other of others) {
      for (const operation of ['d + e', 'e + d', 'd - e', 'e - d', 'd * e', 'e * d']) {
        const { kind, message, printed } = await trip(`SELECT ${operation} FROM ${rows(other)}`, 't');
        expect(['same', 'bothFail'], `${operation} of ${other}\n${message}\n${printed}`).toContain(kind);
        if (kind === 'same') expect(printed).not.toMatch(/(?<!TRY_)CAST\(\(\w+\.\w+ [-+*]/);
      }
    }
  });
});

describe.each(globSync(join(import.meta.dirname, '../slt/both/*.slt')).sort())('%s', (file) => {
  const records = parseSlt(readFileSync(file, 'utf8')).filter((record) => record.kind === 'query');
  test(`${basename(file)}: ${records.length} queries`, async () => {
    for (const { sql } of records) {
      const { kind, message, printed } = await trip(sql, 't');
      expect(kind, `${sql}\n${message}\n${printed}`).toBe('same');
    }
  }, 60_000);
});

describe('TPC-H', () => {
  test.each(TPCH_QUERIES)('$name', async ({ sql }) => {
    const { kind, message, printed } = await trip(sql.trim().replace(/;$/, ''), 'tpch');
    expect(kind, `${message}\n${printed}`).toBe('same');
  });
});
