import type { ScanDelete } from './scan-file.ts';
import { SkeinError } from '#shared/error.ts';
import { must } from '#shared/must.ts';
import type { DataFile } from './manifest.ts';
import { scanColumn } from './scan-column.ts';
import { invalid, type Field } from './type.ts';

/**
 * Returns a delete file in the form that tasks carry.
 * @throws NOT_SUPPORTED for a file that is neither Parquet nor a deletion vector, INVALID_TABLE_DATA for a vector without its position
 */
export function scanDelete(file: DataFile, fields: ReadonlyMap<number, Field>): ScanDelete {
  if (file.content === 'equality-deletes') return equalityDelete(file, fields);
  if (file.format === 'puffin') return deletionVector(file);
  requireParquet(file);
  return { kind: 'position', path: file.path, sizeBytes: file.sizeBytes };
}

/** Checks that a file is Parquet, which the workers read. @throws NOT_SUPPORTED for any other format. */
export function requireParquet(file: DataFile): void {
  if (file.format === 'parquet') return;
  throw new SkeinError('NOT_SUPPORTED', `${file.path} is a file of format ${file.format}; only Parquet is read`);
}

function deletionVector({ path, contentOffset, contentSizeBytes, recordCount }: DataFile): ScanDelete {
  if (contentOffset === undefined || contentSizeBytes === undefined) {
    throw invalid(`deletion vector in ${path} does not say where it is`);
  }
  return { kind: 'vector', path, offset: contentOffset, lengthBytes: contentSizeBytes, cardinality: recordCount };
}

function equalityDelete(file: DataFile, fields: ReadonlyMap<number, Field>): ScanDelete {
  requireParquet(file);
  const columns = file.equalityIds.map((id) => scanColumn(must(fields.get(id), 'the index of deletes checked it')));
  return { kind: 'equality', path: file.path, sizeBytes: file.sizeBytes, columns };
}
