import { appendFiles } from '#shared/iceberg/write/append-files.ts';
import type { Description } from '../operation/description.ts';
import { requireUnmasked } from '../operation/policed-table.ts';
import type { WriteOutcome } from '../operation/writes.ts';
import type { Insert } from '../operation/row-write.ts';
import type { AsProven } from '../statement/proven.ts';
import { assignColumns, insertedRows } from './assign-columns.ts';
import { overwriteRows } from './overwrite-rows.ts';
import type { RowServices } from './replace-rows.ts';
import { costOf, planReturning, rowsOf, writtenFiles } from './returned-rows.ts';

/**
 * Adds the rows of a query to a table, or puts them in the place of others:
 * ```
 * target ─▶ the query, planned ─▶ columns ─▶ intent ─▶ its last tasks write files ─▶ one commit
 * ```
 */
export async function insertRows(insert: Insert<AsProven>, services: RowServices): Promise<WriteOutcome> {
  if (insert.mode === 'overwrite') return overwriteRows(insert, services);
  const { queries } = services;
  const { table: name, target: into, query } = insert;
  const target = await services.target(name);
  const { fields } = target.schema;
  const text = insertedRows(insert, fields);
  if (insert.returning !== null) requireUnmasked(target, 'RETURNING', name.position);
  const returning = await planReturning(insert, target, { queries, of: 'written' });
  const rows = await queries.planWrite(query, text);
  const assignments = assignColumns({ fields, target: into, columns: rows.columns, position: query.offset });
  await using write = await services.begin(target);
  const { files, ...cost } = await write.run(rows, { assignments });
  const read = await returning?.read(writtenFiles(target, files), rowsOf(files));
  await write.end(files.length === 0 ? null : appendFiles(files), { files, isAppend: true });
  return { count: rowsOf(files), ...costOf(cost, read) };
}

/** The types of the parameters. */
export async function describeInsert(
  insert: Insert<AsProven>,
  { target, queries }: RowServices,
): Promise<Description['parameters']> {
  const { table: name, target: into, query } = insert;
  const { fields } = (await target(name)).schema;
  const { columns, parameters } = await queries.describe(query, insertedRows(insert, fields));
  if (columns !== null) assignColumns({ fields, target: into, columns, position: query.offset });
  return parameters;
}
