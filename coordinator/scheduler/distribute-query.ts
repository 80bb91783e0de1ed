import type { StatementContext } from '#shared/sql/statement-context.ts';
import type { Asker } from '#shared/fair/asker.ts';
import { must } from '#shared/must.ts';
import { oneHasEveryCore } from '../distributor/estimate/cluster-cores.ts';
import type {
  ClusterFacts,
  DistributedPlan,
  DistributionSettings,
  ScanFacts,
  WholePlan,
} from '../distributor/fragment.ts';
import type { Plan } from '../plan/plan.ts';
import type { PlanMemory } from '../binding/plan-memory.ts';
import { isPlainPlan } from '../plan/plain-plan.ts';
import { scanUses } from '../plan/scan-predicates.ts';
import type { PreparedQuery } from '../binding/prepared-query.ts';
import { icebergFields, type TableBinding } from '../binding/table-binding.ts';
import { expectedFacts, withBarriers, type Barrier } from './barrier-stage.ts';
import { isBig } from './choose-width.ts';
import { readsOnePoliced } from './inline-barrier.ts';
import { planScans, type PlannedScan, type ScanContext } from './plan-scans.ts';
import type { Distributor, StagedQuery } from './run-stages.ts';
import { clusterFacts, type Scheduler } from './scheduler.ts';
import { scanFacts } from './scan-facts.ts';
import type { FragmentChecker } from '../distributor/check-fragments.ts';

/** The distributor's passes, and the pass that shapes a plan for them. */
export type DistributorPasses = Distributor & {
  /** Gives every scan its own number and shapes the plan for `distribute`. The result depends on the query alone, and is kept in its memory. */
  readonly shape: (query: ShapedQuery & { readonly memory: PlanMemory }) => ShapedQuery;
};

type ShapedQuery = { readonly plan: Plan; readonly scans: readonly TableBinding[] };

/** A query that runs in stages: its first distribution, and the data it was made from. */
export type QueryStages = {
  readonly kind: 'stages';
  readonly distributed: DistributedPlan;
  readonly barriers: readonly Barrier[];
  /** The tasks that read its one table apply the table's policies. */
  readonly inlinesPolicies: boolean;
  readonly bindings: readonly TableBinding[];
  readonly scans: readonly PlannedScan[];
  readonly facts: readonly ScanFacts[];
  /** Returns the reason to run the query whole when DuckDB does not bind one of these fragments; else null. */
  readonly check: StagedQuery['check'];
};

export type DistributionContext = {
  readonly passes: DistributorPasses;
  readonly scheduler: Scheduler;
  readonly settings: DistributionSettings;
  readonly scanContext: ScanContext;
  readonly checker: FragmentChecker;
  readonly context: StatementContext;
  readonly asker: Asker;
  /** Tasks may apply policies beside the text of a plain query; absent = they may not. */
  readonly mayInline?: boolean;
};

const whole = (reason: string): WholePlan => ({ kind: 'whole', reason });

/**
 * Distributes a query into stages, or decides that it runs whole. A small query, or one with a single worker, is decided before any
 * distribution is computed; a query with a fragment that DuckDB does not bind runs whole, too. @throws as `planScans` does.
 */
export async function distributeQuery(
  query: PreparedQuery,
  scans: readonly PlannedScan[],
  { passes, scheduler, settings, scanContext, checker, context, asker, mayInline = false }: DistributionContext,
): Promise<QueryStages | WholePlan> {
  const cluster = clusterFacts(scheduler);
  const early = runsWhole(query, scans, { cluster, settings });
  if (early !== null) return early;
  const plan = must(query.plan, 'a query without a plan runs whole');
  const { memory } = query;
  const shaped = passes.shape({ plan, scans: query.scans, memory });
  const planned = await planScans(shaped.scans, scanContext);
  const inlinesPolicies = mayInline && readsOnePoliced(planned) && isPlainPlan(plan);
  const facts = await scanFacts(shaped.scans, planned, scanContext, { inlinesPolicies });
  const { plan: leaves, barriers } = inlinesPolicies
    ? { plan: shaped.plan, barriers: [] }
    : withBarriers(shaped.plan, { scans: planned, width: settings.stageWidth });
  const stages = expectedFacts(barriers);
  const distributed = passes.distribute(leaves, {
    scans: facts,
    stages,
    cluster,
    settings,
    nextStage: 0,
    isFirst: true,
  });
  if (distributed.kind === 'whole') return distributed;
  const { contextual } = query;
  const { signal } = scanContext;
  const check: QueryStages['check'] = (fragments) =>
    checker.check(fragments, { memory, scans: shaped.scans, context, contextual, asker, signal });
  const refused = await check(distributed.fragments);
  if (refused !== null) return refused;
  const stagesOf = { distributed, barriers, inlinesPolicies, bindings: shaped.scans, scans: planned, facts, check };
  return { kind: 'stages', ...stagesOf };
}

/** Decides that a query runs whole before any distribution is computed; null when its plan decides. */
export function runsWhole(
  { plan, noPlan, features }: PreparedQuery,
  scans: readonly PlannedScan[],
  { cluster, settings }: { readonly cluster: ClusterFacts; readonly settings: DistributionSettings },
): WholePlan | null {
  if (settings.distribution === 'single') return whole('skein.distribution is single');
  if (plan === null) return whole(`its plan ${noPlan}`);
  if (settings.distribution !== 'auto') return null;
  if (cluster.workers.length < 2) return whole('there is one worker');
  if (!isBig(scans, features)) return whole('there is little to read');
  return oneHasEveryCore(cluster) ? whole('one worker has every core that there is') : null;
}

/** Plans scans of a staged query again, with the conditions that its plan now has above them. */
export async function rescan(
  { bindings }: QueryStages,
  plan: Plan,
  numbers: ReadonlySet<number>,
  context: ScanContext,
): Promise<ReadonlyMap<number, { readonly scan: PlannedScan; readonly facts: ScanFacts }>> {
  const uses = scanUses(plan, bindings.map(icebergFields));
  const wanted = [...numbers];
  const narrowed = wanted.map((number): TableBinding => {
    const binding = must(bindings[number], 'a scan of the query');
    const { predicate } = must(uses[number], 'a use of every scan');
    return binding.kind === 'iceberg' ? { ...binding, predicate } : binding;
  });
  const scans = await planScans(narrowed, context);
  const facts = await scanFacts(narrowed, scans, context);
  return new Map(
    wanted.map((number, i) => [
      number,
      { scan: must(scans[i], 'a plan of every scan'), facts: must(facts[i], 'facts of every scan') },
    ]),
  );
}
