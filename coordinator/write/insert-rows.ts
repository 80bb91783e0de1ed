import { appendFiles } from '#shared/iceberg/write/append-files.ts';
import type { Description } from '../operation/description.ts';
import type { WriteOutcome } from '../operation/writes.ts';
import type { Insert } from '../operation/row-write.ts';
import type { AsProven } from '../statement/proven.ts';
import { assignColumns, insertedRows } from './assign-columns.ts';
import { overwriteRows } from './overwrite-rows.ts';
import type { RowServices } from './replace-rows.ts';
import { planReturning, rowsOf, writtenFiles } from './returned-rows.ts';

/** Adds the rows of a query to a table, or puts them in the place of others. */
export async function insertRows(insert: Insert<AsProven>, services: RowServices): Promise<WriteOutcome> {
  if (insert.mode === 'overwrite') return overwriteRows(insert, services);
  const { queries } = services;
  const { table: name, target: into, query } = insert;
  const target = await services.target(name);
  const { fields } = target.schema;
  const text = insertedRows(insert, fields);
  const returning = await planReturning(insert, target, { queries, of: 'written' });
  return services.write({
    read: (files) => returning?.read(writtenFiles(target, files), rowsOf(files)),
    run: (destinationOf) => queries.write(query, text, destinationOf),
    assign: (columns) => {
      const assignments = assignColumns({ fields, target: into, columns, position: query.offset });
      return Promise.resolve({ target, assignments });
    },
    change: (files) => (files.length === 0 ? null : appendFiles(files)),
    isAppend: true,
  });
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
