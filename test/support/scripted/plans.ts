import { must } from '#shared/must.ts';
import { textNode } from '#coordinator/planner/explain-plan.ts';
import { queryPreparer } from '#coordinator/prepare/prepare-query.ts';
import { sessionPlanner } from '#test/support/session-planner.ts';
import type { Plan } from '#coordinator/plan/plan.ts';
import type { ScanBinding } from '#coordinator/binding/scan-binding.ts';
import { icebergScans, SCRIPTED_ASKER, scriptedTables, type TableScript } from './tables.ts';
import { distribute } from '#coordinator/distributor/distribute.ts';
import { explainDistributed } from '#coordinator/distributor/explain-distributed.ts';
import type { DistributedPlan, DistributionFacts, ScanFacts, WholePlan } from '#coordinator/distributor/fragment.ts';
import { separateScans } from '#coordinator/distributor/shape/separate-scans.ts';
import { shapePlan } from '#coordinator/distributor/shape/shape-plan.ts';

/** Tables for tests of the distributor: `big` and `huge` are not read everywhere, `small` is. */
const TABLES: TableScript = {
  'lake.s.small': { columns: 'k int, name string', rows: 1_000 },
  'lake.s.big': { columns: 'id long, k int, g int, v long, d date', rows: 10_000_000 },
  'lake.s.huge': { columns: 'id long, big_id long, k int, v long', rows: 100_000_000 },
};

export type ScriptedPlans = {
  /** A query's plan before any pass, its scans separate. */
  readonly planOf: (sql: string) => Promise<{ readonly plan: Plan; readonly scans: readonly ScanBinding[] }>;
  /** Statistics of a scan of these tables. */
  readonly factsOf: (scan: ScanBinding) => ScanFacts;
  /** A plan as EXPLAIN prints it. */
  readonly print: (plan: Plan) => string;
  /** The query distributed over two workers of four slots, and what EXPLAIN prints of it. */
  readonly distributed: (
    sql: string,
    facts?: Partial<DistributionFacts>,
  ) => Promise<{ readonly plan: DistributedPlan | WholePlan; readonly text: string }>;
};

export async function scriptedPlans(): Promise<ScriptedPlans> {
  const planner = await sessionPlanner();
  const prepare = queryPreparer({ cacheEntries: 0, cacheBytes: 2 ** 26 });
  const tables = scriptedTables(TABLES);
  const context = {
    nowMicros: '1708000000000000',
    timeZone: 'UTC',
    currentUser: 'u',
    currentCatalog: 'lake',
    currentSchema: 's',
  };
  const planOf: ScriptedPlans['planOf'] = async (sql) => {
    const query = await prepare({
      sql,
      offset: 0,
      context,
      asker: SCRIPTED_ASKER,
      tables,
      planner,
      signal: AbortSignal.timeout(10_000),
    });
    const { plan, scans } = separateScans({ plan: must(query.plan, 'a plan that DuckDB prints'), scans: query.scans });
    return { plan, scans: icebergScans(scans) };
  };
  return {
    planOf,
    factsOf,
    print: (plan) => textNode(plan, { scans: [], rowsOf: null }, 0).join('\n'),
    distributed: async (sql, facts) => {
      const { plan, scans } = await planOf(sql);
      const made = distribute(shapePlan(plan), { ...FACTS, scans: scans.map(factsOf), ...facts });
      return { plan: made, text: explainDistributed(made, { scans }, 'text').join('\n') };
    },
  };
}

const FACTS: DistributionFacts = {
  scans: [],
  stages: new Map(),
  cluster: {
    workers: [
      { slots: 4, machine: { id: 'a', cores: 4 } },
      { slots: 4, machine: { id: 'b', cores: 4 } },
    ],
  },
  settings: { distribution: 'auto', joinDistribution: 'auto', partitions: null, stageWidth: 1 },
  nextStage: 1,
};

/** Every id once, keys of 1,000 values, 20 groups, dates of ten years. */
function factsOf({ rowCount, columns }: ScanBinding): ScanFacts {
  const rows = rowCount ?? 0;
  const bounds: Readonly<Record<string, number>> = { id: rows, big_id: 10_000_000, k: 1_000, g: 20, d: 3_650 };
  return {
    rows,
    bytes: rows * 20,
    files: rows / 1_000,
    columns: columns.map(({ name }) => {
      const upper = bounds[name] ?? null;
      return { distinctMax: upper, nulls: 0, lower: upper === null ? null : 1, upper };
    }),
  };
}
