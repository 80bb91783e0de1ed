import type { ColumnFacts, ScanFacts } from '../distributor/fragment.ts';
import { distinctCountsOf } from '#shared/iceberg/table-metadata.ts';
import { must } from '#shared/must.ts';
import { POLICED_ROWS, type PolicedBinding } from '../binding/policed-binding.ts';
import type { ScanBinding } from '../binding/scan-binding.ts';
import type { TableBinding } from '../binding/table-binding.ts';
import { plannedFiles, readCall, scanRequest, type PlannedScan, type ScanContext } from './plan-scans.ts';

/** A scan of more files than this gets no column statistics. */
const FILES_MAX = 20_000;

/** Collects the statistics of a query's scans from the manifests, which are in the cache because the scans have been planned. */
export function scanFacts(
  bindings: readonly TableBinding[],
  scans: readonly PlannedScan[],
  context: ScanContext,
  { inlinesPolicies = false }: { readonly inlinesPolicies?: boolean } = {},
): Promise<ScanFacts[]> {
  return Promise.all(
    bindings.map(async (binding, i) => {
      const scan = must(scans[i], 'a plan of every scan');
      const { rows, bytes } = scan.report;
      if (binding.kind === 'policed') {
        return inlinesPolicies ? policedFacts(binding) : { rows: 0, bytes: 0, files: 0, columns: [], isInline: true };
      }
      if (binding.kind === 'rows') return { rows, bytes, files: 0, columns: [], isInline: true };
      const files = plannedFiles(scan).length;
      if (binding.kind === 'staged') return { rows, bytes, files, columns: [] };
      const columns = files === 0 || files > FILES_MAX ? [] : await columnFacts(binding, context);
      return { rows, bytes, files, columns };
    }),
  );
}

/** The same for every table: what a stage estimates tells nothing of hidden rows. Its tasks divide as many files as there are. */
const policedFacts = ({ table }: PolicedBinding): ScanFacts => ({
  rows: POLICED_ROWS,
  bytes: POLICED_ROWS * VALUE_BYTES * table.readFieldIds.length,
  files: EXPECTED_TASKS,
  columns: [],
});

const VALUE_BYTES = 8;
const EXPECTED_TASKS = 2;

async function columnFacts(binding: ScanBinding, context: ScanContext): Promise<readonly ColumnFacts[]> {
  const request = scanRequest(binding, context);
  if (request === null) return [];
  const read = new Set(binding.readFieldIds);
  const columns = binding.columns.map(({ fieldId }) => {
    const type = binding.metadata.fields.get(fieldId)?.type;
    return type === undefined || !read.has(fieldId) ? null : { fieldId, type };
  });
  const summaries = await context.tables.columns(request, columns, readCall(binding, context));
  const counts = distinctCountsOf(binding.metadata, request.snapshotId);
  if (counts.size === 0) return summaries;
  return summaries.map((summary, i) => withCount(summary, counts.get(columns[i]?.fieldId ?? -1)));
}

/** With the count of ANALYZE, which may be older than the rows; bounds say how many values there are at most. */
const withCount = (summary: ColumnFacts, count: number | undefined): ColumnFacts =>
  count === undefined ? summary : { ...summary, distinctMax: Math.min(summary.distinctMax ?? Infinity, count) };
