import type { ScanColumn, ScanFile } from '#shared/iceberg/scan-file.ts';
import { ADDRESS_IDS } from '#shared/iceberg/address-columns.ts';
import { duckDbType } from '#shared/iceberg/duckdb-type.ts';
import { parseType } from '#shared/iceberg/type.ts';
import { quoteIdentifier, quoteLiteral } from '#shared/sql/quote.ts';
import type { FileField } from './footer.ts';
import { printValue } from '#shared/iceberg/print-value.ts';

/**
 * Prints an address column over the file `f` and the facts `l` of `fileFactsJoin`; undefined for any other column. A file that was written
 * by a rewrite holds the lineage of its rows where it differs from what the file's own facts say.
 */
export function printAddress(
  column: ScanColumn,
  fieldOf: (fieldId: number) => FileField | undefined,
): string | undefined {
  const kept = (otherwise: string): string => {
    const field = fieldOf(column.fieldId);
    return field === undefined ? otherwise : `coalesce(CAST(f.${quoteIdentifier(field.name)} AS BIGINT), ${otherwise})`;
  };
  switch (column.fieldId) {
    case ADDRESS_IDS._file:
      return 'l.location';
    case ADDRESS_IDS._pos:
      return 'CAST(f.file_row_number AS BIGINT)';
    case ADDRESS_IDS._partition:
      return 'l.partition';
    case ADDRESS_IDS._row_id:
      return kept('l.first_row_id + CAST(f.file_row_number AS BIGINT)');
    case ADDRESS_IDS._last_updated_sequence_number:
      // A file without row ids is older than lineage, and its rows have none.
      return kept('CASE WHEN l.first_row_id IS NOT NULL THEN l.sequence_number END');
    default:
      return undefined;
  }
}

const ADDRESSES: ReadonlySet<number> = new Set(Object.values(ADDRESS_IDS));
export const isAddress = ({ fieldId }: ScanColumn): boolean => ADDRESSES.has(fieldId);

/** A data file, and the path by which DuckDB reads it. */
export type LocatedFile = { readonly file: ScanFile; readonly local: string };

/**
 * Joins the facts of each file to its rows, so that files that are read in the same way still share one `read_parquet`; '' when no column
 * needs them.
 */
export function fileFactsJoin(columns: readonly ScanColumn[], files: readonly LocatedFile[]): string {
  const read = new Set(columns.map((column) => column.fieldId));
  read.delete(ADDRESS_IDS._pos);
  if (!columns.some((column) => isAddress(column) && read.has(column.fieldId))) return '';
  const partition = columns.find((column) => column.fieldId === ADDRESS_IDS._partition);
  const rows = files.map(({ file, local }) => {
    const facts = [
      quoteLiteral(local),
      quoteLiteral(file.path),
      integer(file.firstRowId),
      integer(file.sequenceNumber ?? null),
      partition === undefined ? 'NULL' : printPartition(partition, file),
    ];
    return `(${facts.join(', ')})`;
  });
  return ` JOIN (VALUES ${rows.join(', ')}) AS l(local, location, first_row_id, sequence_number, partition) ON l.local = f.filename`;
}

const integer = (digits: string | null): string => `CAST(${digits === null ? 'NULL' : quoteLiteral(digits)} AS BIGINT)`;

const printPartition = ({ type }: ScanColumn, { partition = {} }: ScanFile): string =>
  `CAST(${printValue(parseType(type), partition)} AS ${duckDbType(type)})`;
