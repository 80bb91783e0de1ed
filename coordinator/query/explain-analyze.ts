import { printJson, type JsonObject } from '#shared/json.ts';
import { stageTitle } from '../plan/stage-title.ts';
import type { Fragment } from '../distributor/fragment.ts';
import type { StageReport } from '../scheduler/stage-report.ts';
import { classJson, printClass, type Classification } from '../workload/classify.ts';
import type { QueryOutcome } from './execute-query.ts';
import {
  mergeOperators,
  operatorJson,
  operatorLines,
  readOperators,
  type Operator,
} from '../profile/operator-profile.ts';
import { scanFigures, stageFigures, taskFigures, type Figures, type ScanFigures } from '../profile/run-figures.ts';

type Run = {
  /** Lines of the plan, printed first. */
  readonly plan: readonly string[];
  readonly outcome: Omit<QueryOutcome, 'query'>;
  readonly planMs: number;
  readonly runMs: number;
  /** Policies stand between a table and the reader: join keys, which are values of rows, are not told. */
  readonly hidesKeys?: boolean;
  /** The class that the query ended with. */
  readonly classification: Classification | null;
};

type Part = {
  readonly title: string;
  readonly fragment: Fragment | null;
  readonly facts: Figures;
  readonly scans: readonly ScanFigures[];
  readonly dynamicFilters: readonly string[];
  readonly operators: readonly Operator[];
};

/** Formats EXPLAIN ANALYZE: the statistics of each fragment and operator, as lines below the plan or as one JSON document. */
export function explainAnalyze(run: Run, format: 'text' | 'json'): readonly string[] {
  const parts = partsOf(run);
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

const print = (figures: Figures): string =>
  Object.entries(figures)
    .map(([name, value]) => `${snakeCase(name)}=${value}`)
    .join(' ');

const jsonFigures = (figures: Figures): JsonObject =>
  Object.fromEntries(Object.entries(figures).map(([name, value]) => [snakeCase(name), value]));

const snakeCase = (name: string): string => name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

const nameOf = ({ number, table }: ScanFigures): string => `scan ${number} ${table}`;

function partLines({ title, facts, scans, dynamicFilters, operators }: Part): string[] {
  return [
    `${title}: ${print(facts)}`,
    ...scans.map((scan) => `${nameOf(scan)}: snapshot=${scan.snapshot ?? 'none'} ${print(scan.figures)}`),
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
      ...jsonFigures(facts),
      scans: scans.map((scan) => ({
        name: nameOf(scan),
        snapshot: scan.snapshot ?? 'none',
        ...jsonFigures(scan.figures),
      })),
      dynamic_filters: dynamicFilters,
      operators: operators.map(operatorJson),
    })),
  };
}

function partsOf({ outcome: { run, scans }, hidesKeys = false }: Run): readonly Part[] {
  if (run.kind === 'staged') return run.stages.map((stage) => stagePart(stage, hidesKeys));
  const { report } = run;
  return [
    {
      title: 'task',
      fragment: null,
      facts: taskFigures([report]),
      scans: scanFigures(scans, [...scans.keys()], [report]),
      dynamicFilters: [],
      operators: readOperators(report.profile),
    },
  ];
}

function stagePart(report: StageReport<Fragment>, hidesKeys: boolean): Part {
  const { fragment, scans, tasks, dynamicFilters } = report;
  const { stage, output, partitions } = fragment;
  const to = output === null ? 'result' : output.kind === 'hash' ? `hash in ${partitions} partitions` : output.kind;
  const numbers = fragment.scans.map(({ scan }) => scan);
  return {
    title: `stage ${stageTitle(stage)} by ${fragment.tasks.kind} -> ${to}`,
    fragment,
    facts: {
      tasks: tasks.length,
      estimatedRows: Math.round(fragment.estimate.rows),
      ...taskFigures(tasks),
      ...stageFigures(report),
    },
    scans: scanFigures(scans, numbers, tasks),
    dynamicFilters: dynamicFilters.map(({ text, column, stage: of }) =>
      hidesKeys ? `${column} by stage ${stageTitle(of)}` : text,
    ),
    operators: mergeOperators(tasks.map((task) => readOperators(task.profile))),
  };
}
