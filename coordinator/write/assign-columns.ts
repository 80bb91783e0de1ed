import { SkeinError } from '#shared/error.ts';
import { printValue } from '#shared/iceberg/print-value.ts';
import type { Field } from '#shared/iceberg/type.ts';
import { foldIdentifier } from '#shared/sql/fold-identifier.ts';
import { must, unreachable } from '#shared/must.ts';
import { printSqlType, type SqlField, type SqlType } from '../plan/sql-type.ts';
import { icebergSqlType } from '../plan/iceberg-sql-type.ts';
import { wholeText, type DerivedText } from '../statement/derived-text.ts';
import type { Proven } from '../statement/proven.ts';
import { SplicedText } from '../statement/spliced-text.ts';
import type { TextSpan } from '../statement/statement.ts';
import { missingColumn } from './missing-column.ts';
import { isAssignable } from './is-assignable.ts';
import type { TargetColumns, ColumnName } from '../operation/target-columns.ts';

/** A column of a table and the column of a query that gives its values; null = its default. */
export type Assignment = { readonly field: Field; readonly source: number | null };

type Insert = {
  /** The table's columns. */
  readonly fields: readonly Field[];
  readonly target: TargetColumns;
  /** The query's columns. */
  readonly columns: readonly SqlField[];
  /** Place of the query in the statement. */
  readonly position: number;
};

/**
 * Finds for each column of the table what an INSERT gives it.
 * @throws COLUMN_NOT_FOUND, SYNTAX_ERROR for a column named twice and for another number of columns than the query has, TYPE_MISMATCH
 */
export function assignColumns(insert: Insert): readonly Assignment[] {
  const { fields, columns, position } = insert;
  const sources = sourcesOf(insert);
  return fields.map((field, i) => {
    const source = sources.get(i) ?? null;
    if (source === null) return { field, source };
    requireAssignable(field, must(columns[source], 'a column of the query').type, position);
    return { field, source };
  });
}

/** @throws TYPE_MISMATCH for a type that has no conversion to the column's */
export const requireAssignable = (field: Field, from: SqlType, position: number): void =>
  requireConversion(field, from, { position, mayLack: false });

/** As `requireAssignable`, for a column of a file, whose structs may lack members, and have others. @throws TYPE_MISMATCH */
export const requireReadable = (field: Field, from: SqlType, position: number): void =>
  requireConversion(field, from, { position, mayLack: true });

function requireConversion(
  { name, type }: Field,
  from: SqlType,
  { position, mayLack }: { readonly position: number; readonly mayLack: boolean },
): void {
  const to = icebergSqlType(type);
  if (isAssignable(from, to, mayLack)) return;
  const types = `${printSqlType(to)}, and the value is ${printSqlType(from)}`;
  throw new SkeinError('TYPE_MISMATCH', `column ${name} has the type ${types}`, { position });
}

/** The rows that an INSERT gives, as the text of a query. @throws SYNTAX_ERROR, COLUMN_NOT_FOUND */
export function insertedRows({ query, values, target }: InsertedRows, fields: readonly Field[]): DerivedText {
  if (values === null || target.kind === 'name') return wholeText(query);
  return typedValues(query, values, filledFields({ fields, target }));
}

/** Null = DEFAULT. */
type ProvenRows = readonly (readonly (Proven<'expression'> | null)[])[];

type InsertedRows = {
  readonly query: TextSpan;
  /** The values of each row of a VALUES list; null for another query. */
  readonly values: ProvenRows | null;
  readonly target: TargetColumns;
};

/**
 * The text of a VALUES list in which each value is converted to its column's type, and DEFAULT is the column's default.
 * @param fields the columns that the values are for
 * @throws SYNTAX_ERROR for a row of another number of values
 */
function typedValues(query: TextSpan, values: ProvenRows, fields: readonly Field[]): DerivedText {
  const text = new SplicedText(query);
  const casts = fields.map(({ type }) => `) AS ${printSqlType(icebergSqlType(type))})`);
  text.insert('VALUES ');
  for (const [i, row] of values.entries()) {
    requireCount(fields.length, row.length, row.find((value) => value !== null)?.offset ?? query.offset);
    text.insert(i === 0 ? '(' : ', (');
    for (const [column, value] of row.entries()) {
      const field = must(fields[column], 'a column for each value');
      if (column > 0) text.insert(', ');
      if (value === null) {
        text.insert(printValue(field.type, field.writeDefault ?? null));
        continue;
      }
      text
        .insert('CAST((')
        .splice(value)
        .insert(casts[column] ?? '');
    }
    text.insert(')');
  }
  return text;
}

/** The columns that a query fills, in the order of its own. */
function filledFields({ fields, target }: Pick<Insert, 'fields' | 'target'>): readonly Field[] {
  if (target.kind !== 'list') return fields;
  const sources = [...find(fields, target.names)].toSorted(([, a], [, b]) => a - b);
  return sources.map(([at]) => must(fields[at], 'a column that was found'));
}

/** The query's column by the position of the table's. */
function sourcesOf({ fields, target, columns, position }: Insert): ReadonlyMap<number, number> {
  switch (target.kind) {
    case 'defaults':
      return new Map();
    case 'position':
      requireCount(fields.length, columns.length, position);
      return new Map(fields.map((_, i) => [i, i]));
    case 'list':
      requireCount(target.names.length, columns.length, position);
      return find(fields, target.names);
    case 'name':
      return find(
        fields,
        columns.map(({ name }) => ({ name, position })),
      );
    default:
      return unreachable(target);
  }
}

function requireCount(wanted: number, given: number, position: number): void {
  if (wanted === given) return;
  const many = (count: number): string => `${count} column${count === 1 ? '' : 's'}`;
  throw new SkeinError('SYNTAX_ERROR', `the INSERT fills ${many(wanted)}, and its query has ${many(given)}`, {
    position,
  });
}

function find(fields: readonly Field[], names: readonly ColumnName[]): ReadonlyMap<number, number> {
  const byName = new Map(fields.map((field, i) => [foldIdentifier(field.name), i]));
  const found = new Map<number, number>();
  for (const [source, { name, position }] of names.entries()) {
    const at = byName.get(foldIdentifier(name));
    if (at === undefined) throw missingColumn(fields, name, position);
    if (found.has(at)) throw new SkeinError('SYNTAX_ERROR', `column ${name} is filled twice`, { position });
    found.set(at, source);
  }
  return found;
}
