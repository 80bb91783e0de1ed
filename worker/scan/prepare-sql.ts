import type { ScanReport, ScanSpec, TaskSpec } from '#proto/task.ts';
import { quoteIdentifier, quoteLiteral } from '#shared/sql/quote.ts';
import { localPath } from '#shared/storage/location.ts';

/** The text that DuckDB runs, with every scan printed, and what the scans read. */
export type PreparedSql = { readonly sql: string; readonly reports: readonly ScanReport[] };

export async function prepareSql(spec: TaskSpec): Promise<PreparedSql> {
  const scans = spec.scans.map(printScan);
  return {
    sql: spec.sql.map((part) => (typeof part === 'string' ? part : (scans[part.scan] ?? ''))).join(''),
    reports: [],
  };
}

function printScan(scan: ScanSpec): string {
  const files = scan.files.map((file) => quoteLiteral(localPath(file.path)));
  const columns = scan.columns.map((column) => quoteIdentifier(column.name));
  return `(SELECT ${columns.join(', ')} FROM read_parquet([${files.join(', ')}], hive_partitioning = false))`;
}
