import { SkeinError } from '#shared/error.ts';
import { must } from '#shared/must.ts';
import type {
  DistributedPlan,
  DistributionFacts,
  DistributionSettings,
  Fragment,
  ScanFacts,
  StageFacts,
  TaskFragment,
  WholePlan,
} from '../distributor/fragment.ts';
import type { Plan } from '../plan/plan.ts';
import { walkPlan } from '../plan/plan-tree.ts';
import { stageRooms } from '../distributor/estimate/cluster-cores.ts';
import type { AppliedFilter } from './applied-filter.ts';
import { bringRows } from './arrival-stage.ts';
import { barrierRun, type Barrier } from './barrier-stage.ts';
import { chooseWave, isLastKnown } from './choose-wave.ts';
import type { TaskDispatcher } from './dispatch-tasks.ts';
import {
  describeKeys,
  findDynamicFilters,
  isKeySetWorth,
  areSelective,
  keySetFragment,
  keysFragment,
  parseKeys,
  scanBounds,
  VALUES_MAX,
  withKeys,
  withKeySet,
  type DynamicFilter,
  type KeyValues,
} from '../distributor/dynamic-filter.ts';
import { destinationOf, oneRun, type QueryRun } from './one-run.ts';
import { inlineBarriers } from './inline-barrier.ts';
import type { PlannedScan } from './plan-scans.ts';
import { ResultReader } from './result-reader.ts';
import { clusterFacts, workerFacts, type Scheduler } from './scheduler.ts';
import { stageReport, type StageReport } from './stage-report.ts';
import { StageRun, type Arrivals } from './stage-run.ts';
import { FragmentRefused, StartOver } from './task-errors.ts';
import { TextColumnReader } from '../sink/text-column.ts';

/** The passes of `coordinator/distributor` that a running query calls. */
export type Distributor = {
  readonly distribute: (plan: Plan, facts: DistributionFacts) => DistributedPlan | WholePlan;
  /** Replaces every exchange whose stage has run by that stage's rows. */
  readonly advance: (distributed: DistributedPlan, ran: ReadonlySet<number>) => Plan;
};

export type StagedQuery = QueryRun & {
  /** The first distribution of the query, made from `scans`. */
  readonly distributed: DistributedPlan;
  readonly scans: readonly PlannedScan[];
  readonly scanFacts: readonly ScanFacts[];
  readonly settings: DistributionSettings;
  /** The stages that apply policies, whose rows are leaves of the plan. */
  readonly barriers: readonly Barrier[];
  readonly inlinesPolicies: boolean;
  readonly distributor: Distributor;
  /** Plans the scans of these numbers again, with the conditions that the plan has above them. */
  readonly rescan: (
    plan: Plan,
    scans: ReadonlySet<number>,
  ) => Promise<ReadonlyMap<number, { readonly scan: PlannedScan; readonly facts: ScanFacts }>>;
  /** Has DuckDB bind the fragments; returns the reason to run the query whole when one does not bind, else null. */
  readonly check: (fragments: readonly Fragment[]) => Promise<WholePlan | null>;
  /** Called when a worker could not bind a fragment. */
  readonly onRefused: (fragment: TaskFragment, why: string) => void;
};

/** `whole`: the query must run again, whole on one worker, for the reason that is given; nothing of its result has been sent. */
export type StagedRun = (RanStages & { readonly starts: number }) | WholePlan;

/** `rows`: those that the tasks of the last stage say that they gave. */
type RanStages = { readonly kind: 'staged'; readonly stages: readonly StageReport<Fragment>[]; readonly rows: number };

/** Number of times that a query starts, at most, when lost output cannot be reproduced. */
const STARTS_MAX = 3;
/** A stage that gives at least this share of a table's rows counts as the whole table. */
const WHOLE_TABLE_SHARE = 0.9;
/** Limit on a query's waves of stages, per fragment of its first distribution: replanning may add stages but must terminate. */
const WAVES_PER_FRAGMENT_MAX = 4;

/**
 * Runs a query stage by stage. After every wave of stages the rest of the plan is distributed again, by the rows that they produced.
 * @throws SkeinError of the catalogue; in any case every worker was told to drop what it holds of the query before this returns.
 */
export async function runStages(scheduler: Scheduler, query: StagedQuery): Promise<StagedRun> {
  for (let starts = 1; ; starts += 1) {
    try {
      const ran = await oneRun(scheduler, query, (dispatcher) => new StageLoop(scheduler, query, dispatcher).run());
      return ran.kind === 'whole' ? ran : { ...ran, starts };
    } catch (error) {
      if (error instanceof FragmentRefused) return wholeInstead(error, query);
      if (!(error instanceof StartOver)) throw error;
      if (starts >= STARTS_MAX || !query.mayStartOver()) {
        throw new SkeinError('WORKER_LOST', `a worker was lost, and ${error.message}`, { cause: error });
      }
      scheduler.onRetry();
    }
  }
}

