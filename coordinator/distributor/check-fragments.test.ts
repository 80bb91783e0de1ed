import { beforeAll, expect, test } from 'vitest';
import { pino } from 'pino';
import { SkeinError } from '#shared/error.ts';
import type { Fragment } from './fragment.ts';
import { newPlanMemory } from '../binding/plan-memory.ts';
import type { BindRequest, Planner } from '../binding/planner.ts';
import { sessionPlanner } from '#test/support/session-planner.ts';
import type { SqlType } from '../plan/sql-type.ts';
import { SCRIPTED_ASKER, scriptedTables } from '#test/support/scripted/tables.ts';
import { queryPreparer } from '../prepare/prepare-query.ts';
import { FragmentChecker, type CheckedQuery } from './check-fragments.ts';

const context = { nowMicros: '0', timeZone: 'UTC', currentUser: 'u', currentCatalog: 'lake', currentSchema: 's' };
const tables = scriptedTables({ 'lake.s.t': { columns: 'a int, b string' } });
const signal = new AbortController().signal;
const INTEGER: SqlType = { kind: 'scalar', name: 'INTEGER' };

let planner: Planner;
let scans: CheckedQuery['scans'];
beforeAll(async () => {
  planner = await sessionPlanner();
  const prepare = queryPreparer({ cacheEntries: 0, cacheBytes: 2 ** 26 });
  const request = { sql: 'FROM t', offset: 0, context, asker: SCRIPTED_ASKER, tables, planner, signal };
  ({ scans } = await prepare(request));
});

const fragment = (changes: Partial<Fragment>): Fragment => ({
  stage: 0,
  plan: { kind: 'oneRow' },
  output: null,
  partitions: 1,
  fields: [{ name: '', type: INTEGER }],
  sql: ['SELECT t1."a" AS c0 FROM ', { scan: 0 }, ' AS t1'],
  scans: [{ scan: 0, read: 'split' }],
  inputs: [],
  tasks: { kind: 'splits' },
  width: 1,
  collected: false,
  repeatable: true,
  estimate: { rows: 1, bytes: 1 },
  reason: '',
  ...changes,
});

/** Opens a checker, with the requests that it sent to its planner and what it reported. */
function open(bind: Planner['bind'] = (...request) => planner.bind(...request)) {
  const requests: BindRequest[] = [];
  const logged: { readonly sql: string; readonly why: string }[] = [];
  let refused = 0;
  const counting: Planner = {
    ...planner,
    bind: (request, ...rest) => {
      requests.push(request);
      return bind(request, ...rest);
    },
  };
  const log = pino({ level: 'error' }, { write: (line: string) => void logged.push(JSON.parse(line) as never) });
  const checker = new FragmentChecker(counting, log, () => void (refused += 1));
  const memory = newPlanMemory();
  const check = (...fragments: readonly Fragment[]) =>
    checker.check(fragments, { memory, scans, context, contextual: false, asker: SCRIPTED_ASKER, signal });
  return { check, requests, logged, refused: () => refused };
}

const INPUT = {
  stage: 0,
  read: 'all',
  fields: [{ name: '', type: { kind: 'list', element: INTEGER } as const }],
  reads: 1,
} as const;
const second = fragment({
  sql: ['SELECT len(t1.c0)::INTEGER AS c0 FROM ', { input: 0 }, ' AS t1'],
  scans: [],
  inputs: [INPUT],
});

test('fragments that bind are bound in one request, and once for a plan', async () => {
  const { check, requests, refused } = open();
  expect(await check(fragment({}), second)).toBeNull();
  expect(await check(fragment({}), second)).toBeNull();
  expect(requests.map(({ texts }) => texts.length)).toEqual([2]);
  expect(
    await check(fragment({}), fragment({ partitions: 2, sql: ['SELECT 1 AS c0, CAST(0 AS UINTEGER)'] })),
  ).toBeNull();
  expect(requests.map(({ texts }) => texts.length)).toEqual([2, 1]);
  expect(refused()).toBe(0);
});

test.each([
  ['does not parse', fragment({ sql: ['SELECT CAST(NULL AS STRUCT(INTEGER, VARCHAR)) AS c0'] }), /syntax error/],
  ['names no column', fragment({ sql: ['SELECT t1."z" AS c0 FROM ', { scan: 0 }, ' AS t1'] }), /"z"/],
  [
    'compares what cannot be compared',
    fragment({ sql: ['SELECT 1 AS c0 FROM ', { scan: 0 }, " WHERE b >= '\\xF4'::BLOB"] }),
    /BLOB/,
  ],
  [
    'gives another type',
    fragment({ sql: ['SELECT 1.5 AS c0'] }),
    /its columns are \(DECIMAL\(2,1\)\), not \(INTEGER\)/,
  ],
  [
    'gives another number of columns',
    fragment({ sql: ['SELECT 1 AS c0, 2 AS c1'] }),
    /\(INTEGER, INTEGER\), not \(INTEGER\)/,
  ],
  ['is no query', fragment({ sql: ['SET threads = 1'] }), /only queries/],
  ['holds a NUL', fragment({ sql: ["SELECT length('\0') AS c0"] }), /NUL/],
  [
    'reads what has no type',
    { ...second, inputs: [{ ...INPUT, fields: [{ name: '', type: { kind: 'scalar', name: 'NONE' } as const }] }] },
    /NONE/,
  ],
])(
  'a fragment that %s makes the query run whole, and is logged once and counted each time',
  async (_what, bad, why) => {
    const { check, logged, refused, requests } = open();
    for (let times = 1; times <= 2; times += 1) {
      const whole = await check(fragment({}), bad);
      expect(whole).toMatchObject({ kind: 'whole', reason: expect.stringMatching(why) });
      expect(refused()).toBe(times);
    }
    expect(requests).toHaveLength(1);
    expect(logged).toHaveLength(1);
    expect(logged[0]?.why).toMatch(why);
    expect(logged[0]?.sql).toBe(
      bad.sql.map((part) => (typeof part === 'string' ? part : 'scan' in part ? '{scan 0}' : '{input 0}')).join(''),
    );
  },
);

test("a text that takes the planner too long is refused; other errors of the planner are the statement's", async () => {
  const failing = (error: SkeinError) =>
    open(async () => {
      throw error;
    }).check(fragment({}));
  expect(await failing(new SkeinError('STATEMENT_TOO_COMPLEX', 'too long'))).toMatchObject({ kind: 'whole' });
  let isBusy = true;
  const { check } = open(async (...request) => {
    if (isBusy) throw new SkeinError('STATEMENT_TOO_COMPLEX', 'too long');
    return planner.bind(...request);
  });
  expect(await check(fragment({}))).toMatchObject({ kind: 'whole' });
  isBusy = false;
  expect(await check(fragment({}))).toBeNull();
  await expect(failing(new SkeinError('QUERY_CANCELLED', 'stopped'))).rejects.toMatchObject({
    code: 'QUERY_CANCELLED',
  });
});
