import type { ScanFile } from '#shared/iceberg/scan-file.ts';
import type { ScanSpec } from '#shared/task/task.ts';
import { SkeinError, type ErrorCode } from '#shared/error.ts';
import { foldIdentifier } from '#shared/sql/fold-identifier.ts';
import type { FileField, ReadFooter } from './footer.ts';
import { withFieldIds } from './name-mapping.ts';
import { baseName } from './plan-file.ts';

/** Errors that DuckDB may report of a file that it cannot read. */
const FILE_CODES: ReadonlySet<ErrorCode> = new Set(['INTERNAL_ERROR', 'INVALID_INPUT_FILE', 'INVALID_TABLE_DATA']);
/** Most files that are looked at. */
const FILES_MAX = 1_000;

/**
 * Says of a failed read that a column which it reads is stored in a way that DuckDB does not know, though the file is valid. Any other error stays.
 * @param footersOf reads the footers of a scan's files, which the scan has read before
 */
export async function unreadStorageError(
  failure: SkeinError,
  scans: readonly ScanSpec[],
  footersOf: (scan: ScanSpec) => ReadFooter,
): Promise<SkeinError> {
  if (!FILE_CODES.has(failure.code)) return failure;
  let left = FILES_MAX;
  for (const scan of scans) {
    if (scan.staged !== undefined && scan.staged.format.kind !== 'parquet') continue;
    const files = scan.files.slice(0, left);
    left -= files.length;
    for (const file of files) {
      const found = await unreadOf(scan, file, footersOf(scan)).catch(() => undefined);
      if (found === undefined) continue;
      const message = `column ${JSON.stringify(found.column)} of ${baseName(file.path)} has ${found.storage}, which is not supported`;
      return new SkeinError('NOT_SUPPORTED', message, { cause: failure.cause ?? failure });
    }
  }
  return failure;
}

type Unread = { readonly column: string; readonly storage: string };

async function unreadOf(scan: ScanSpec, file: ScanFile, readFooter: ReadFooter): Promise<Unread | undefined> {
  const footer = await readFooter(file);
  if (footer.unreadable.size === 0) return undefined;
  for (const field of fieldsRead(scan, footer.fields, file)) {
    for (let leaf = field.leaves.first; leaf < field.leaves.end; leaf++) {
      const storage = footer.unreadable.get(leaf);
      if (storage !== undefined) return { column: field.name, storage };
    }
  }
  return undefined;
}

/** The columns of a file that the plan reads: of a table by their ids, of a stage by their names. */
function fieldsRead(scan: ScanSpec, fields: readonly FileField[], file: ScanFile): readonly FileField[] {
  const ids = new Set(scan.readFieldIds ?? scan.columns.map(({ fieldId }) => fieldId));
  if (scan.staged === undefined) {
    return withFieldIds(fields, scan.nameMapping, baseName(file.path)).filter(({ id }) => id !== null && ids.has(id));
  }
  const names = new Set(scan.columns.filter(({ fieldId }) => ids.has(fieldId)).map(({ name }) => foldIdentifier(name)));
  return fields.filter(({ name }) => names.has(foldIdentifier(name)));
}