/**
 * Falls back to running whole after a worker refused a fragment. The SQL printer is at fault, so the client sees an error only when rows
 * were already sent.
 */
function wholeInstead({ fragment, message }: FragmentRefused, { onRefused, mayStartOver }: StagedQuery): WholePlan {
  onRefused(fragment, message);
  const reason = `a worker did not bind a fragment of it: ${message}`;
  if (!mayStartOver()) throw new SkeinError('INTERNAL_ERROR', 'internal error', { cause: new Error(reason) });
  return { kind: 'whole', reason };
}

/** Where the rows of a stage go: to a reader, into a table, or into the spool. */
type Destination = Pick<StageRun, 'result' | 'sink'>;
const SPOOLED: Destination = { result: null, sink: null };

/** Runs one start of a query: its stages, wave by wave. */
class StageLoop {
  readonly #scheduler: Scheduler;
  readonly #query: StagedQuery;
  readonly #dispatcher: TaskDispatcher;
  readonly #stages = new Map<number, StageRun<Fragment>>();
  /** Stages that collected the join keys of other stages. */
  readonly #keyStages: StageRun<Fragment>[] = [];
  readonly #filters = new Map<number, readonly AppliedFilter[]>();
  readonly #looked = new Set<string>();
  #arrivals: Arrivals = new Map();
  #scans: readonly PlannedScan[];
  #scanFacts: readonly ScanFacts[];

  constructor(scheduler: Scheduler, query: StagedQuery, dispatcher: TaskDispatcher) {
    this.#scheduler = scheduler;
    this.#query = query;
    this.#dispatcher = dispatcher;
    this.#scans = query.scans;
    this.#scanFacts = query.scanFacts;
  }

