import { randomBytes } from 'node:crypto';
import type { SqlText } from '#proto/task.ts';
import { SkeinError } from '#shared/error.ts';
import { queryId, type QueryId } from '#shared/id.ts';
import { must } from '#shared/must.ts';
import type {
  ClusterFacts,
  DistributedPlan,
  DistributionFacts,
  DistributionSettings,
  Fragment,
  ScanFacts,
  WholePlan,
} from '../distributor/fragment.ts';
import type { Plan } from '../planner/plan.ts';
import { chooseWave } from './choose-wave.ts';
import { StartOver, TaskDispatcher } from './dispatch-tasks.ts';
import type { PlannedScan } from './plan-scans.ts';
import { ResultReader } from './result-reader.ts';
import type { Scheduler } from './run-query.ts';
import type { StageReport } from './stage-report.ts';
import { StageRun } from './stage-run.ts';
import type { TaskOwner } from './task-spec.ts';

/** The passes of `coordinator/distributor`, as a query that runs calls them. */
export type Distributor = {
  readonly distribute: (plan: Plan, facts: DistributionFacts) => DistributedPlan | WholePlan;
  /** The plan with every exchange whose stage has run as that stage's rows. */
  readonly advance: (distributed: DistributedPlan, ran: ReadonlySet<number>) => Plan;
};

export type StagedQuery = Omit<TaskOwner, 'queryId' | 'epoch' | 'spillLimitBytes'> & {
  /** As clients name it. */
  readonly queryId: QueryId;
  /** Its first fragments, made of `scans`. */
  readonly distributed: DistributedPlan;
  readonly scans: readonly PlannedScan[];
  readonly scanFacts: readonly ScanFacts[];
  readonly settings: DistributionSettings;
  readonly distributor: Distributor;
  /** The last fragment's text, wrapped so that DuckDB prints the rows as JSON. */
  readonly jsonSql: (sql: SqlText) => SqlText;
  readonly signal: AbortSignal;
  /** The result begins, perhaps again: what an earlier attempt gave is void. */
  readonly onStart: () => void;
  readonly onRows: (bytes: Buffer, rows: number) => Promise<void> | undefined;
  /** Nothing of the result has left. */
  readonly mayStartOver: () => boolean;
};

/** `whole`: what some stages gave showed that the query is better run whole on one worker; nothing of its result has left. */
export type StagedRun =
  | { readonly kind: 'staged'; readonly stages: readonly StageReport[]; readonly starts: number }
  | WholePlan;

/** Times that a query begins, when what it lost could not be made again. */
const STARTS_MAX = 3;
/** Waves of stages of one query. */
const WAVES_MAX = 1_000;

/** The workers that take tasks, as the distributor sees them. */
export const clusterFacts = ({ pool }: Scheduler): ClusterFacts => ({
  workers: pool.live().flatMap(({ info }) => (info.draining ? [] : [{ slots: info.cores }])),
});

/**
 * Runs a query stage by stage. After every wave of stages the rest of the plan is distributed again, with the rows that they gave.
 * @throws SkeinError of the catalogue; whatever happens, no worker holds anything of the query when this has ended.
 */
export async function runStages(scheduler: Scheduler, query: StagedQuery): Promise<StagedRun> {
  for (let starts = 1; ; starts += 1) {
    try {
      const stages = await runOnce(scheduler, query);
      return 'kind' in stages ? stages : { kind: 'staged', stages, starts };
    } catch (error) {
      if (!(error instanceof StartOver)) throw error;
      if (starts >= STARTS_MAX || !query.mayStartOver()) {
        throw new SkeinError('WORKER_LOST', `a worker was lost, and ${error.message}`, { cause: error });
      }
      scheduler.onRetry();
    }
  }
}

async function runOnce(scheduler: Scheduler, query: StagedQuery): Promise<readonly StageReport[] | WholePlan> {
  const { epoch, spillLimitBytes } = scheduler;
  const runId = queryId(`${query.queryId}.${randomBytes(4).toString('hex')}`);
  const owner: TaskOwner = { ...query, queryId: runId, epoch, spillLimitBytes };
  const result = new ResultReader({
    onRows: query.onRows,
    restart: () => {
      if (!query.mayStartOver()) return false;
      query.onStart();
      return true;
    },
  });
  scheduler.running.add(runId);
  const dispatcher = new TaskDispatcher({ scheduler, owner, result, signal: query.signal });
  let succeeded = false;
  try {
    query.onStart();
    const reports = await new StageLoop(scheduler, query, dispatcher).run();
    succeeded = true;
    return reports;
  } finally {
    const ended = dispatcher.end().finally(() => scheduler.running.delete(runId));
    // A client that has all rows need not wait until they are dropped.
    if (!succeeded) await ended;
  }
}

/** One start of a query: its stages wave by wave. */
class StageLoop {
  readonly #scheduler: Scheduler;
  readonly #query: StagedQuery;
  readonly #dispatcher: TaskDispatcher;
  readonly #stages = new Map<number, StageRun>();

  constructor(scheduler: Scheduler, query: StagedQuery, dispatcher: TaskDispatcher) {
    this.#scheduler = scheduler;
    this.#query = query;
    this.#dispatcher = dispatcher;
  }

  async run(): Promise<readonly StageReport[] | WholePlan> {
    let { distributed } = this.#query;
    for (let waves = 0; waves < WAVES_MAX; waves += 1) {
      const wave = chooseWave(distributed, (stage) => this.#stages.has(stage));
      if (wave.length === 0) {
        await this.#runWave([must(distributed.fragments.at(-1), 'a distributed plan has fragments')]);
        return [...this.#stages.values()].map(reportOf);
      }
      await this.#runWave(wave);
      const again = this.#again(distributed);
      if (again.kind === 'whole') return again;
      distributed = again;
    }
    throw new SkeinError('STATEMENT_TOO_COMPLEX', `the query takes more than ${WAVES_MAX} waves of stages`);
  }

  #runWave(fragments: readonly Fragment[]): Promise<void> {
    const { scans, settings, jsonSql } = this.#query;
    const workers = this.#scheduler.pool.live().flatMap(({ link, info }) => {
      return info.draining ? [] : [{ address: link.address, slots: info.cores }];
    });
    const runs = fragments.map((fragment) => {
      const producers = fragment.inputs.map(({ stage }) => must(this.#stages.get(stage), 'inputs have run'));
      const run = new StageRun(fragment, fragment.output === null ? jsonSql(fragment.sql) : fragment.sql, producers);
      run.start({ scans, workers, isFixed: settings.partitions !== null });
      this.#stages.set(fragment.stage, run);
      return run;
    });
    return this.#dispatcher.run(runs);
  }

  /** The rest of the plan, with what the stages have given. */
  #again(distributed: DistributedPlan): DistributedPlan | WholePlan {
    const { distributor, scanFacts, settings } = this.#query;
    const stages = new Map([...this.#stages].map(([stage, run]) => [stage, run.facts()]));
    const plan = distributor.advance(distributed, new Set(stages.keys()));
    return distributor.distribute(plan, {
      scans: scanFacts,
      stages,
      cluster: clusterFacts(this.#scheduler),
      settings,
      nextStage: distributed.nextStage,
    });
  }
}

const reportOf = (run: StageRun): StageReport => ({
  fragment: run.fragment,
  scans: run.planned,
  dynamicFilters: [],
  tasks: run.reports(),
  retries: run.retries,
  skewed: run.skewed,
  elapsedMs: run.endedMs - run.startedMs,
});
