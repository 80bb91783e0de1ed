import { beforeAll, describe, expect, test } from 'vitest';
import { printJson } from '#shared/json.ts';
import type { Expression } from '../plan/expression.ts';
import type { JoinPlan, Plan } from '../plan/plan.ts';
import { keyedInputs } from './keyed-inputs.ts';
import { scriptedPlans, type ScriptedPlans } from '#test/support/scripted/plans.ts';

let plans: ScriptedPlans;
beforeAll(async () => {
  plans = await scriptedPlans();
});

const BIGINT = { kind: 'scalar', name: 'BIGINT' } as const;
const column = (index: number, name: string): Expression => ({ kind: 'column', index, name, type: BIGINT });
const leafColumns = ['k', 'l'].map((name, index) => ({ index, name, type: BIGINT }));
const scan: Plan = { kind: 'scan', scan: 0, columns: leafColumns };
const stage = (number: number): Plan => ({ kind: 'stage', stage: number, read: 'all', columns: leafColumns });
const equal = (name: string): JoinPlan['conditions'][number] => {
  const index = name === 'k' ? 0 : 1;
  return { op: 'eq', left: column(index, name), right: column(index, name) };
};
const join = (changes: Partial<JoinPlan> = {}): JoinPlan => ({
  kind: 'join',
  type: 'inner',
  left: scan,
  right: stage(1),
  conditions: [equal('l')],
  residual: null,
  asof: false,
  distribution: null,
  delim: null,
  delimFlipped: false,
  leftProjection: null,
  rightProjection: null,
  ...changes,
});

describe('an earlier stage that a scan is joined with says that its keys are there', () => {
  test('the pair', () => {
    expect(plans.print(join())).toMatchInlineSnapshot(`
      "Join INNER
             l = l
         └─ Scan 0
         └─ Stage 1 (all)"
    `);
    expect(plans.print(keyedInputs(join()))).toMatchInlineSnapshot(`
      "Join INNER
             l = l
         └─ Scan 0
         └─ Filter
                (l IS NOT NULL)
            └─ Stage 1 (all)"
    `);
  });

  test.each<[string, JoinPlan, 'left' | 'right']>([
    ['a semi join', join({ type: 'semi' }), 'right'],
    ['either side of an inner join', join({ left: stage(1), right: scan }), 'left'],
    ['also with a residual condition', join({ residual: column(0, 'k') }), 'right'],
    ['a scan below other nodes', join({ left: { kind: 'cross', left: scan, right: { kind: 'oneRow' } } }), 'right'],
    ['a stage below other nodes', join({ right: join({ left: stage(2), right: stage(3) }) }), 'right'],
  ])('%s', (_why, plan, side) => {
    const other = side === 'left' ? 'right' : 'left';
    expect(keyedInputs(plan)).toEqual({
      ...plan,
      [side]: {
        kind: 'filter',
        child: plan[side],
        conditions: [{ kind: 'isNotNull', child: column(1, 'l') }],
        projection: null,
      },
    });
    expect(keyedInputs(plan)).toMatchObject({ [other]: plan[other] });
  });

  test('the key may be computed', () => {
    const computed: Expression = { kind: 'cast', child: column(0, 'k'), type: BIGINT, tryCast: false };
    expect(keyedInputs(join({ conditions: [{ op: 'eq', left: column(0, 'k'), right: computed }] }))).toMatchObject({
      right: { kind: 'filter', conditions: [{ kind: 'isNotNull', child: computed }] },
    });
  });

  test('every join of a plan', () => {
    const plan = join({ left: join(), right: stage(2) });
    expect(keyedInputs(plan)).toMatchObject({
      left: { right: { kind: 'filter', child: stage(1) } },
      right: { kind: 'filter', child: stage(2) },
    });
  });

  test.each<[string, JoinPlan]>([
    ['a stage against a stage', join({ left: stage(2) })],
    ['a scan against a scan', join({ right: scan })],
    ['two conditions', join({ conditions: [equal('k'), equal('l')] })],
    ['no equality', join({ conditions: [{ ...equal('k'), op: 'notDistinct' }] })],
    ['no condition', join({ conditions: [] })],
    ['an as-of join', join({ asof: true })],
    ['the preserved side of a semi join', join({ type: 'semi', left: stage(1), right: scan })],
    ...(['left', 'right', 'full', 'anti', 'rightSemi', 'rightAnti', 'mark', 'single'] as const).map(
      (type): [string, JoinPlan] => [`type ${type}`, join({ type })],
    ),
  ])('does not fire: %s', (_why, plan) => {
    expect(keyedInputs(plan)).toBe(plan);
  });
});

test.each([
  ['broadcast', true],
  ['partitioned', false],
] as const)('the text of a fragment has it: %s', async (joinDistribution, expected) => {
  const { plan } = await plans.distributed('SELECT b.v, h.v FROM big b JOIN huge h ON b.id = h.big_id', {
    settings: { distribution: 'auto', joinDistribution, partitions: null, stageWidth: 1 },
  });
  const texts = plan.kind === 'whole' ? [] : plan.fragments.map(({ sql }) => printJson(sql));
  expect(texts.length).toBeGreaterThan(1);
  expect(texts.some((text) => text.includes('IS NOT NULL'))).toBe(expected);
});
