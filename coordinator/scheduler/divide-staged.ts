import type { ScanFile } from '#shared/iceberg/scan-file.ts';
import type { StagedSource } from '#shared/task/task.ts';
import { unreachable } from '#shared/must.ts';
import type { Compression } from '#shared/stage/file-format.ts';
import type { TaskTable } from './plan-scans.ts';
import { divideFile, splitFile, type Split } from './split-queue.ts';

/** The splits of a file, of a table or of a stage. */
export function splitsOf(scan: number, file: ScanFile, table: TaskTable | undefined): readonly Split[] {
  const staged = table?.kind === 'files' ? table.spec.staged : undefined;
  if (staged === undefined) return splitFile(scan, file);
  const isDivided = divisionOf(staged, file) === 'anywhere';
  return isDivided ? divideFile(scan, file) : [{ kind: 'rows', scan, file, bytes: file.sizeBytes }];
}

/**
 * Where tasks can begin to read a stage's file. `anywhere`: groups of rows of Parquet, lines of JSON, and lines of CSV where no field can
 * hold the end of a line, because nothing encloses it. `at records`: in other CSV, where a walk over the quotes has found that a record
 * begins. A file that is compressed as a whole is read from its begin.
 */
export function divisionOf(
  { format, what }: Pick<StagedSource, 'format' | 'what'>,
  { path }: Pick<ScanFile, 'path'>,
): 'anywhere' | 'at records' | 'never' {
  if (what !== 'rows') return 'never';
  switch (format.kind) {
    case 'parquet':
      return 'anywhere';
    case 'json':
      return format.layout === 'lines' && isPlain(format.compression, path) ? 'anywhere' : 'never';
    case 'csv': {
      const { header, quote, compression } = format;
      // The first part has the header, and no other has a line of it.
      const hasOneLine = header.kind === 'names' || header.count <= 1;
      if (!hasOneLine || !isPlain(compression, path)) return 'never';
      return quote === null ? 'anywhere' : 'at records';
    }
    default:
      return unreachable(format);
  }
}

/** The endings by which DuckDB knows a compressed file. */
const PACKED = /\.(?:gz|zst)$/i;

const isPlain = (compression: Compression, path: string): boolean =>
  compression === 'none' || (compression === 'auto' && !PACKED.test(path));
