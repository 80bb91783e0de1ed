import { parseTransform, type Transform } from '#shared/iceberg/transform.ts';
import { foldIdentifier } from '#shared/sql/fold-identifier.ts';
import type { StatementReader } from '../../statement/statement-reader.ts';
import type { ObjectName } from '../../statement/statement.ts';

/** A transform of a column, which may stand in structs: `region`, `month(ts)`, `bucket(16, address.zip)`. */
export type TransformClause = { readonly column: ObjectName; readonly transform: Transform };

/** A partition field; `name` is null for the one that Iceberg's libraries give. */
export type PartitionClause = TransformClause & { readonly name: string | null };

export type SortClause = TransformClause & {
  readonly direction: 'asc' | 'desc';
  readonly nullOrder: 'nulls-first' | 'nulls-last';
};

/** Depth of the structs that a column may stand in; the catalog has the same limit of types. */
export const COLUMN_PARTS_MAX = 50;
/** Fields of a partition spec or a sort order. */
const FIELDS_MAX = 32;

/** `(transform [AS name], ...)` @throws SYNTAX_ERROR */
export const takePartitionedBy = (reader: StatementReader): readonly PartitionClause[] =>
  takeList(reader, () => takePartition(reader));

/** `transform [AS name]` @throws SYNTAX_ERROR */
export function takePartition(reader: StatementReader): PartitionClause {
  const clause = takeTransform(reader);
  if (!reader.takeWord('AS')) return { ...clause, name: null };
  const name = reader.takeName();
  if (name === null || name === '') throw reader.expected('the name of the partition field');
  return { ...clause, name };
}

/** `(transform [ASC | DESC] [NULLS FIRST | LAST], ...)`, may be empty; nulls stand as Iceberg has them by default. @throws SYNTAX_ERROR */
export function takeSortedBy(reader: StatementReader): readonly SortClause[] {
  if (reader.peekSymbol('(') && reader.peekSymbol(')', 1)) {
    reader.takeSymbol('(');
    reader.takeSymbol(')');
    return [];
  }
  return takeList(reader, () => takeSortField(reader));
}

function takeList<T>(reader: StatementReader, takeOne: () => T): readonly T[] {
  if (!reader.takeSymbol('(')) throw reader.expected("'('");
  const fields: T[] = [];
  do {
    if (fields.length === FIELDS_MAX) throw reader.error('SYNTAX_ERROR', `more than ${FIELDS_MAX} fields`);
    fields.push(takeOne());
  } while (reader.takeSymbol(','));
  if (!reader.takeSymbol(')')) throw reader.expected("',' or ')'");
  return fields;
}

function takeSortField(reader: StatementReader): SortClause {
  const clause = takeTransform(reader);
  const direction = reader.takeWord('DESC') ? 'desc' : 'asc';
  if (direction === 'asc') reader.takeWord('ASC');
  let nullOrder: SortClause['nullOrder'] = direction === 'asc' ? 'nulls-first' : 'nulls-last';
  if (reader.takeWord('NULLS')) {
    if (reader.takeWord('FIRST')) nullOrder = 'nulls-first';
    else if (reader.takeWord('LAST')) nullOrder = 'nulls-last';
    else throw reader.expected('FIRST or LAST');
  }
  return { ...clause, direction, nullOrder };
}

/** A column, or a function of one; the number of `bucket` and `truncate` may stand first or last. @throws SYNTAX_ERROR */
export function takeTransform(reader: StatementReader): TransformClause {
  if (reader.peekWord() === '' || !reader.peekSymbol('(', 1)) {
    return { column: reader.name('a column', COLUMN_PARTS_MAX), transform: { kind: 'identity' } };
  }
  const wrong = (): Error =>
    reader.error('SYNTAX_ERROR', 'expected year, month, day, hour, bucket(n, column) or truncate(n, column)');
  const name = foldIdentifier(reader.takeName() ?? '').replace(/^(year|month|day|hour)s$/, '$1');
  reader.takeSymbol('(');
  let parameter = reader.takeNumber();
  if (parameter !== null && !reader.takeSymbol(',')) throw reader.expected("','");
  const column = reader.name('a column', COLUMN_PARTS_MAX);
  if (parameter === null && reader.takeSymbol(',')) {
    parameter = reader.takeNumber();
    if (parameter === null) throw reader.expected('a number');
  }
  const transform = parseTransform(parameter === null ? name : `${name}[${parameter}]`);
  if (transform.kind === 'unknown' || transform.kind === 'void') throw wrong();
  if (!reader.takeSymbol(')')) throw reader.expected("')'");
  return { column, transform };
}
