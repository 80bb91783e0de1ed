import type { ScanNumbers } from '#shared/iceberg/planning.ts';
import { classify, type Classification, type ClassifyOptions } from '../workload/classify.ts';
import { must } from '#shared/must.ts';
import { planFeatures } from '../plan/plan-features.ts';
import type { PreparedQuery } from '../binding/prepared-query.ts';
import type { TableBinding } from '../binding/table-binding.ts';
import { readCall, scanRequest, type ScanContext } from '../scheduler/plan-scans.ts';

/**
 * Classifies a query before admission, by its plan and the sizes of its scans. It reads only numbers: the list of files is made after
 * admission, so that a waiting query holds none. @throws as `TableReader`
 */
export async function classifyQuery(
  { plan, scans, features }: Pick<PreparedQuery, 'plan' | 'scans' | 'features'>,
  options: ClassifyOptions,
  context: Omit<ScanContext, 'hold'>,
): Promise<Classification> {
  const numbers = await Promise.all(scans.map((scan) => numbersOf(scan, context)));
  const rows = numbers.map((one) => one.rows);
  const found = classify(plan === null ? features : planFeatures(plan, rows), options);
  return scans.some((scan) => scan.kind === 'policed' && !scan.reading.seesPolicies)
    ? { ...found, hidesRows: true }
    : found;
}

async function numbersOf(scan: TableBinding, context: Omit<ScanContext, 'hold'>): Promise<ScanNumbers> {
  if (scan.kind === 'rows') return { files: 0, rows: scan.rows.rowCount, bytes: scan.rows.bytes };
  if (scan.kind === 'staged')
    return { files: scan.table.spec.files.length, rows: scan.table.rowCount, bytes: scan.table.bytes };
  if (scan.kind === 'policed') return numbersOf(must(scan.reading.scans[scan.reading.source], 'the table'), context);
  const request = scanRequest(scan, context);
  return request === null ? NONE : context.tables.numbers(request, readCall(scan, context));
}

const NONE: ScanNumbers = { files: 0, rows: 0, bytes: 0 };
