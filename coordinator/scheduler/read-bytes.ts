import type { ScanFile } from '#shared/iceberg/scan-file.ts';
import { must } from '#shared/must.ts';
import type { TaskFragment } from '../distributor/fragment.ts';
import type { Plan } from '../plan/plan.ts';
import type { PlannedScan } from './plan-scans.ts';

/** Returns the share of columns that is read, over the scans that are divided. `planned`: the fragment's scans. */
export function readPart(fragment: TaskFragment, planned: readonly PlannedScan[]): number {
  let [read, all] = [0, 0];
  for (const [i, scan] of fragment.scans.entries()) {
    const table = must(planned[i], 'a fragment names planned scans');
    if (scan.read === 'all' || table.kind === 'rows') continue;
    const { columns, readFieldIds } = table.spec;
    read += readFieldIds?.length ?? columns.length;
    all += columns.length;
  }
  return all === 0 ? 1 : Math.max(1, read) / all;
}

/** Estimates the number of a fragment's rows when they are groups; else 0. */
export const groupsOf = (fragment: TaskFragment): number =>
  fragment.plan !== null && isGrouping(fragment.plan) ? fragment.estimate.rows : 0;

/** Whether the rows of a plan are groups. */
const isGrouping = (plan: Plan): boolean =>
  (plan.kind === 'aggregate' && plan.groups.length > 0) || (plan.kind === 'project' && isGrouping(plan.child));

export const bytesOfFiles = (files: readonly (readonly ScanFile[])[]): number =>
  files.reduce((total, list) => list.reduce((sum, file) => sum + file.sizeBytes, total), 0);
