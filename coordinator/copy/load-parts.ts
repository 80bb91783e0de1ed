import type { ScanFile } from '#proto/task.ts';
import { SkeinError } from '#shared/error.ts';
import { EMPTY_REPORT } from '#shared/iceberg/planning.ts';
import type { PreparedQuery } from '../planner/prepared-query.ts';
import { walkPlan } from '../planner/plan-tree.ts';
import type { PlannedScan } from '../scheduler/plan-scans.ts';
import type { TextSpan } from '../statement/statement.ts';
import type { StagedTable } from './staged-table.ts';

/** Files of one task, at most: the text of a task has a branch for each. */
const PART_FILES_MAX = 64;
/** Bytes of the files of one task: what is less meets others in it, up to a share of all of them. */
const [PART_BYTES_MIN, PART_BYTES_MAX] = [16 * 2 ** 20, 256 * 2 ** 20];
/** Tasks that each core of the cluster has at least, where there are bytes enough: so that none waits for long when another has ended. */
const PARTS_PER_CORE = 4;

/** Divides files into tasks, the largest first; each has so many files that it is closest to its share. */
export function partsOf(files: readonly ScanFile[], cores: number): readonly (readonly ScanFile[])[] {
  const bytes = files.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0);
  const wanted = bytes / (PARTS_PER_CORE * Math.max(1, cores));
  const partBytes = Math.min(PART_BYTES_MAX, Math.max(PART_BYTES_MIN, wanted));
  const parts: { files: ScanFile[]; bytes: number }[] = [];
  for (const file of files.toSorted((a, b) => b.sizeBytes - a.sizeBytes)) {
    const last = parts.at(-1);
    if (last !== undefined && last.bytes + file.sizeBytes / 2 <= partBytes && last.files.length < PART_FILES_MAX) {
      last.files.push(file);
      last.bytes += file.sizeBytes;
    } else parts.push({ files: [file], bytes: file.sizeBytes });
  }
  return parts.map((part) => part.files);
}

/** The scan of some of the files. */
export function stagedScan({ spec }: StagedTable, files: readonly ScanFile[]): PlannedScan {
  const bytes = files.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0);
  return { kind: 'files', spec: { ...spec, files }, report: { ...EMPTY_REPORT, files: files.length, bytes } };
}

/** @throws NOT_SUPPORTED for a query that gives another number of rows than it reads: a task counts the records of each file by its rows */
export function requireRecords({ plan }: PreparedQuery, { offset }: TextSpan): void {
  if (plan === null || [...walkPlan(plan)].every(({ kind }) => kind === 'project' || kind === 'scan')) return;
  throw new SkeinError('NOT_SUPPORTED', 'the SELECT of COPY INTO gives one row for each record of a file', {
    position: offset,
  });
}
