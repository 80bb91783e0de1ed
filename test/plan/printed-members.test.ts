import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { DuckDBConnection } from '@duckdb/node-api';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { NotPrintable } from '#coordinator/distributor/print/not-printable.ts';
import { printPlan } from '#coordinator/distributor/print/print-plan.ts';
import type { Plan } from '#coordinator/plan/plan.ts';
import type { Planner } from '#coordinator/binding/planner.ts';
import { openFixture } from '#test/slt/fixture.ts';
import { setRoundTripContext, planOf } from '#test/support/round-trip.ts';
import { sessionPlanner } from '#test/support/session-planner.ts';

/**
 * Members of plans and of their expressions that no text shows, each with the reason. Every other member must show: a plan that differs in
 * it must have another text, or none.
 */
const SILENT: Readonly<Record<string, string>> = {
  'column name': 'columns are found by position',
  'project name': 'columns are found by position',
  'aggregate type': 'it follows from the arguments, which have their casts',
  'window type': 'it follows from the arguments, which have their casts',
  'unnest type': 'the type of the list’s elements',
  'delimScan columns': 'those of the join above',
  'sample is_null': 'the size of a sample is given',
  'sample type': 'the size of a sample is a number',
  'scan read': 'how files are shared among tasks',
  'cte name': 'definitions are named by their index',
  'recursiveCte name': 'definitions are named by their index',
  'join distribution': 'where rows lie',
};

type Json = Readonly<Record<string, unknown>>;

/** Replacements of a member: something of the same kind that means something else. */
function* others(value: unknown): Generator {
  if (typeof value === 'boolean') yield !value;
  else if (typeof value === 'number') yield value + 1;
  else if (typeof value === 'bigint') yield value + 1n;
  else if (typeof value === 'string') yield `${value}x`;
  else if (value === null) yield* [CONDITION, [0]];
  else if (Array.isArray(value)) {
    if (value.length > 0) yield value.slice(0, -1);
  } else yield CONDITION;
}

const CONDITION = { kind: 'constant', value: 17n, type: { kind: 'scalar', name: 'BIGINT' } };

/** The kind of an object within a plan: that of the node or expression that it is or belongs to. */
const kindOf = (node: Json, within: string): string => (typeof node['kind'] === 'string' ? node['kind'] : within);

/** Yields each member of a plan, by the kind of its owner, with the plan in which it is another one. */
function* changes(
  node: unknown,
  within: string,
  put: (node: unknown) => unknown,
): Generator<readonly [member: string, plan: unknown]> {
  if (Array.isArray(node)) {
    for (const [i, one] of node.entries()) yield* changes(one, within, (other) => put(node.with(i, other)));
    return;
  }
  if (typeof node !== 'object' || node === null) return;
  const own = node as Json;
  const kind = kindOf(own, within);
  for (const [name, value] of Object.entries(own)) {
    if (name === 'kind') continue;
    for (const other of others(value)) yield [`${kind} ${name}`, put({ ...own, [name]: other })];
    if (!WHOLE.has(name))
      yield* changes(value, name === 'columns' ? 'field' : kind, (other) => put({ ...own, [name]: other }));
  }
}

/** Members whose own members are not looked at: types are printed whole, and values by their types. */
const WHOLE: ReadonlySet<string> = new Set(['type', 'value']);

let connection: DuckDBConnection;
let planner: Planner;

beforeAll(async () => {
  planner = await sessionPlanner();
  connection = await openFixture();
  await connection.run('USE memory.t');
  await setRoundTripContext(connection, 't');
}, 60_000);

afterAll(async () => {
  await planner?.close();
  connection?.closeSync();
});

const text = (plan: Plan): string => {
  try {
    return JSON.stringify(printPlan(plan, { scan: ({ scan }) => scan, stage: () => 0 }));
  } catch (error) {
    // A plan that holds what it cannot hold, as many of these do, is no plan at all.
    return error instanceof NotPrintable ? `refused: ${error.reason}` : 'refused';
  }
};

test('every member of a plan is printed, or the plan is refused', async () => {
  const statements = readFileSync(join(import.meta.dirname, 'round-trip.sql'), 'utf8')
    .trim()
    .split('\n')
    .filter((line) => !line.startsWith('--'))
    .map((line) => line.replace(/^(?:error|whole): /, ''));
  const [found, shown] = [new Set<string>(), new Set<string>()];
  const asof = `SELECT a.id, b.id FROM employees a ASOF JOIN employees b ON a.dept = b.dept AND a.id >= b.id AND a.salary <> b.salary`;
  for (const sql of [asof, ...statements]) {
    const { plan } = await planOf(sql, { connection, planner, schema: 't' });
    if (plan === null || text(plan).startsWith('refused')) continue;
    const whole = text(plan);
    for (const [member, other] of changes(plan, 'plan', (changed) => changed)) {
      found.add(member);
      if (!shown.has(member) && text(other as Plan) !== whole) shown.add(member);
    }
  }
  expect([...found].filter((member) => !shown.has(member) && !(member in SILENT)).toSorted()).toEqual([]);
  expect(shown.has('join residual')).toBe(true);
  expect(Object.keys(SILENT).filter((member) => shown.has(member))).toEqual([]);
}, 60_000);
