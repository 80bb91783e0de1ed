import { DuckDBInstance } from '@duckdb/node-api';
import { expect, test } from 'vitest';
import type { Fragment, ScanFacts, StageFacts } from './fragment.ts';
import type { Expression } from '../plan/expression.ts';
import { outputFields } from '../plan/plan-schema.ts';
import type { JoinPlan, Plan } from '../plan/plan.ts';
import {
  describeKeys,
  findDynamicFilters,
  isKeySetWorth,
  areSelective,
  keySetFragment,
  keysFragment,
  parseKeys,
  scanBounds,
  withKeys,
  withKeySet,
} from './dynamic-filter.ts';

const BIGINT = { kind: 'scalar', name: 'BIGINT' } as const;
const column = (index: number): Expression => ({ kind: 'column', index, name: `x${index}`, type: BIGINT });
const columns = [0, 1].map((index) => ({ index: index + 3, name: `x${index}`, type: BIGINT }));
const scan: Plan = { kind: 'scan', scan: 0, columns };
const stage: Plan = { kind: 'stage', stage: 7, read: 'partition', columns: [{ index: 2, name: 'k', type: BIGINT }] };
const hashed = (child: Plan): Plan => ({
  kind: 'exchange',
  child,
  to: { kind: 'hash', keys: [], spreadNulls: false },
  stage: 9,
  partitions: 2,
  reason: '',
});
const join = (changes: Partial<JoinPlan> = {}): JoinPlan => ({
  kind: 'join',
  type: 'inner',
  left: hashed(scan),
  right: stage,
  conditions: [{ op: 'eq', left: column(1), right: column(0) }],
  residual: null,
  asof: false,
  distribution: 'partitioned',
  delim: null,
  delimFlipped: false,
  leftProjection: null,
  rightProjection: null,
  ...changes,
});
const facts = (rows: number): ScanFacts => ({
  rows,
  bytes: rows,
  files: 1,
  columns: [3, 4].map(() => ({ distinctMax: 1_000_000, nulls: 0, lower: 0, upper: 999_999 })),
});
const ran = (rows: number): ReadonlyMap<number, StageFacts> =>
  new Map([[7, { rows, bytes: rows, output: { kind: 'gather' }, partitions: [], tasks: 1 }]]);
const find = (plan: Plan, probe = 2_000_000, build = 100) => findDynamicFilters(plan, [facts(probe)], ran(build));

test('the scan below an exchange is narrowed by the stage that it is joined with', () => {
  expect(find(join())).toEqual([{ stage: 7, column: 2, scan: 0, position: 1 }]);
  const filtered: Plan = { kind: 'filter', child: scan, conditions: [], projection: [1] };
  const below = join({ left: hashed(filtered), conditions: [{ op: 'eq', left: column(0), right: column(0) }] });
  expect(find(below)).toEqual([{ stage: 7, column: 2, scan: 0, position: 1 }]);
  const flipped = join({
    left: stage,
    right: hashed(scan),
    conditions: [{ op: 'eq', left: column(0), right: column(1) }],
  });
  expect(find({ ...flipped, type: 'left' })).toHaveLength(1);
});

test('it does not fire for a small scan, a big build side, a broadcast join, or rows that must come anyway', () => {
  expect(find(join(), 1_000)).toEqual([]);
  expect(find(join(), 2_000_000, 1_500_000)).toEqual([]);
  expect(find(join({ left: scan }))).toEqual([]);
  for (const type of ['left', 'full', 'anti', 'mark', 'single'] as const) expect(find(join({ type }))).toEqual([]);
  expect(find(join({ conditions: [{ op: 'notDistinct', left: column(1), right: column(0) }] }))).toEqual([]);
  const computed: Expression = { kind: 'cast', child: column(1), type: BIGINT, tryCast: false };
  expect(find(join({ conditions: [{ op: 'eq', left: computed, right: column(0) }] }))).toEqual([]);
  const limited: Plan = {
    kind: 'limit',
    child: scan,
    limit: { kind: 'rows', rows: 5 },
    offset: { kind: 'none' },
  };
  expect(find(join({ left: hashed(limited) }))).toEqual([]);
});

test('a scan that two readers share is not narrowed for one of them', () => {
  expect(find({ kind: 'cross', left: join(), right: scan })).toEqual([]);
});

