import { SkeinError } from '#shared/error.ts';
import type { TableMetadata } from '#shared/iceberg/table-metadata.ts';
import { quoteIdentifier } from '#shared/sql/quote.ts';
import { schemaName } from '../../catalog-client/catalog-browser.ts';
import type { TableName } from '../../binding/table-source.ts';
import type { ObjectName } from '../../statement/statement.ts';
import type { StatementReader } from '../../statement/statement-reader.ts';
import { COLUMN_PARTS_MAX } from '../clause/transform.ts';
import type { CommandContext } from '../../operation/command-context.ts';
import type { MetadataChange } from '../../operation/change-table.ts';
import { findColumn } from '../../operation/find-column.ts';
import { changeField } from './change-fields.ts';
import { changeOf, draftOf } from './table-draft.ts';

/** `ALTER [COLUMN] name SET NOT NULL`, alone in its statement; null for anything else, of which nothing is taken. */
export function takeSetNotNull(reader: StatementReader): ObjectName | null {
  if (reader.peekWord() !== 'ALTER') return null;
  const start = reader.peekWord(1) === 'COLUMN' ? 2 : 1;
  let at = start + 1;
  for (let parts = 1; parts < COLUMN_PARTS_MAX && reader.peekSymbol('.', at); parts += 1) at += 2;
  const isIt = ['SET', 'NOT', 'NULL'].every((word, i) => reader.peekWord(at + i) === word);
  if (!isIt) return null;
  reader.words(start);
  const name = reader.name('a column', COLUMN_PARTS_MAX);
  reader.words(3);
  return name;
}

/**
 * Makes a column NOT NULL after a query has found no row without a value in it. The change holds for the snapshot that the query has read:
 * when rows have come meanwhile, it is COMMIT_CONFLICT.
 * @throws NOT_NULL_VIOLATION, COLUMN_NOT_FOUND, NOT_SUPPORTED
 */
export async function withNotNull(
  base: TableMetadata,
  { table, column }: { readonly table: TableName; readonly column: ObjectName },
  { queries }: CommandContext,
): Promise<MetadataChange> {
  const draft = draftOf(base);
  const { field, path, inCollection } = findColumn(draft.fields, column);
  const { position } = column;
  if (inCollection) throw new SkeinError('NOT_SUPPORTED', `${path} stands in a list or map`, { position });
  if (field.required) return { updates: [] };
  const names = [table.catalog, schemaName(table.namespace), table.table].map(quoteIdentifier).join('.');
  const of = (parts: readonly string[]): string => ['t', ...parts].map(quoteIdentifier).join('.');
  // A struct without a value has no fields that could lack one.
  const parents = column.parts.slice(1).map((_part, i) => `${of(column.parts.slice(0, i + 1))} IS NOT NULL AND `);
  const query = `SELECT 'x' FROM ${names} AS "t" WHERE ${parents.join('')}${of(column.parts)} IS NULL LIMIT 1`;
  if (base.currentSnapshotId !== null && (await queries.hasRows(query))) {
    throw new SkeinError('NOT_NULL_VIOLATION', `column ${path} has rows without a value`, { position });
  }
  const snapshotId = base.refs.get('main')?.snapshotId ?? null;
  return changeOf({
    ...draft,
    fields: changeField(draft.fields, field.id, (one) => ({ ...one, required: true })),
    requirements: [{ type: 'assert-ref-snapshot-id', ref: 'main', 'snapshot-id': snapshotId }],
  });
}
