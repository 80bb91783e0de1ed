import { maskJson } from '#shared/mask-secrets.ts';
import type { PlanNode, QueryRunProfile } from './profile-types.ts';
import type { MakeProfile, QueryFacts } from '../history/history-record.ts';
import type { RunView } from '../scheduler/run-progress.ts';
import type { StageReport } from '../scheduler/stage-report.ts';
import { inTenths } from './run-figures.ts';
import { shownReasons, shownRows, type Classification } from '../workload/classify.ts';
import { cutStage, stageProfile, type Moment, type StageDetail } from './stage-profile.ts';

/** The plan of a query in words and as a tree, and the rows that it is expected to give; null = unknown. */
export type PlanText = {
  readonly lines: readonly string[];
  readonly estimatedRows: number | null;
  /** The plan as a tree, by the stages that it has run in. */
  readonly treeOf: (stages: readonly StageReport[]) => PlanNode | null;
  /** The statement's principal may manage policies, and so it has what is below them; absent = it has not. */
  readonly showsPolicies?: boolean;
};

/** How a query runs: whole on one worker, and why, or in stages. */
type Shape = { readonly kind: 'whole'; readonly reason: string } | { readonly kind: 'stages' };

/** A query of the statement. */
type Entry = {
  describe: () => PlanText;
  planMs: number;
  /** When it was planned, in ms since the request arrived. */
  plannedMs: number;
  queuedMs: number;
  distributeMs: number;
  runBeganMs: number | null;
  shape: Shape | null;
  starts: number;
  view: RunView | null;
};

type Detail = StageDetail & { readonly stagesMax: number; readonly planLinesMax: number; readonly hasTree: boolean };

/** A query keeps this much when it has ended, and the profile that is stored less, step by step, until it is short enough. */
const ALL: Detail = { tasksMax: 500, operators: true, stagesMax: 500, planLinesMax: 2_000, hasTree: true };
const LESS: readonly Detail[] = [
  { tasksMax: 50, operators: true, stagesMax: 200, planLinesMax: 500, hasTree: true },
  { tasksMax: 5, operators: false, stagesMax: 50, planLinesMax: 100, hasTree: false },
  { tasksMax: 0, operators: false, stagesMax: 10, planLinesMax: 10, hasTree: false },
];

/**
 * The largest query whose statement's profile is made some time after its end, with those of other statements: until then it holds little
 * memory, and to make it is short work. The profile of a statement with a larger query is made when the statement ends.
 */
const KEPT = { stages: 8, attempts: 16, scans: 16, files: 256 } as const;
/** Longest statement whose profile is made later, in characters. */
const KEPT_TEXT_MAX = 10_000;

/** Queries of a statement that a profile shows; most have one. */
const QUERIES_MAX = 16;
/** Longest line of a plan, in characters. */
const LINE_LENGTH_MAX = 2_000;

type Options = {
  /** Longest profile; 0 = none is made. */
  readonly bytesMax: number;
  /** `queries` is asked for, whether a profile is made or not. */
  readonly isTraced: boolean;
  /** Time since the request arrived, in ms. */
  readonly elapsedMs: () => number;
  /** Milliseconds since 1970. */
  readonly nowMs: () => number;
  readonly queuedAtMs: number;
};

/** A query that has ended, or is as it is now. */
type Described = { readonly isSmall: boolean; readonly describe: () => QueryRunProfile };

/** A query at one moment. */
type Run = Omit<Entry, 'view' | 'runBeganMs'> & {
  readonly runMs: number;
  readonly stages: readonly StageReport[];
  readonly moment: Moment;
};

type Facts = Pick<QueryFacts, 'sql' | 'classification' | 'resourceGroup' | 'priority'>;

/**
 * Follows the queries of a statement, so that its history tells how they ran. What it keeps are numbers that exist anyway; they are put into
 * words after the statement has ended, together with those of others, or when somebody asks before.
 */
export class StatementProfile {
  readonly #options: Options;
  readonly #ended: Described[] = [];
  #omitted = 0;
  #present: Entry | null = null;
  #lastMs = 0;

  constructor(options: Options) {
    this.#options = options;
  }

