import type { SqlText } from '#shared/task/sql-text.ts';
import type { TableSink } from '#shared/task/task.ts';
import { SkeinError } from '#shared/error.ts';
import { printValue } from '#shared/iceberg/print-value.ts';
import { foldIdentifier } from '#shared/sql/fold-identifier.ts';
import { quoteIdentifier, quoteLiteral } from '#shared/sql/quote.ts';
import { printSqlType, type SqlField, type SqlType } from '../plan/sql-type.ts';
import { icebergSqlType } from '../plan/iceberg-sql-type.ts';
import type { Assignment } from './assign-columns.ts';
import { missingValues } from './missing-values.ts';

/**
 * Wraps a query so that its rows are those of a table: the table's columns in name, type and order, with defaults where it gives none. A row
 * without a value in a required column, or in a required part of one, fails the query; `nullColumn` finds the column in that error.
 * @param mark begins that error's message; it is unique, so that no other error is taken for it
 */
export function tableRows(
  sql: SqlText,
  {
    assignments,
    columns,
    mark,
    addresses,
  }: {
    readonly assignments: readonly Assignment[];
    /** The query's columns. */
    readonly columns: readonly SqlField[];
    readonly mark: string;
    /** The query's last three columns are these. */
    readonly addresses?: NonNullable<TableSink['addresses']>;
  },
): SqlText {
  let places = 0;
  const list = assignments.map(({ field, source }) => {
    const type = printSqlType(icebergSqlType(field.type));
    const from = source === null ? undefined : columns[source];
    const given =
      from === undefined ? printValue(field.type, field.writeDefault ?? null) : cast(`c${source}`, from, type);
    const isWritten = addresses === undefined ? '' : `c${columns.length - 1} AND `;
    const cases = missingValues(field, given).map(({ sql: isMissing }) => {
      const error = `error(${quoteLiteral(`${mark} ${places++}`)})`;
      return `WHEN ${isWritten}${isMissing} THEN CAST(${error} AS ${type})`;
    });
    const value = cases.length === 0 ? given : `CASE ${cases.join(' ')} ELSE ${given} END`;
    return `${value} AS ${quoteIdentifier(field.name)}`;
  });
  const last = addresses === undefined ? [] : [addresses.file, addresses.pos, addresses.row];
  for (const [i, name] of last.entries()) list.push(`c${columns.length - 3 + i} AS ${quoteIdentifier(name)}`);
  const names = columns.map((_, i) => `c${i}`).join(', ');
  return [`SELECT ${list.join(', ')} FROM (`, ...sql, `\n) AS t(${names})`];
}

/** Names for the columns of `TableSink.addresses` that no column of the table has. */
export function addressNames(assignments: readonly Assignment[]): NonNullable<TableSink['addresses']> {
  const used = new Set(assignments.map(({ field }) => foldIdentifier(field.name)));
  const unused = (name: string): string => (used.has(name) ? unused(`${name}_`) : name);
  return { file: unused('replaced_file'), pos: unused('replaced_pos'), row: unused('is_written') };
}

const cast = (column: string, { type: from }: SqlField, type: string): string =>
  printSqlType(from) === type ? column : `CAST(${isNull(from) ? 'NULL' : column} AS ${type})`;

const isNull = (type: SqlType): boolean => type.kind === 'scalar' && type.name === '"NULL"';

/** Turns the error of a missing value into the client's; any other error stays. */
export function nullColumn(thrown: unknown, assignments: readonly Assignment[], mark: string): unknown {
  const { message } = SkeinError.of(thrown);
  if (!message.startsWith(`${mark} `)) return thrown;
  const places = assignments.flatMap(({ field }) => missingValues(field, ''));
  const path = places[Number(message.slice(mark.length + 1))]?.path ?? '';
  return new SkeinError('NOT_NULL_VIOLATION', `column ${path} is NOT NULL, and a row has no value for it`);
}
