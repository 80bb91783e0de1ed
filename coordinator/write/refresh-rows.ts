import { appendFiles } from '#shared/iceberg/write/append-files.ts';
import { requireWritable } from '#shared/iceberg/write/require-writable.ts';
import { must } from '#shared/must.ts';
import type { WriteOutcome, WriteTarget } from '../operation/writes.ts';
import type { Refresh } from '../operation/refresh-request.ts';
import type { TableBinding } from '../binding/table-binding.ts';
import type { TableName } from '../binding/table-source.ts';
import { wholeText } from '../statement/derived-text.ts';
import type { RowServices } from './replace-rows.ts';

type RefreshServices = RowServices & { readonly targetOf: (table: TableName) => Promise<WriteTarget> };

/** Writes the rows of a materialized view, and what they were computed from in the summary of their snapshot. */
export function refreshRows(
  { query, scope, into, viewChange, summaryOf }: Refresh<WriteTarget>,
  services: RefreshServices,
): Promise<WriteOutcome> {
  const queries = services.queries.in(scope);
  let scans: readonly TableBinding[] = [];
  let parent: bigint | null = null;
  return services.write({
    viewChange,
    run: async (destinationOf) => {
      const written = await queries.write(query, wholeText(query), destinationOf);
      scans = must(written.scans, 'one plan was run');
      return written;
    },
    assign: async (columns) => {
      const target = await (into.kind === 'append' ? services.targetOf(into.table) : into.targetOf(columns));
      requireWritable(target.schema.fields);
      parent = target.base.currentSnapshotId;
      return { target, assignments: target.schema.fields.map((field, source) => ({ field, source })) };
    },
    change: (files) => {
      const change = { ...appendFiles(files), summary: summaryOf(scans) };
      return into.kind === 'append' ? { ...change, parent } : change;
    },
  });
}
