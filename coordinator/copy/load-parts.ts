import { scannedBytes } from '#shared/task/scanned-bytes.ts';
import type { ScanFile } from '#shared/iceberg/scan-file.ts';
import { SkeinError } from '#shared/error.ts';
import { EMPTY_REPORT } from '#shared/iceberg/planning.ts';
import type { PreparedQuery } from '../binding/prepared-query.ts';
import { walkPlan } from '../plan/plan-tree.ts';
import type { PlannedScan } from '../scheduler/plan-scans.ts';
import type { TextSpan } from '../statement/statement.ts';
import type { FileTable } from '../binding/file-table.ts';

/** Files of one task, at most: the text of a task has a branch for each. */
const PART_FILES_MAX = 64;
/** Bytes of the files of one task: what is less meets others in it, up to a share of all of them. */
const [PART_BYTES_MIN, PART_BYTES_MAX] = [16 * 2 ** 20, 256 * 2 ** 20];
/** Tasks that each core of the cluster has at least, where there are bytes enough: so that none waits for long when another has ended. */
const PARTS_PER_CORE = 4;

/** Bytes that a task reads of these files: a part of what each core reads. */
export function partBytes(files: readonly ScanFile[], cores: number): number {
  const wanted = bytesOf(files) / (PARTS_PER_CORE * Math.max(1, cores));
  return Math.min(PART_BYTES_MAX, Math.max(PART_BYTES_MIN, wanted));
}

/** Divides files, or parts of them, into tasks, the largest first; each has so many of them that it is closest to its share. */
export function loadParts(files: readonly ScanFile[], cores: number): readonly (readonly ScanFile[])[] {
  const most = partBytes(files, cores);
  const parts: { files: ScanFile[]; bytes: number }[] = [];
  for (const file of files.toSorted((a, b) => scannedBytes(b) - scannedBytes(a))) {
    const last = parts.at(-1);
    const size = scannedBytes(file);
    if (last !== undefined && last.bytes + size / 2 <= most && last.files.length < PART_FILES_MAX) {
      last.files.push(file);
      last.bytes += size;
    } else parts.push({ files: [file], bytes: size });
  }
  return parts.map((part) => part.files);
}

const bytesOf = (files: readonly ScanFile[]): number => files.reduce((sum, file) => sum + scannedBytes(file), 0);

/** The scan of some of the files. */
export function stagedScan({ spec }: FileTable, files: readonly ScanFile[]): PlannedScan {
  const count = new Set(files.map(({ path }) => path)).size;
  return { kind: 'files', spec: { ...spec, files }, report: { ...EMPTY_REPORT, files: count, bytes: bytesOf(files) } };
}

/** @throws NOT_SUPPORTED for a query that gives another number of rows than it reads: a task counts the records of each file by its rows */
export function requireRecords({ plan }: PreparedQuery, { offset }: TextSpan): void {
  if (plan === null || [...walkPlan(plan)].every(({ kind }) => kind === 'project' || kind === 'scan')) return;
  throw new SkeinError('NOT_SUPPORTED', 'the SELECT of COPY INTO gives one row for each record of a file', {
    position: offset,
  });
}
