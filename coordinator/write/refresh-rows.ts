import { appendFiles } from '#shared/iceberg/write/append-files.ts';
import { requireWritable } from '#shared/iceberg/write/require-writable.ts';
import { must } from '#shared/must.ts';
import type { WriteOutcome, WriteTarget } from '../operation/writes.ts';
import type { Refresh } from '../operation/refresh-request.ts';
import { readTables } from '../refresh/refresh-state.ts';
import type { TableName } from '../binding/table-source.ts';
import { wholeText } from '../statement/derived-text.ts';
import type { RowServices } from './replace-rows.ts';
import { costOf, rowsOf } from './returned-rows.ts';
import { columnByColumn } from './running-write.ts';

type RefreshServices = RowServices & { readonly targetOf: (table: TableName) => Promise<WriteTarget> };

/** Writes the rows of a materialized view, and what they were computed from in the summary of their snapshot. */
export async function refreshRows(
  { query, scope, into, viewChange, summaryOf }: Refresh<WriteTarget>,
  services: RefreshServices,
): Promise<WriteOutcome> {
  const queries = services.queries.in(scope);
  const rows = await queries.planWrite(query, wholeText(query));
  const target = await (into.kind === 'append' ? services.targetOf(into.table) : into.targetOf(rows.columns));
  requireWritable(target.schema.fields);
  await using write = await services.begin(target);
  const { files, scans, ...cost } = await write.run(rows, { assignments: columnByColumn(target.schema) });
  const read = must(scans, 'one plan was run');
  const change = { ...appendFiles(files), summary: summaryOf(read) };
  const withSources = { ...viewChange, sources: [...readTables(read)] };
  const parent = target.base.currentSnapshotId;
  await write.end(into.kind === 'append' ? { ...change, parent } : change, { files, viewChange: withSources });
  return { count: rowsOf(files), ...costOf(cost) };
}
