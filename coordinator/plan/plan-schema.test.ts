import { readdirSync, readFileSync } from 'node:fs';
import { beforeAll, describe, expect, test } from 'vitest';
import { SCRIPTED_ASKER, scriptedTables, TPCH_TABLES } from '#test/support/scripted/tables.ts';
import type { Expression } from './expression.ts';
import type { Plan } from './plan.ts';
import { outputFields } from './plan-schema.ts';
import { children, mapChildren, walkPlan } from './plan-tree.ts';
import type { Planner } from '../binding/planner.ts';
import { queryPreparer } from '../prepare/prepare-query.ts';
import type { PreparedQuery } from '../binding/prepared-query.ts';
import { sessionPlanner } from '#test/support/session-planner.ts';
import { printSqlType } from './sql-type.ts';

const tables = scriptedTables(TPCH_TABLES);
const context = {
  nowMicros: '1708000000000000',
  timeZone: 'UTC',
  currentUser: 'u',
  currentCatalog: 'lake',
  currentSchema: 'tpch',
};
const prepare = queryPreparer({ cacheEntries: 0, cacheBytes: 2 ** 26 });
let planner: Planner;
beforeAll(async () => {
  planner = await sessionPlanner();
});
const prepared = (sql: string): Promise<PreparedQuery> =>
  prepare({ sql, offset: 0, context, asker: SCRIPTED_ASKER, tables, planner, signal: AbortSignal.timeout(10_000) });

const QUERIES = new URL('../../test/tpch/queries/', import.meta.url);
const statements = [
  ...readFileSync(new URL('../planner/golden/statements.sql', import.meta.url), 'utf8')
    .trim()
    .split('\n'),
  ...readdirSync(QUERIES).map((file) => readFileSync(new URL(file, QUERIES), 'utf8').replace(/;\s*$/, '')),
];

/** The expressions of a node over its one input. */
function expressionsOf(plan: Plan): readonly Expression[] {
  if (plan.kind === 'filter') return plan.conditions;
  if (plan.kind === 'project') return plan.expressions.map(({ expression }) => expression);
  if (plan.kind === 'aggregate') return [...plan.groups, ...plan.aggregates.flatMap((call) => call.children)];
  if (plan.kind === 'sort') return plan.orders.map((order) => order.expression);
  if (plan.kind === 'distinct') return plan.on;
  if (plan.kind !== 'window') return [];
  return plan.calls.flatMap((call) => [...call.children, ...call.partitions, ...call.orders.map((o) => o.expression)]);
}

function* columnsIn(value: unknown): Generator<Extract<Expression, { kind: 'column' }>> {
  if (typeof value !== 'object' || value === null) return;
  if ('kind' in value && value.kind === 'column') yield value as Extract<Expression, { kind: 'column' }>;
  for (const child of Object.values(value)) yield* columnsIn(child);
}

describe('schemas', () => {
  test.each(statements)('%s', async (sql) => {
    const { plan, columns } = await prepared(sql);
    expect(plan).not.toBeNull();
    if (plan === null) return;
    expect(outputFields(plan).map(({ type }) => printSqlType(type))).toEqual(columns.map(({ typeName }) => typeName));
    for (const node of walkPlan(plan)) {
      const [input] = children(node);
      const expressions = expressionsOf(node);
      if (input === undefined || expressions.length === 0) continue;
      const fields = outputFields(input);
      for (const column of columnsIn(expressions)) {
        const field = fields[column.index];
        expect(field, `${node.kind}: column ${column.index} of ${fields.length}`).toBeDefined();
        if (field !== undefined) expect(printSqlType(column.type)).toBe(printSqlType(field.type));
      }
    }
  });
});

test('mapping children keeps what does not change', async () => {
  for (const sql of statements) {
    const { plan } = await prepared(sql);
    if (plan === null) continue;
    const same = (node: Plan): Plan => mapChildren(node, same);
    expect(same(plan)).toBe(plan);
    const copy = (node: Plan): Plan => ({ ...mapChildren(node, copy) });
    expect(copy(plan)).toEqual(plan);
    expect(copy(plan)).not.toBe(plan);
  }
});
