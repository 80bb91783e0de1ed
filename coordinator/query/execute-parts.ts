import type { FileLoad } from '#shared/task/load-rules.ts';
import type { ScanFile } from '#shared/iceberg/scan-file.ts';
import { SkeinError } from '#shared/error.ts';
import { FileListHold } from '#shared/iceberg/file-list-hold.ts';
import { EMPTY_REPORT } from '#shared/iceberg/planning.ts';
import { ERRORS_MAX } from '../copy/copy-answer.ts';
import { KeptFaults } from '../copy/kept-faults.ts';
import { clusterCores } from '../distributor/estimate/cluster-cores.ts';
import type { TaskWidth } from '../distributor/fragment.ts';
import { singleFragment } from '../distributor/single-fragment.ts';
import type { PreparedQuery } from '../binding/prepared-query.ts';
import type { ScanBinding } from '../binding/scan-binding.ts';
import { stillReadable } from '../resolver/still-readable.ts';
import type { TableSource } from '../binding/table-source.ts';
import type { QueryRun } from '../scheduler/one-run.ts';
import { scanOf, type PlannedScan } from '../scheduler/plan-scans.ts';
import { NO_PROGRESS, type RunProgress, type RunView } from '../scheduler/run-progress.ts';
import { runWhole } from '../scheduler/run-whole.ts';
import { clusterFacts } from '../scheduler/scheduler.ts';
import type { StageReport } from '../scheduler/stage-report.ts';
import type { Place } from '../workload/admission.ts';
import type { TextSpan } from '../statement/statement.ts';
import { TextColumnReader } from '../sink/text-column.ts';
import { admitQuery, runLimits } from './admit-query.ts';
import type { QueryExecution, QueryOutcome, FilesDestination } from './execute-query.ts';
import type { RunningStatement } from './running-statement.ts';

/** A query over one table, or over files of a stage, that runs whole for each of some parts of the files, and writes its rows. */
export type PartsExecution = RunningStatement &
  Pick<QueryExecution, 'query' | 'context' | 'shape'> & {
    /** The scan of some of the files. */
    readonly scanOf: (files: readonly ScanFile[]) => PlannedScan;
    readonly parts: readonly (readonly ScanFile[])[];
    /** Cores of each task. Only with one do its rows keep their order. */
    readonly width: TaskWidth;
    readonly destination: FilesDestination;
    /** Loads the table as it is when the query has waited for its place. */
    readonly source: TableSource;
  };

type PartsOutcome = Pick<QueryOutcome, 'bytesScanned' | 'fragments' | 'files'> & {
  readonly loads: readonly FileLoad[];
};

/** Runs the query once for each part, as many at a time as the cluster has cores; each run is one task. When a part fails, the others are stopped. */
export async function executeParts(execution: PartsExecution): Promise<PartsOutcome> {
  const { services, request, active, parts } = execution;
  const { scheduler } = services;
  const place = await admitQuery(execution);
  using hold = new FileListHold(services.fileLists, request.caller.claims.tenant);
  try {
    for (const files of parts)
      hold.add(
        files.length,
        sum(files, ({ path }) => path.length),
      );
    if (place.hasWaited && !(await stillReadable(execution.query.scans, execution.source, active.signal))) {
      throw new SkeinError('COMMIT_CONFLICT', 'the snapshot that it reads has expired');
    }
    await scheduler.pool.available(active.signal);
    const atOnce = Math.min(parts.length, Math.max(1, clusterCores(clusterFacts(scheduler))));
    const failed = new AbortController();
    const signal = AbortSignal.any([active.signal, failed.signal]);
    const scan = execution.scanOf(parts.flat());
    const progress = new PartsRun(parts, scan);
    active.profile.shaped({ kind: 'whole', reason: 'each part of its files by itself' });
    active.follow(progress, () => 0);
    const outcomes: PartsOutcome[] = [];
    const faults = new KeptFaults(ERRORS_MAX);
    const left = parts.values();
    const runRest = async (): Promise<void> => {
      for (const files of left) {
        const outcome = await runPart({ ...execution, place }, files, { signal, progress });
        outcomes.push({ ...outcome, loads: faults.keep(outcome.loads) });
      }
    };
    const runs = Array.from({ length: atOnce }, () =>
      runRest().catch((error: unknown) => {
        failed.abort(error);
      }),
    );
    await Promise.all(runs);
    signal.throwIfAborted();
    return {
      bytesScanned: sum(outcomes, ({ bytesScanned }) => bytesScanned),
      fragments: outcomes.length,
      files: outcomes.flatMap(({ files }) => files),
      loads: outcomes.flatMap(({ loads }) => loads),
    };
  } finally {
    active.profile.ended();
    place.release();
  }
}

