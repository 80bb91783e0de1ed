import type { TaskReport } from '#proto/task.ts';
import { isObject } from '#shared/iceberg/type.ts';
import type { Json, JsonObject } from '#shared/json.ts';
import type { PlannedScan } from '../scheduler/plan-scans.ts';

type Run = {
  readonly report: TaskReport;
  readonly scans: readonly PlannedScan[];
  readonly planMs: number;
  readonly runMs: number;
};

/** What EXPLAIN ANALYZE prints below the plan. */
export function analyzeLines({ report, scans, planMs, runMs }: Run): string[] {
  const task = [
    `planning ${planMs.toFixed(1)} ms, execution ${runMs.toFixed(1)} ms`,
    `task: rows=${report.rows} batches=${report.batches} output_bytes=${report.outputBytes} quanta=${report.quanta} ` +
      `scheduled_ms=${Math.round(report.scheduledMs)} spilled_bytes=${report.spilledBytes} ` +
      `peak_memory_bytes=${report.peakMemoryBytes} bytes_scanned=${report.bytesScanned}`,
  ];
  return ['', ...task, ...scans.map((scan, index) => scanLine(scan, index, report)), ...profileLines(report.profile)];
}

function scanLine({ spec, report: plan }: PlannedScan, index: number, task: TaskReport): string {
  const read = task.scans.find((scan) => scan.scan === index);
  return (
    `scan ${index} ${spec.tableName}: snapshot=${spec.snapshotId ?? 'none'} ` +
    `manifests=${plan.manifests} manifests_pruned=${plan.manifestsPruned} ` +
    `files=${plan.files} files_pruned=${plan.filesPruned} ` +
    `files_pruned_by_partition=${plan.filesPrunedByPartition} delete_files=${plan.deleteFiles} ` +
    `row_groups=${read?.rowGroups ?? 0} row_groups_pruned=${read?.rowGroupsPruned ?? 0} bytes=${read?.bytes ?? 0}`
  );
}

/** DuckDB's operators, one a line, children indented: rows out, rows that a scan looked at, and the time spent in it alone. */
function profileLines(profile: Json): string[] {
  return isObject(profile) ? ['', 'operators:', ...operatorLines(profile, 0)] : [];
}

function operatorLines(node: JsonObject, depth: number): string[] {
  const children = Array.isArray(node['children']) ? (node['children'] as readonly Json[]).filter(isObject) : [];
  const name = node['operator_name'];
  // The root stands for the whole query and has no name.
  if (typeof name !== 'string') return children.flatMap((child) => operatorLines(child, depth));
  const number = (key: string): number => Number(node[key] ?? 0);
  const scanned = number('operator_rows_scanned');
  const line =
    `${'  '.repeat(depth + 1)}${name.trim()} rows=${number('operator_cardinality')}` +
    `${scanned === 0 ? '' : ` rows_scanned=${scanned}`} time_ms=${(number('operator_timing') * 1000).toFixed(2)}`;
  return [line, ...children.flatMap((child) => operatorLines(child, depth + 1))];
}
