import { SkeinError } from '#shared/error.ts';
import { addressField, type AddressName } from '#shared/iceberg/address-columns.ts';
import type { Schema } from '#shared/iceberg/schema.ts';
import type { SortField } from '#shared/iceberg/sort-order.ts';
import type { TableMetadata } from '#shared/iceberg/table-metadata.ts';
import type { Transform } from '#shared/iceberg/transform.ts';
import type { Field } from '#shared/iceberg/type.ts';
import { foldIdentifier } from '#shared/sql/fold-identifier.ts';
import { quoteIdentifier } from '#shared/sql/quote.ts';
import type { WriteTarget } from '../operation/writes.ts';
import { readName, tableText } from './target-name.ts';

/** The rows of a table as they are written into other files of it. */
export type RewriteQuery = {
  /** The columns of the files: the table's, and in format 3 those that keep the lineage of a row. */
  readonly schema: Schema;
  /** All rows, in the table's sort order. */
  readonly sql: string;
  /** Begins a query of the same columns, and of the partition; WHERE may follow. */
  readonly files: string;
};

/** Columns that a row keeps through a rewrite (Iceberg specification, "Row Lineage"). */
const LINEAGE: readonly AddressName[] = ['_row_id', '_last_updated_sequence_number'];

/** @throws NOT_SUPPORTED for a table whose own columns hide the lineage of its rows */
export function rewriteQuery(target: Pick<WriteTarget, 'name' | 'branch' | 'base' | 'schema'>): RewriteQuery {
  const { base, schema } = target;
  const lineage = LINEAGE.flatMap((column) => addressField(column, base) ?? []);
  const hidden = [...lineage.map((field) => field.name), '_partition'];
  const twin = schema.fields.find((field) => hidden.includes(foldIdentifier(field.name)));
  if (twin !== undefined) {
    throw new SkeinError('NOT_SUPPORTED', `the column ${twin.name} has the name of a row's address`);
  }
  const fields: readonly Field[] = [...schema.fields, ...lineage];
  const columns = fields.map((field) => quoteIdentifier(field.name)).join(', ');
  const from = `FROM ${tableText(readName(target))} AS "t"`;
  const order = orderOf(base, schema);
  const partition = addressField('_partition', base) === undefined ? '' : ', "_partition"';
  return {
    schema: { ...schema, fields },
    sql: `SELECT ${columns} ${from}${order.length === 0 ? '' : ` ORDER BY ${order.join(', ')}`}`,
    files: `SELECT ${columns}${partition} ${from}`,
  };
}

/** The terms of ORDER BY for the table's sort order, up to the first that SQL cannot say. */
function orderOf({ sortOrder }: TableMetadata, schema: Schema): readonly string[] {
  const terms: string[] = [];
  for (const field of sortOrder) {
    const term = sortTerm(field, schema);
    if (term === undefined) break;
    terms.push(term);
  }
  return terms;
}

function sortTerm({ sourceId, transform, direction, nullOrder }: SortField, schema: Schema): string | undefined {
  const column = columnOf(schema, sourceId);
  const value = column === undefined ? undefined : printTransform(transform, column);
  if (value === undefined) return undefined;
  return `${value} ${direction === 'asc' ? 'ASC' : 'DESC'} ${nullOrder === 'nulls-first' ? 'NULLS FIRST' : 'NULLS LAST'}`;
}

/** A column, or a field of a struct; undefined for any other place. */
function columnOf({ fields }: Schema, id: number): string | undefined {
  const find = (among: readonly Field[], path: string): string | undefined => {
    for (const field of among) {
      const own = `${path}.${quoteIdentifier(field.name)}`;
      if (field.id === id) return own;
      const inside = field.type.kind === 'struct' ? find(field.type.fields, own) : undefined;
      if (inside !== undefined) return inside;
    }
    return undefined;
  };
  return find(fields, '"t"');
}

const TIMES: ReadonlySet<Transform['kind']> = new Set(['year', 'month', 'day', 'hour']);

/** SQL whose order is that of the transformed values; undefined where there is none. */
function printTransform({ kind }: Transform, column: string): string | undefined {
  if (kind === 'identity') return column;
  return TIMES.has(kind) ? `date_trunc('${kind}', ${column})` : undefined;
}
