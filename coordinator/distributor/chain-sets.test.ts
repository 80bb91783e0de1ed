import { beforeAll, describe, expect, test } from 'vitest';
import { scriptedPlans, type ScriptedPlans } from '#test/support/scripted/plans.ts';
import type { AggregateCall, Expression } from '../plan/expression.ts';
import { outputFields } from '../plan/plan-schema.ts';
import type { Plan } from '../plan/plan.ts';
import type { SqlType } from '../plan/sql-type.ts';
import { canChain, chainSets } from './chain-sets.ts';

let plans: ScriptedPlans;
beforeAll(async () => {
  plans = await scriptedPlans();
});

const scalar = (name: string): SqlType => ({ kind: 'scalar', name });
const [BIGINT, HUGEINT, VARCHAR] = [scalar('BIGINT'), scalar('HUGEINT'), scalar('VARCHAR')];
const column = (index: number, name: string, type = BIGINT): Expression => ({ kind: 'column', index, name, type });
const scan: Plan = {
  kind: 'scan',
  scan: 0,
  columns: [
    { index: 0, name: 'a', type: BIGINT },
    { index: 1, name: 'b', type: VARCHAR },
    { index: 2, name: 'x', type: BIGINT },
  ],
};
const call = (name: string, type: SqlType, changes: Partial<AggregateCall> = {}): AggregateCall => ({
  name,
  children: [column(2, 'x')],
  distinct: false,
  filter: null,
  orders: [],
  type,
  ...changes,
});
const aggregate = (changes: Partial<Extract<Plan, { kind: 'aggregate' }>> = {}): Plan => ({
  kind: 'aggregate',
  child: scan,
  groups: [column(0, 'a'), column(1, 'b', VARCHAR)],
  sets: [[], [0], [0, 1]],
  aggregates: [call('sum', HUGEINT), call('count', BIGINT)],
  groupings: [[0, 1]],
  chained: true,
  ...changes,
});

describe('the groups of a set come from those of a larger one', () => {
  test('the pair', () => {
    expect(plans.print(aggregate())).toMatchInlineSnapshot(`
      "Aggregate
             groups: a, b
             grouping sets: [[],[0],[0,1]], each from a larger one
             sum(x), count(x)
         └─ Scan 0"
    `);
    expect(plans.print(chainSets(aggregate()))).toMatchInlineSnapshot(`
      "Cte set0 (0)
         └─ Aggregate
                groups: a, b
                sum(x), count(x)
            └─ Scan 0
         └─ Cte set1 (1)
            └─ Project
                   #0, #1, CAST(coalesce(#2, 0) AS BIGINT)
               └─ Aggregate
                      groups: #0
                      sum(#2), sum(#3)
                  └─ CteScan (0)
            └─ UnionAll
               └─ Project
                      #0 AS a, #1 AS b, #2 AS sum, #3 AS count, 0 AS grouping
                  └─ CteScan (0)
               └─ Project
                      #0 AS a, NULL AS b, #1 AS sum, #2 AS count, 1 AS grouping
                  └─ CteScan (1)
               └─ Project
                      NULL AS a, NULL AS b, #0 AS sum, #1 AS count, 3 AS grouping
                  └─ Project
                         #0, CAST(coalesce(#1, 0) AS BIGINT)
                     └─ Aggregate
                            sum(#1), sum(#2)
                        └─ CteScan (1)"
    `);
  });

  test('it gives the same columns, also below another node', () => {
    const limited = (child: Plan): Plan => ({
      kind: 'limit',
      child,
      limit: { kind: 'rows', rows: 3 },
      offset: { kind: 'none' },
    });
    const types = (plan: Plan): readonly SqlType[] => outputFields(plan).map(({ type }) => type);
    expect(types(chainSets(limited(aggregate())))).toEqual(types(aggregate()));
  });

  test('each from the smallest that has its columns; what no other reads is computed where it is read', () => {
    const cube = aggregate({ sets: [[], [0], [0, 1], [1]] });
    expect(plans.print(chainSets(cube))).toMatchInlineSnapshot(`
      "Cte set0 (0)
         └─ Aggregate
                groups: a, b
                sum(x), count(x)
            └─ Scan 0
         └─ Cte set2 (2)
            └─ Project
                   #0, #1, CAST(coalesce(#2, 0) AS BIGINT)
               └─ Aggregate
                      groups: #1
                      sum(#2), sum(#3)
                  └─ CteScan (0)
            └─ UnionAll
               └─ Project
                      #0 AS a, #1 AS b, #2 AS sum, #3 AS count, 0 AS grouping
                  └─ CteScan (0)
               └─ Project
                      #0 AS a, NULL AS b, #1 AS sum, #2 AS count, 1 AS grouping
                  └─ Project
                         #0, #1, CAST(coalesce(#2, 0) AS BIGINT)
                     └─ Aggregate
                            groups: #0
                            sum(#2), sum(#3)
                        └─ CteScan (0)
               └─ Project
                      NULL AS a, #0 AS b, #1 AS sum, #2 AS count, 2 AS grouping
                  └─ CteScan (2)
               └─ Project
                      NULL AS a, NULL AS b, #0 AS sum, #1 AS count, 3 AS grouping
                  └─ Project
                         #0, CAST(coalesce(#1, 0) AS BIGINT)
                     └─ Aggregate
                            sum(#1), sum(#2)
                        └─ CteScan (2)"
    `);
  });

  test('its name is free', () => {
    const taken: Plan = { kind: 'cte', index: 4, name: 'mine', definition: scan, body: aggregate() };
    expect(chainSets(taken)).toMatchObject({ index: 4, body: { kind: 'cte', index: 5 } });
  });
});

test.each<[string, Plan]>([
  ['the distributor has not chosen it', aggregate({ chained: false })],
  ['no set has all columns of the others', aggregate({ sets: [[0], [1]] })],
  ['a call has no merge', aggregate({ aggregates: [call('list', scalar('BIGINT[]'))] })],
  ['a call has other parts', aggregate({ aggregates: [call('avg', scalar('DOUBLE'))] })],
  ['a call is DISTINCT', aggregate({ aggregates: [call('count', BIGINT, { distinct: true })] })],
  [
    'a call has an order',
    aggregate({
      aggregates: [
        call('sum', HUGEINT, { orders: [{ expression: column(0, 'a'), descending: false, nullsFirst: false }] }),
      ],
    }),
  ],
  [
    'the sets are thousands',
    aggregate({
      groups: Array.from({ length: 12 }, (_, i) => column(i % 2, 'a')),
      sets: Array.from({ length: 4_096 }, (_, set) =>
        Array.from({ length: 12 }, (_none, i) => i).filter((i) => (set >> i) % 2),
      ),
    }),
  ],
  [
    'GROUPING() has more bits than a number',
    aggregate({
      groups: Array.from({ length: 51 }, (_, i) => column(i % 2, 'a')),
      sets: [[], Array.from({ length: 51 }, (_, i) => i)],
    }),
  ],
])('nothing changes where %s', (_why, plan) => {
  expect(chainSets(plan)).toBe(plan);
  expect(plan.kind === 'aggregate' && plan.chained === true && canChain(plan)).toBe(false);
});
