import { FileListHold } from '#shared/iceberg/file-list-hold.ts';
import type { ScanFile } from '#shared/iceberg/scan-file.ts';
import { must } from '#shared/must.ts';
import type { PreparedQuery } from '../binding/prepared-query.ts';
import { walkPlan } from '../plan/plan-tree.ts';
import { plannedFiles, planScans } from '../scheduler/plan-scans.ts';
import type { TextSpan } from '../statement/statement.ts';
import { onlyTable } from './execute-parts.ts';
import { keysOf } from './keys-of.ts';
import type { RunningStatement } from './running-statement.ts';

/** The files that a query of one table reads. @throws NOT_SUPPORTED for a query of more tables */
export async function filesOfQuery(
  { plan, scans }: PreparedQuery,
  query: TextSpan,
  { services, request, active }: RunningStatement,
): Promise<readonly ScanFile[]> {
  const binding = onlyTable(scans, query);
  // The optimiser has found that no row is wanted.
  if (plan !== null && ![...walkPlan(plan)].some(({ kind }) => kind === 'scan')) return [];
  const { tenant } = request.caller.claims;
  using hold = new FileListHold(services.fileLists, tenant);
  const scanContext = { tables: services.tables, tenant, hold, signal: active.signal };
  const [scan] = await planScans([binding], { ...scanContext, freshKey: keysOf(services, tenant) });
  return plannedFiles(must(scan, 'one scan for one table'));
}