async function runPart(
  execution: PartsExecution & { readonly place: Place },
  files: readonly ScanFile[],
  { signal, progress }: { readonly signal: AbortSignal; readonly progress: PartsRun },
): Promise<PartsOutcome> {
  signal.throwIfAborted();
  const { services, request, query, context, shape, destination, place, width } = execution;
  const { runs, scheduler } = services;
  const { tenant, sub: principal } = request.caller.claims;
  const run: QueryRun = {
    queryId: request.queryId,
    tenant,
    principal,
    context,
    ...runLimits(execution, place),
    profile: 'none',
    bounds: query.bounds,
    encoding: { sql: destination.sql, newReader: () => new TextColumnReader() },
    sink: destination.sink,
    signal,
    onRun: (id, view) => {
      runs.add(id, shape);
      progress.begin(files, view);
    },
    onStart: () => undefined,
    onBatch: () => undefined,
    mayStartOver: () => true,
  };
  const scan = execution.scanOf(files);
  const report = await runWhole(scheduler, { ...run, scans: [scan], fragment: singleFragment(query, width) });
  progress.end(files, report.bytesScanned);
  return { bytesScanned: report.bytesScanned, fragments: 1, files: report.files, loads: report.loads ?? [] };
}

/** The scan of some files of a table. */
export function scanOfPart(binding: ScanBinding, files: readonly ScanFile[]): PlannedScan {
  const rows = sum(files, ({ recordCount }) => recordCount);
  const bytes = sum(files, ({ sizeBytes }) => sizeBytes);
  return scanOf(binding, { files, report: { ...EMPTY_REPORT, files: files.length, rows, bytes } });
}

/** The runs of all parts together: a stage with a task for each part. */
class PartsRun implements RunView {
  readonly #parts: readonly (readonly ScanFile[])[];
  readonly #scan: PlannedScan;
  readonly #running = new Map<readonly ScanFile[], RunView>();
  readonly #ended = new Map<readonly ScanFile[], StageReport>();
  readonly #beganMs = performance.now();
  #bytesScanned = 0;
  #coreMs = 0;
  #retries = 0;

  constructor(parts: readonly (readonly ScanFile[])[], scan: PlannedScan) {
    this.#parts = parts;
    this.#scan = scan;
  }

  begin(part: readonly ScanFile[], view: RunView): void {
    this.#running.set(part, view);
  }

  end(part: readonly ScanFile[], bytesScanned: number): void {
    const view = this.#running.get(part);
    this.#retries += view?.progress.retries ?? 0;
    this.#coreMs += view?.progress.coreMs ?? 0;
    const [stage] = view?.stages ?? [];
    if (stage !== undefined) this.#ended.set(part, stage);
    this.#running.delete(part);
    this.#bytesScanned += bytesScanned;
  }

  get progress(): RunProgress {
    const running = Array.from(this.#running.values(), ({ progress }) => progress);
    return {
      ...NO_PROGRESS,
      tasks: this.#parts.length,
      tasksDone: this.#ended.size,
      tasksRunning: sum(running, ({ tasksRunning }) => tasksRunning),
      bytesScanned: this.#bytesScanned,
      coreMs: this.#coreMs + sum(running, ({ coreMs }) => coreMs),
      retries: sum(running, ({ retries }) => retries) + this.#retries,
      workers: [...new Set(running.flatMap(({ workers }) => workers))],
    };
  }

  get stages(): readonly StageReport[] {
    const byPart = this.#parts.flatMap((part, task) => {
      const stage = this.#ended.get(part) ?? this.#running.get(part)?.stages[0];
      return stage === undefined ? [] : [{ stage, task }];
    });
    const [first] = byPart;
    if (first === undefined) return [];
    const isDone = this.#ended.size === this.#parts.length;
    return [
      {
        ...first.stage,
        state: isDone ? 'done' : (byPart.find(({ stage }) => stage.state === 'failed')?.stage.state ?? 'running'),
        scans: [this.#scan],
        tasks: byPart.flatMap(({ stage }) => stage.tasks),
        tasksKnown: this.#parts.length,
        attempts: byPart.flatMap(({ stage, task }) => stage.attempts.map((attempt) => ({ ...attempt, task }))),
        retries: this.progress.retries,
        elapsedMs: performance.now() - this.#beganMs,
      },
    ];
  }
}

const sum = <T>(list: readonly T[], of: (one: T) => number): number => list.reduce((total, one) => total + of(one), 0);

/** The one table of a query. @throws NOT_SUPPORTED for a query of more tables, or of none */
export function onlyTable(scans: PreparedQuery['scans'], { offset }: TextSpan): ScanBinding {
  const [binding, ...others] = scans;
  if (binding?.kind === 'iceberg' && others.length === 0) return binding;
  throw new SkeinError('NOT_SUPPORTED', 'the condition may name columns of the table only', { position: offset });
}