  /** A query is planned, or, while it has not run, planned again. `describe` is called once, when the query has ended or is asked about. */
  planned(describe: () => PlanText): void {
    if (this.#present !== null) {
      this.#present.describe = describe;
      return;
    }
    const plannedMs = this.#options.elapsedMs();
    this.#present = {
      describe,
      planMs: plannedMs - this.#lastMs,
      plannedMs,
      queuedMs: 0,
      distributeMs: 0,
      runBeganMs: null,
      shape: null,
      starts: 0,
      view: null,
    };
  }

  /** The query has waited so long for its place. */
  waited(queuedMs: number): void {
    if (this.#present !== null) this.#present.queuedMs += queuedMs;
  }

  /** Its files are listed, and it is known how it runs; a query that cannot run in stages after all has a second shape. */
  shaped(shape: Shape): void {
    if (this.#present !== null) this.#present.shape = shape;
  }

  /** A run of the query begins, which replaces an earlier one. */
  runs(view: RunView): void {
    const entry = this.#present;
    if (entry === null) return;
    if (entry.runBeganMs === null) {
      entry.runBeganMs = this.#options.elapsedMs();
      entry.distributeMs = entry.runBeganMs - entry.plannedMs - entry.queuedMs;
    }
    entry.view = view;
    entry.starts += 1;
  }

  /** The query has ended, however: from now on nothing is held of its run. */
  ended(): void {
    const entry = this.#present;
    if (entry === null) return;
    this.#present = null;
    this.#lastMs = this.#options.elapsedMs();
    if (this.#options.bytesMax === 0 && !this.#options.isTraced) return;
    if (this.#ended.length < QUERIES_MAX) this.#ended.push(this.#described(entry, true));
    else this.#omitted += 1;
  }

  /** The profile as JSON, of a statement that goes on; null when it has planned no query, or none is to be made. */
  now(facts: Facts): string | null {
    const { bytesMax } = this.#options;
    if (bytesMax === 0) return null;
    const queries = this.#queries(false).map((query) => query.describe());
    return queries.length === 0 ? null : print(queries, this.#omitted, facts, bytesMax);
  }

  /** Returns what makes the profile of the statement, which has ended, as JSON; null as for `now`. It holds little. */
  later(facts: Facts): MakeProfile | null {
    const { bytesMax } = this.#options;
    const queries = this.#queries(true);
    if (bytesMax === 0 || queries.length === 0) return null;
    const omitted = this.#omitted;
    const make = (): string | null =>
      print(
        queries.map((query) => query.describe()),
        omitted,
        facts,
        bytesMax,
      );
    if (facts.sql.length <= KEPT_TEXT_MAX && queries.every(({ isSmall }) => isSmall)) return make;
    const made = make();
    return () => made;
  }

  /** The queries of a statement that has ended, in the order in which they ran. */
  get queries(): readonly QueryRunProfile[] {
    return this.#queries(true).map((query) => query.describe());
  }

  #queries(isOver: boolean): readonly Described[] {
    return this.#present === null ? this.#ended : [...this.#ended, this.#described(this.#present, isOver)];
  }

  /** A large query that has ended is described now, so that nothing is held of its run. */
  #described(entry: Entry, isOver: boolean): Described {
    const run = this.#runOf(entry, isOver);
    const small = isSmall(run);
    if (small || !isOver) return { isSmall: small, describe: () => describe(run) };
    const described = describe(run);
    return { isSmall: false, describe: () => described };
  }

  #runOf(entry: Entry, isOver: boolean): Run {
    const { elapsedMs, nowMs, queuedAtMs } = this.#options;
    // The view would hold the run.
    const { view, runBeganMs, ...kept } = entry;
    return {
      ...kept,
      runMs: runBeganMs === null ? 0 : elapsedMs() - runBeganMs,
      stages: view?.stages ?? [],
      moment: { queuedAtMs, nowMs: nowMs(), isOver },
    };
  }
}

function isSmall({ stages }: Run): boolean {
  let attempts = 0;
  let scans = 0;
  let files = 0;
  for (const stage of stages) {
    // Operators are a tree for each task.
    if (stage.tasks.some(({ profile }) => profile !== null)) return false;
    attempts += stage.attempts.length;
    scans += stage.scans.length;
    for (const scan of stage.scans) files += scan.kind === 'rows' ? Infinity : scan.report.files;
  }
  return stages.length <= KEPT.stages && attempts <= KEPT.attempts && scans <= KEPT.scans && files <= KEPT.files;
}

function print(
  queries: readonly QueryRunProfile[],
  omitted: number,
  { classification, resourceGroup, priority }: Facts,
  bytesMax: number,
): string | null {
  const head = {
    workload: {
      class: classification?.workClass ?? null,
      reasons: classification === null ? [] : shownReasons(classification),
      estimatedRows: classification === null ? null : roundedRows(classification),
      resourceGroup,
      priority,
    },
    queriesOmitted: omitted,
  };
  for (const detail of [null, ...LESS]) {
    const kept = detail === null ? queries : queries.map((query) => cutQuery(query, detail));
    const text = maskJson(JSON.stringify({ ...head, isCut: detail !== null, queries: kept }));
    if (Buffer.byteLength(text) <= bytesMax) return text;
  }
  const bare = JSON.stringify({ ...head, isCut: true, queriesOmitted: omitted + queries.length, queries: [] });
  return Buffer.byteLength(bare) <= bytesMax ? bare : null;
}

function describe(run: Run): QueryRunProfile {
  const { plannedMs, planMs, queuedMs, distributeMs, runMs, shape, starts, stages, moment } = run;
  const { lines, estimatedRows, treeOf, showsPolicies = false } = run.describe();
  const query = {
    runs: shape?.kind ?? null,
    reason: shape?.kind === 'whole' ? shape.reason : null,
    starts,
    startMs: inTenths(plannedMs - planMs),
    planMs: inTenths(planMs),
    queuedMs: inTenths(queuedMs),
    distributeMs: inTenths(distributeMs),
    runMs: inTenths(runMs),
    estimatedRows,
    ...(showsPolicies ? { showsPolicies } : {}),
    plan: lines.slice(0, ALL.planLinesMax).map(shortLine),
    planTree: treeOf(stages),
    stages: stages.map((stage) => stageProfile(stage, estimateOf(stage, estimatedRows), moment)),
  };
  return stages.every(({ attempts }) => attempts.length <= ALL.tasksMax) ? query : cutQuery(query, ALL);
}

const estimateOf = ({ fragment }: StageReport, whole: number | null): { rows: number | null; bytes: number | null } =>
  'estimate' in fragment ? fragment.estimate : { rows: whole, bytes: null };

function roundedRows(classification: Classification): number | null {
  const rows = shownRows(classification);
  return rows === null ? null : Math.round(rows);
}

const shortLine = (line: string): string =>
  line.length <= LINE_LENGTH_MAX ? line : `${line.slice(0, LINE_LENGTH_MAX)}...`;

const cutQuery = (query: QueryRunProfile, detail: Detail): QueryRunProfile => ({
  ...query,
  plan: query.plan.slice(0, detail.planLinesMax),
  planTree: detail.hasTree ? query.planTree : null,
  stages: query.stages.slice(-detail.stagesMax).map((stage) => cutStage(stage, detail)),
});