  async run(): Promise<RanStages | WholePlan> {
    let { distributed } = this.#query;
    this.#arrivals = await bringRows(this.#dispatcher, this.#scans);
    if (this.#query.barriers.length > 0) {
      await this.#applyPolicies();
      const next = await this.#replanChecked(distributed);
      if (next.kind === 'whole') return next;
      distributed = next;
    }
    const wavesMax = WAVES_PER_FRAGMENT_MAX * distributed.fragments.length;
    for (let waves = 0; waves < wavesMax; waves += 1) {
      const wave = chooseWave(distributed, (stage) => this.#stages.has(stage));
      if (wave.length === 0) {
        return await this.#runResult(must(distributed.fragments.at(-1), 'a distributed plan has fragments'), []);
      }
      const runs = wave.map((one) => this.#prepare(one, SPOOLED));
      for (const run of runs) this.#stages.set(run.fragment.stage, run);
      if (isLastKnown(distributed, (stage) => this.#stages.has(stage))) {
        return await this.#runResult(must(distributed.fragments.at(-1), 'a distributed plan has fragments'), runs);
      }
      await this.#dispatcher.run(runs);
      const next = await this.#replanChecked(distributed);
      if (next.kind === 'whole') return next;
      distributed = next;
    }
    return { kind: 'whole', reason: `${wavesMax} waves of stages did not bring it to an end` };
  }

  /** Makes the rows of the tables below policies, before anything else reads a row of them. */
  async #applyPolicies(): Promise<void> {
    const runs = this.#query.barriers.map(({ fragment, policed }) => barrierRun(this.#scheduler, fragment, policed));
    for (const run of runs) this.#stages.set(run.fragment.stage, run);
    await this.#dispatcher.run(runs);
  }

  /** Plans the rest of the query again, and has DuckDB bind its fragments. */
  async #replanChecked(distributed: DistributedPlan): Promise<DistributedPlan | WholePlan> {
    const next = await this.#replan(distributed);
    return next.kind === 'whole' ? next : ((await this.#query.check(next.fragments)) ?? next);
  }

  /** Distributes the rest of the plan by what the stages that have run gave, and narrows its scans. */
  async #replan(distributed: DistributedPlan): Promise<DistributedPlan | WholePlan> {
    const again = this.#distribute(distributed);
    if (again.kind === 'whole') return again;
    return (await this.#narrow(again)) ?? again;
  }

  #reports(): readonly StageReport<Fragment>[] {
    return [...new Set([...this.#stages.values(), ...this.#keyStages])].map((run) => stageReport(run));
  }

  /** Runs the last stage, and with it the stages that it waits for. */
  async #runResult(fragment: Fragment, wave: readonly StageRun<Fragment>[]): Promise<RanStages> {
    const run = this.#prepare({ ...fragment, sql: this.#query.encoding.sql(fragment.sql) }, destinationOf(this.#query));
    run.isEarly = wave.length > 0;
    this.#stages.set(fragment.stage, run);
    await this.#dispatcher.run([...wave, run]);
    const rows = run.reports().reduce((sum, report) => sum + report.rows, 0);
    return { kind: 'staged', stages: this.#reports(), rows };
  }

  #prepare(planned: Fragment, to: Destination): StageRun<Fragment> {
    const { inlinesPolicies } = this.#query;
    const { fragment, scans } = inlinesPolicies
      ? inlineBarriers(planned, this.#scans)
      : { fragment: planned, scans: this.#scans };
    const open = this.#scheduler.pool.together();
    const rooms = stageRooms(workerFacts(open), this.#query.settings.stageWidth);
    const workers = open.map(({ link }, i) => ({ address: link.address, slots: must(rooms[i], 'a room').tasks }));
    const producers = fragment.inputs.map(({ stage }) => must(this.#stages.get(stage), 'inputs have begun'));
    const run = new StageRun({ fragment, producers, ...to, arrivals: this.#arrivalsOf(fragment) });
    run.dynamicFilters = fragment.scans.flatMap(({ scan }) => this.#filters.get(scan) ?? []);
    run.start({ scans, workers, isFixed: this.#query.settings.partitions !== null });
    return run;
  }

  /** The stages that have brought the rows that a fragment reads. */
  #arrivalsOf({ scans }: Fragment): Arrivals {
    const read = new Set(
      scans.map(({ scan }) => this.#scans[scan]).flatMap((one) => (one?.kind === 'rows' ? [one.rows] : [])),
    );
    return new Map([...this.#arrivals].filter(([rows]) => read.has(rows)));
  }

  /** Distributes the rest of the plan, by the actual output of the stages that have run. */
  #distribute(distributed: DistributedPlan, changed?: Plan): DistributedPlan | WholePlan {
    const { distributor, settings } = this.#query;
    return distributor.distribute(changed ?? distributor.advance(distributed, new Set(this.#stages.keys())), {
      scans: this.#scanFacts,
      stages: this.#stageFacts(),
      cluster: clusterFacts(this.#scheduler),
      settings,
      nextStage: distributed.nextStage + this.#keyStages.length,
    });
  }

  #stageFacts(): ReadonlyMap<number, StageFacts> {
    return new Map([...this.#stages].map(([stage, run]) => [stage, run.facts()]));
  }

  /** The dynamic filters of a plan that are likely to pay off, and that were not looked at yet. */
  #filtersOf({ plan, source }: DistributedPlan): readonly DynamicFilter[] {
    if (this.#query.settings.dynamicFilters === 'off') return [];
    return findDynamicFilters(plan, this.#scanFacts, this.#stageFacts()).filter(
      (filter) => !this.#looked.has(JSON.stringify(filter)) && !this.#isOfWholeTable(filter, source),
    );
  }

  /** Narrows scans by the keys of build sides that have run; undefined when no filter pays off. */
  async #narrow(distributed: DistributedPlan): Promise<DistributedPlan | undefined> {
    const found = this.#filtersOf(distributed);
    for (const filter of found) this.#looked.add(JSON.stringify(filter));
    let plan = distributed.source;
    const narrowed = new Set<number>();
    for (const [stage, filters] of Map.groupBy(found, (filter) => filter.stage)) {
      const columns = [...new Set(filters.map(({ column }) => column))];
      const keys = await this.#keysOf(stage, columns, distributed, filters);
      for (const filter of filters) {
        const { values, set } = keys.get(filter.column) ?? { values: null, set: null };
        const { name, facts } = this.#probeColumn(plan, filter);
        if (values === null || (set === null && !areSelective(values, facts))) continue;
        const isSet = set !== null && values.values === null;
        if (isSet) plan = withKeySet(plan, filter, set.fragment.stage);
        if (!isSet || areSelective(values, facts)) plan = withKeys(plan, filter, values);
        narrowed.add(filter.scan);
        const rows = isSet ? set.facts().rows : null;
        const applied = { column: name, stage, text: describeKeys(name, values, { stage, rows }) };
        this.#filters.set(filter.scan, [...(this.#filters.get(filter.scan) ?? []), applied]);
      }
    }
    if (narrowed.size === 0) return undefined;
    const rescanned = await this.#query.rescan(plan, narrowed);
    this.#scans = this.#scans.map((scan, i) => rescanned.get(i)?.scan ?? scan);
    this.#scanFacts = this.#scanFacts.map((facts, i) => rescanned.get(i)?.facts ?? facts);
    const again = this.#distribute(distributed, plan);
    return again.kind === 'whole' ? undefined : again;
  }

  /** Whether a build side has nearly all rows of a table and the table's key bounds exclude too little of the scan. */
  #isOfWholeTable(filter: DynamicFilter, plan: Plan): boolean {
    const { stage, column } = filter;
    const build = must(this.#stages.get(stage), 'a filter of a stage that has run');
    const [table, second] = build.planned;
    if (table === undefined || second !== undefined || table.report.filesPruned > 0) return false;
    const { rows } = build.facts();
    if (rows <= VALUES_MAX || rows < WHOLE_TABLE_SHARE * table.report.rows) return false;
    const bounds = scanBounds(build.fragment.plan, column, this.#scanFacts);
    return bounds !== null && !areSelective(bounds, this.#probeColumn(plan, filter).facts);
  }

  /** Returns the column that a filter narrows: its qualified name, and its statistics from the manifests. */
  #probeColumn(
    plan: Plan,
    { scan, position }: Pick<DynamicFilter, 'scan' | 'position'>,
  ): { readonly name: string; readonly facts: ScanFacts['columns'][number] | undefined } {
    const table = must(this.#scans[scan], 'a filter of a scan');
    const index = columnIndex(plan, { scan, position });
    const name = table.kind === 'rows' ? '' : `${table.spec.tableName}.${table.spec.columns[index]?.name ?? ''}`;
    return { name, facts: this.#scanFacts[scan]?.columns[index] };
  }

  /** Collects the keys in columns of a build side: their bounds, and either the values or, where it pays off, a stage that holds them. */
  async #keysOf(
    stage: number,
    columns: readonly number[],
    distributed: DistributedPlan,
    filters: readonly DynamicFilter[],
  ): Promise<ReadonlyMap<number, { readonly values: KeyValues | null; readonly set: StageRun<Fragment> | null }>> {
    const build = must(this.#stages.get(stage), 'a filter of a stage that has run');
    const { rows } = build.facts();
    const all = build.planned.reduce((sum, { report }) => sum + report.rows, 0);
    const isWorth = (filter: DynamicFilter): boolean =>
      this.#query.settings.dynamicFilters !== 'bounds' &&
      isKeySetWorth({ rows, of: all }, this.#probeColumn(distributed.source, filter).facts);
    const inSets = columns.filter((column) => filters.some((filter) => filter.column === column && isWorth(filter)));
    const next = (): number => distributed.nextStage + this.#keyStages.length;
    const sets = inSets.map((column) => this.#keyStage(keySetFragment(next(), build.fragment, column), null));
    if (sets.length > 0) await this.#dispatcher.run(sets);
    const found = new Map<number, { readonly values: KeyValues | null; readonly set: StageRun<Fragment> | null }>();
    for (const [i, set] of sets.entries()) {
      const [values = null] = await this.#readKeys(
        keysFragment(next(), set.fragment, [0], set.facts().rows, { areDistinct: true }),
      );
      found.set(must(inSets[i], 'a column of a set'), { values, set });
    }
    const others = columns.filter((column) => !inSets.includes(column));
    if (others.length === 0) return found;
    const read = await this.#readKeys(keysFragment(next(), build.fragment, others, rows));
    for (const [i, column] of others.entries()) found.set(column, { values: read[i] ?? null, set: null });
    return found;
  }

  async #readKeys(fragment: Fragment): Promise<readonly (KeyValues | null)[]> {
    let text = '';
    const result = new ResultReader({
      newReader: () => new TextColumnReader(),
      onBatch: ({ body }) => void (text += body.toString()),
      restart: () => {
        text = '';
        return true;
      },
    });
    await this.#dispatcher.run([this.#keyStage(fragment, result)]);
    return parseKeys(text);
  }

  /** Adds a stage that is not part of the plan and reserves its number. */
  #keyStage(fragment: Fragment, result: ResultReader | null): StageRun<Fragment> {
    const run = this.#prepare(fragment, { result, sink: null });
    this.#keyStages.push(run);
    if (result === null) this.#stages.set(fragment.stage, run);
    return run;
  }
}

/** Returns the position, in the table's column list, of the column that a filter narrows. */
function columnIndex(plan: Plan, { scan, position }: Pick<DynamicFilter, 'scan' | 'position'>): number {
  for (const node of walkPlan(plan)) {
    if (node.kind === 'scan' && node.scan === scan) return must(node.columns[position], 'a filter of a column').index;
  }
  throw new Error('invariant: a filter of a scan that the plan has');
}