test('the keys come as one row of JSON, and big ones are kept exactly', () => {
  const build = { stage: 7, fields: [] } as never;
  expect(JSON.stringify(keysFragment(9, build, [2], 10).sql)).toContain('min(c2)');
  expect(JSON.stringify(keysFragment(9, build, [2], 4_000_000).sql)).not.toContain('DISTINCT');
  expect(
    parseKeys(',[["1","9223372036854775807",["9223372036854775807","1"]],[null,null,null],["2","3",null]]'),
  ).toEqual([
    { min: 1n, max: 9_223_372_036_854_775_807n, values: [1n, 9_223_372_036_854_775_807n] },
    null,
    { min: 2n, max: 3n, values: null },
  ]);
});

test('keys that cover what the column holds are no gain', () => {
  const known = facts(1).columns[0];
  expect(areSelective({ min: 0n, max: 999_999n, values: null }, known)).toBe(false);
  expect(areSelective({ min: 0n, max: 99_999n, values: null }, known)).toBe(true);
  expect(areSelective({ min: 0n, max: 999_999n, values: [0n, 999_999n] }, known)).toBe(true);
  expect(areSelective({ min: 0n, max: 1n, values: null }, undefined)).toBe(false);
});

test('the conditions stand right over the scan', () => {
  const [filter] = find(join());
  if (filter === undefined) throw new Error('no filter');
  const narrowed = withKeys(join({ left: scan }), filter, { min: 1n, max: 2n, values: null });
  expect(narrowed).toMatchObject({
    left: {
      kind: 'filter',
      child: scan,
      conditions: [
        { op: 'ge', left: { index: 1 }, right: { value: 1 } },
        { op: 'le', left: { index: 1 }, right: { value: 2 } },
      ],
    },
  });
  expect(withKeys(scan, filter, { min: 1n, max: 2n, values: [1n, 2n] })).toMatchObject({
    conditions: [{ kind: 'in', list: [{ value: 1 }, { value: 2 }] }],
  });
});

test.each<[string, { readonly rows: number; readonly of: number }, number | null, boolean]>([
  ['half of the tables and of the values', { rows: 500_000, of: 1_000_000 }, 1_000_000, true],
  ['of stages, whose tables are not known', { rows: 500_000, of: 0 }, 1_000_000, true],
  ['as few as come in a list', { rows: 1_000, of: 1_000_000 }, 1_000_000, false],
  ['one more than those', { rows: 1_001, of: 1_000_000 }, 1_000_000, true],
  ['at most two million', { rows: 2_000_000, of: 100_000_000 }, 100_000_000, true],
  ['more than that', { rows: 2_000_001, of: 100_000_000 }, 100_000_000, false],
  ['most rows of a table', { rows: 600_000, of: 1_000_000 }, 10_000_000, false],
  ['most values of the column', { rows: 600_000, of: 10_000_000 }, 1_000_000, false],
  ['a column whose values nobody knows', { rows: 500_000, of: 1_000_000 }, null, false],
])('a set of keys is worth it or not: %s', (_why, build, distinctMax, expected) => {
  expect(isKeySetWorth(build, { distinctMax, nulls: 0 })).toBe(expected);
  expect(isKeySetWorth(build, undefined)).toBe(false);
});

const build: Fragment = {
  stage: 7,
  plan: { kind: 'oneRow' },
  output: { kind: 'hash', keys: [], spreadNulls: false },
  partitions: 8,
  fields: ['a', 'b'].map((name) => ({ name, type: BIGINT })),
  sql: [],
  scans: [],
  inputs: [],
  tasks: { kind: 'splits' },
  width: 1,
  collected: false,
  repeatable: true,
  estimate: { rows: 1, bytes: 1 },
  reason: '',
};

test('a set of keys is a stage that shares out what the build side gave, and that everybody reads', () => {
  expect(keySetFragment(12, build, 1)).toMatchObject({
    stage: 12,
    output: { kind: 'broadcast' },
    fields: [{ name: 'b', type: BIGINT }],
    sql: ['SELECT DISTINCT c1 AS c0 FROM ', { input: 0 }, ' AS t WHERE c1 IS NOT NULL'],
    inputs: [{ stage: 7, read: 'share', fields: build.fields }],
    tasks: { kind: 'splits' },
    width: 1,
    collected: false,
    repeatable: true,
  });
  expect(() => keySetFragment(12, build, 2)).toThrow('a column of the build side');
});

