import type { TaskReport } from '#proto/task.ts';
import { printJson, type JsonObject } from '#shared/json.ts';
import type { Fragment } from '../distributor/fragment.ts';
import type { PlannedScan } from '../scheduler/plan-scans.ts';
import type { StageReport } from '../scheduler/stage-report.ts';
import { classJson, printClass, type Classification } from '../workload/classify.ts';
import type { QueryOutcome } from './execute-query.ts';
import { mergeOperators, operatorJson, operatorLines, readOperators, type Operator } from './operator-profile.ts';

type Run = {
  /** Lines of the plan, printed first. */
  readonly plan: readonly string[];
  readonly outcome: Omit<QueryOutcome, 'query'>;
  readonly planMs: number;
  readonly runMs: number;
  /** The class that the query ended with. */
  readonly classification: Classification | null;
};

/** Statistics of a fragment's tasks, by name, in printing order. */
type Facts = Readonly<Record<string, number>>;

type Part = {
  readonly title: string;
  readonly fragment: Fragment | null;
  readonly facts: Facts;
  readonly scans: readonly { readonly name: string; readonly snapshot: string; readonly facts: Facts }[];
  readonly dynamicFilters: readonly string[];
  readonly operators: readonly Operator[];
};

/** Formats EXPLAIN ANALYZE: the statistics of each fragment and operator, as lines below the plan or as one JSON document. */
export function explainAnalyze(run: Run, format: 'text' | 'json'): readonly string[] {
  const parts = partsOf(run.outcome);
  if (format === 'json') return [printJson(jsonOf(run, parts), 2)];
  const { plan, outcome, planMs, runMs, classification } = run;
  const how = outcome.run.kind === 'whole' ? `one worker (${outcome.run.reason})` : `${outcome.fragments} stages`;
  return [
    ...plan,
    '',
    `planning ${planMs.toFixed(1)} ms, execution ${runMs.toFixed(1)} ms, ${how}`,
    ...(classification === null ? [] : [printClass(classification)]),
    ...parts.flatMap(partLines),
  ];
}

const print = (facts: Facts): string =>
  Object.entries(facts)
    .map(([name, value]) => `${name}=${value}`)
    .join(' ');

function partLines({ title, facts, scans, dynamicFilters, operators }: Part): string[] {
  return [
    `${title}: ${print(facts)}`,
    ...scans.map(({ name, snapshot, facts: read }) => `${name}: snapshot=${snapshot} ${print(read)}`),
    ...dynamicFilters.map((filter) => `dynamic filter: ${filter}`),
    ...(operators.length === 0 ? [] : ['', 'operators:', ...operatorLines(operators), '']),
  ];
}

function jsonOf({ outcome, planMs, runMs, classification }: Run, parts: readonly Part[]): JsonObject {
  return {
    planning_ms: Number(planMs.toFixed(3)),
    execution_ms: Number(runMs.toFixed(3)),
    ...(classification === null ? {} : classJson(classification)),
    rows: outcome.rows,
    bytes_scanned: outcome.bytesScanned,
    ...(outcome.run.kind === 'whole' ? { whole: outcome.run.reason } : { starts: outcome.run.starts }),
    fragments: parts.map(({ fragment, facts, scans, dynamicFilters, operators }) => ({
      ...(fragment === null ? {} : { stage: fragment.stage, tasks_by: fragment.tasks.kind, reason: fragment.reason }),
      ...(fragment?.output == null ? {} : { output: fragment.output.kind, partitions: fragment.partitions }),
      ...facts,
      scans: scans.map(({ name, snapshot, facts: read }) => ({ name, snapshot, ...read })),
      dynamic_filters: dynamicFilters,
      operators: operators.map(operatorJson),
    })),
  };
}

function partsOf({ run, scans }: Run['outcome']): readonly Part[] {
  if (run.kind === 'staged') return run.stages.map(stagePart);
  const { report } = run;
  return [
    {
      title: 'task',
      fragment: null,
      facts: taskFacts([report]),
      scans: scans.map((scan, i) => scanPart(scan, i, [report], taskScan(scans, i))),
      dynamicFilters: [],
      operators: readOperators(report.profile),
    },
  ];
}

function stagePart({ fragment, scans, tasks, retries, skewed, elapsedMs, dynamicFilters }: StageReport): Part {
  const { stage, output, partitions } = fragment;
  const to = output === null ? 'result' : output.kind === 'hash' ? `hash in ${partitions} partitions` : output.kind;
  return {
    title: `stage ${stage} by ${fragment.tasks.kind} -> ${to}`,
    fragment,
    facts: {
      tasks: tasks.length,
      ...taskFacts(tasks),
      received_bytes: sum(tasks, (task) => task.receivedBytes),
      elapsed_ms: Math.round(elapsedMs),
      retries,
      skew_splits: skewed,
    },
    scans: fragment.scans.map(({ scan }, i) => scanPart(scans[i], scan, tasks, taskScan(scans, i))),
    dynamicFilters,
    operators: mergeOperators(tasks.map((task) => readOperators(task.profile))),
  };
}

const sum = (tasks: readonly TaskReport[], of: (task: TaskReport) => number): number =>
  tasks.reduce((total, task) => total + of(task), 0);

const taskFacts = (tasks: readonly TaskReport[]): Facts => ({
  rows: sum(tasks, (task) => task.rows),
  batches: sum(tasks, (task) => task.batches),
  output_bytes: sum(tasks, (task) => task.outputBytes),
  quanta: sum(tasks, (task) => task.quanta),
  scheduled_ms: Math.round(sum(tasks, (task) => task.scheduledMs)),
  spilled_bytes: sum(tasks, (task) => task.spilledBytes),
  peak_memory_bytes: Math.max(0, ...tasks.map((task) => task.peakMemoryBytes)),
  bytes_scanned: sum(tasks, (task) => task.bytesScanned),
});

/** The index of a scan among those whose files the tasks report; inline rows are not counted. */
const taskScan = (scans: readonly (PlannedScan | undefined)[], at: number): number =>
  scans.slice(0, at).filter((scan) => scan?.kind === 'iceberg').length;

/** `number` is the scan's number in the query, `index` its number in the tasks. */
function scanPart(
  scan: PlannedScan | undefined,
  number: number,
  tasks: readonly TaskReport[],
  index: number,
): Part['scans'][number] {
  if (scan?.kind === 'rows') {
    return { name: `scan ${number} ${scan.rows.title}`, snapshot: 'none', facts: { rows: scan.rows.rowCount } };
  }
  const read = tasks.flatMap((task) => task.scans.filter((one) => one.scan === index));
  const total = (of: (one: (typeof read)[number]) => number): number => read.reduce((all, one) => all + of(one), 0);
  const plan = scan?.report;
  return {
    name: `scan ${number} ${scan?.spec.tableName ?? ''}`,
    snapshot: scan?.spec.snapshotId ?? 'none',
    facts: {
      manifests: plan?.manifests ?? 0,
      manifests_pruned: plan?.manifestsPruned ?? 0,
      files: plan?.files ?? 0,
      files_pruned: plan?.filesPruned ?? 0,
      files_pruned_by_partition: plan?.filesPrunedByPartition ?? 0,
      delete_files: plan?.deleteFiles ?? 0,
      row_groups: total((one) => one.rowGroups),
      row_groups_pruned: total((one) => one.rowGroupsPruned),
      bytes: total((one) => one.bytes),
    },
  };
}
