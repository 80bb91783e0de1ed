import { quoteIdentifier, quoteLiteral } from '#shared/sql/quote.ts';
import type { Outcome } from '../operation/outcome.ts';
import type { Queries } from '../operation/queries.ts';
import type { WriteTarget } from '../operation/writes.ts';
import { printSqlType } from '../plan/sql-type.ts';
import { icebergSqlType } from '../plan/iceberg-sql-type.ts';
import { foldIdentifier } from '#shared/sql/fold-identifier.ts';
import { missingValues } from '../write/missing-values.ts';
import type { CopyInto } from '../operation/copy-into.ts';
import type { CopySource } from './copy-source.ts';

/** VALIDATION_MODE = RETURN_n_ROWS: the first rows as they would be loaded are the statement's result; the first error ends it. */
export function validatedRows(
  { options, columns: listed }: CopyInto,
  { schema }: WriteTarget,
  { strict, columns }: CopySource,
  { context }: { readonly context: { readonly queries: Pick<Queries, 'run'> } },
): Promise<Outcome> {
  const { fields } = schema;
  const filled =
    listed?.flatMap(({ name }) => fields.find((one) => foldIdentifier(one.name) === foldIdentifier(name)) ?? []) ??
    fields;
  const list = filled.map((field, i) => {
    const { name, type } = field;
    const column = quoteIdentifier(columns[i] ?? name);
    const typeName = printSqlType(icebergSqlType(type));
    const cases = missingValues(field, column).map(({ path, sql }) => {
      const missing = quoteLiteral(`column ${path} is NOT NULL, and a record has no value for it`);
      return `WHEN ${sql} THEN CAST(error(${missing}) AS ${typeName})`;
    });
    const value = cases.length === 0 ? column : `CASE ${cases.join(' ')} ELSE ${column} END`;
    return `${value} AS ${quoteIdentifier(name)}`;
  });
  const count = options.validation?.kind === 'rows' ? options.validation.count : 0;
  const text = `SELECT ${list.join(', ')} FROM ${strict} LIMIT ${count}`;
  return context.queries.run({ text, offset: 0 });
}