test('the printed texts in DuckDB: each key once, no NULL; then their bounds, and the keys when they are few', async () => {
  const instance = await DuckDBInstance.create(':memory:', { threads: '1' });
  const connection = await instance.connect();
  const read = async ({ sql }: Fragment, input: string): Promise<unknown[][]> => {
    const text = sql.map((part) => (typeof part === 'string' ? part : `(${input})`)).join('');
    return (await connection.runAndReadAll(text)).getRows();
  };
  const input = 'SELECT 9 AS c0, nullif(i % 5, 0) AS c1 FROM range(100) r(i)';
  const keys = (await read(keySetFragment(12, build, 1), input)).flat();
  expect(keys).toHaveLength(4);
  expect(new Set(keys)).toEqual(new Set([1n, 2n, 3n, 4n]));
  const json = async (rows: number, areDistinct: boolean): Promise<string> => {
    const [[text] = []] = await read(
      keysFragment(13, build, [0], rows, { areDistinct }),
      'SELECT i AS c0 FROM range(3) r(i)',
    );
    return String(text);
  };
  expect(parseKeys(await json(1_000, true))).toEqual([{ min: 0n, max: 2n, values: [0n, 1n, 2n] }]);
  expect(parseKeys(await json(1_001, true))).toEqual([{ min: 0n, max: 2n, values: null }]);
  expect(parseKeys(await json(1_001, false))).toEqual([{ min: 0n, max: 2n, values: [0n, 1n, 2n] }]);
  connection.closeSync();
  instance.closeSync();
});

test('a set of keys is joined right over the scan, wherever that stands; the columns stay', () => {
  const narrowed = withKeySet(join({ left: hashed(scan) }), { scan: 0, position: 1 }, 12);
  const semi: Plan = {
    ...join({ type: 'semi', left: scan, distribution: 'broadcastRight' }),
    right: { kind: 'stage', stage: 12, read: 'all', columns: [{ index: 0, name: 'x1', type: BIGINT }] },
    conditions: [{ op: 'eq', left: column(1), right: { kind: 'column', index: 0, name: 'x1', type: BIGINT } }],
  };
  expect(narrowed).toEqual(join({ left: hashed(semi) }));
  expect(outputFields(semi)).toEqual(outputFields(scan));
  // Another scan stays as it is.
  const other = join({ left: hashed({ ...scan, scan: 1 }) });
  expect(withKeySet(other, { scan: 0, position: 1 }, 12)).toBe(other);
});

test('EXPLAIN ANALYZE says how many keys there were, in a list or as a stage', () => {
  const keys = { min: 1n, max: 9n, values: null };
  expect(describeKeys('t.x', keys, { stage: 7, rows: null })).toBe('t.x from 1 to 9, from stage 7');
  expect(describeKeys('t.x', keys, { stage: 7, rows: 5_000 })).toBe('t.x from 1 to 9 (5000 values), from stage 7');
  expect(describeKeys('t.x', { ...keys, values: [1n, 9n] }, { stage: 7, rows: 5_000 })).toBe(
    't.x from 1 to 9 (2 values), from stage 7',
  );
});

test('the manifests’ bounds of a column that comes from a scan', () => {
  const columnsOf = [0, 1, 2, 3, 4].map((i) => ({ distinctMax: 9, nulls: 0, lower: i * 10, upper: i * 10 + 8.5 }));
  const scans = [{ ...facts(10), columns: columnsOf }];
  const named = (expression: Expression): Plan => ({
    kind: 'project',
    child: { kind: 'filter', child: scan, conditions: [], projection: [1] },
    expressions: [{ name: '', expression }],
  });
  expect(scanBounds(hashed(named(column(0))), 0, scans)).toEqual({ min: 40n, max: 49n, values: null });
  expect(scanBounds(named({ kind: 'not', child: column(0) }), 0, scans)).toBeNull();
  expect(scanBounds(scan, 0, [facts(10)])).toBeNull();
  expect(scanBounds(stage, 0, scans)).toBeNull();
});
