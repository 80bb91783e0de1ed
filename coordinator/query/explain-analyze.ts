import type { TaskReport } from '#proto/task.ts';
import { printJson, type Json } from '#shared/json.ts';
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
    `files=${plan.files} files_pruned=${plan.filesPruned} delete_files=${plan.deleteFiles} ` +
    `row_groups=${read?.rowGroups ?? 0} row_groups_pruned=${read?.rowGroupsPruned ?? 0} bytes=${read?.bytes ?? 0}`
  );
}

/** DuckDB's operators, as JSON: their fields differ from operator to operator. */
function profileLines(profile: Json): string[] {
  return profile === null ? [] : ['', 'operators:', ...printJson(profile, 2).split('\n')];
}
