import { quoteIdentifier } from '#shared/sql/quote.ts';
import { stageRooms } from '../distributor/estimate/cluster-cores.ts';
import type { Fragment, StageFacts, TaskWidth } from '../distributor/fragment.ts';
import { exchangeFields } from '../distributor/print/exchange-form.ts';
import type { Plan } from '../plan/plan.ts';
import { POLICY_STAGES } from '../plan/stage-title.ts';
import { mapChildren } from '../plan/plan-tree.ts';
import { POLICED_ROWS } from '../binding/policed-binding.ts';
import type { SqlField } from '../plan/sql-type.ts';
import type { PlannedScan, PolicedScan } from './plan-scans.ts';
import { NO_COLUMN } from './policed-rows.ts';
import { workerFacts, type Scheduler } from './scheduler.ts';
import { StageRun } from './stage-run.ts';

type BarrierParts = {
  /** Number of the stage. */
  readonly stage: number;
  /** Number of the scan in the statement. */
  readonly scan: number;
  readonly policed: PolicedScan;
  readonly columns: readonly SqlField[];
  readonly width: TaskWidth;
};

/**
 * The stage that applies the policies of one table: its tasks divide the files of the table, and each reads the tables that policies look up
 * whole. Its text has nothing of the statement, and its rows are all that the statement's other stages read of the table, so no rewriting of
 * theirs, and no order in which DuckDB evaluates conditions, brings an expression of the statement to a hidden row or to a raw value. Rows that
 * the statement does not want stay behind by comparisons of columns without a mask with literals (`predicateSql`), which cannot raise.
 * ```
 * files ─▶ row policies, masks ─▶ spool of a worker ─▶ the statement's stages
 * ```
 */
export function barrierFragment({ stage, scan, policed, columns, width }: BarrierParts): Fragment {
  const { wanted } = policed;
  const { sql, source, seesPolicies } = policed.reading;
  const list = columns.map(({ name }, i) => `${name === NO_COLUMN.name ? NOTHING : quoteIdentifier(name)} AS c${i}`);
  return {
    stage,
    plan: { kind: 'scan', scan, read: 'split', columns: columns.map((column, index) => ({ ...column, index })) },
    policed: { seesPolicies },
    partitions: 1,
    sql: [`SELECT ${list.join(', ')} FROM (`, ...sql, `)${wanted === null ? '' : ` WHERE ${wanted}`}`],
    scans: policed.scans.map((_, i) => ({ scan: i, read: i === source ? 'split' : 'all' })),
    inputs: [],
    tasks: { kind: 'splits' },
    width,
    collected: false,
    repeatable: true,
    output: { kind: 'keep' },
    fields: exchangeFields(columns),
    estimate: { rows: 0, bytes: 0 },
    reason: 'policies apply to the table',
  };
}

const NOTHING = 'CAST(NULL AS BOOLEAN)';

/** A stage that applies policies, and what it reads. */
export type Barrier = { readonly fragment: Fragment; readonly policed: PolicedScan };

/**
 * Takes the tables below policies out of a plan: the output of the stages that apply these is in their place.
 * ```
 * join                        join
 *   filter a > 3       ->       filter a > 3
 *     scan 0 (policed)            stage of policies 1
 *   scan 1                      scan 1
 * ```
 */
export function withBarriers(
  plan: Plan,
  { scans, width }: { readonly scans: readonly PlannedScan[]; readonly width: TaskWidth },
): { readonly plan: Plan; readonly barriers: readonly Barrier[] } {
  const barriers: Barrier[] = [];
  const replace = (node: Plan): Plan => {
    const policed = node.kind === 'scan' ? scans[node.scan]?.policed : undefined;
    if (node.kind !== 'scan' || policed === undefined) return mapChildren(node, replace);
    const stage = POLICY_STAGES - barriers.length;
    const fields = node.columns.map(({ index, name, type }) => (index < 0 ? NO_COLUMN : { name, type }));
    const columns = fields.length === 0 ? [NO_COLUMN] : fields;
    barriers.push({ fragment: barrierFragment({ stage, scan: node.scan, policed, columns, width }), policed });
    return { kind: 'stage', stage, read: 'share', columns: node.columns.map((one, index) => ({ ...one, index })) };
  };
  return { plan: replace(plan), barriers };
}

/**
 * The facts of these stages before they have run. They are the same for every table, so that a plan that is only shown tells nothing of its
 * rows; the query is planned again when the stages have run.
 */
export const expectedFacts = (barriers: readonly Barrier[]): ReadonlyMap<number, StageFacts> =>
  new Map(
    barriers.map(({ fragment: { stage, fields } }) => {
      const size = { rows: POLICED_ROWS, bytes: POLICED_ROWS * VALUE_BYTES * fields.length };
      return [stage, { ...size, output: { kind: 'keep' }, partitions: [size], tasks: EXPECTED_TASKS }];
    }),
  );

const VALUE_BYTES = 8;
/** More than one: its readers divide its rows. */
const EXPECTED_TASKS = 2;

/** A stage that applies policies, ready to run. */
export function barrierRun(scheduler: Scheduler, fragment: Fragment, { scans }: PolicedScan): StageRun<Fragment> {
  const open = scheduler.pool.together();
  const rooms = stageRooms(workerFacts(open), fragment.width);
  const workers = open.map(({ link }, i) => ({ address: link.address, slots: rooms[i]?.tasks ?? 1 }));
  const run = new StageRun({ fragment, producers: [], result: null, sink: null });
  run.start({ scans, workers, isFixed: false });
  return run;
}
